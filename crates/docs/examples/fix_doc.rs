//! Fixes pasted function docs to the BFCL schema and prints each edit.
//!
//! ```text
//! cargo run -p callsieve-docs --example fix_doc < docs.txt
//! ```

// What it prints is what it is for.
#![allow(clippy::print_stdout)]

use std::io::Read as _;

use callsieve_docs::fix::{Safety, fix};
use callsieve_docs::parse::parse;

const PASTED: &str =
    "{'name': 'water plants', 'parameters': {'bay': {'type': 'int', 'description': 'Its number.'}}}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let text = if text.trim().is_empty() { PASTED } else { &text };
    let parsed = parse(text).map_err(|fault| fault.to_string())?;
    println!("read by {:?}", parsed.steps);
    let fixed = fix(&parsed.functions, Safety::Unsafe);
    for edit in &fixed.edits {
        println!("{}", serde_json::to_string(&edit.patch)?);
    }
    println!("{}", serde_json::to_string_pretty(&fixed.functions)?);
    Ok(())
}
