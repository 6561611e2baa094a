//! The tables of a run as data frames of polars: how many requests each reason took.
//!
//! ```text
//! cargo run --features polars --example data_frames -- out/sample
//! ```

// What it prints is what it is for.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use callsieve::engine::data_frame::read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = std::env::args_os().nth(1).map(PathBuf::from).ok_or("name a run folder")?;
    let rows = read(&run.join("rows.parquet"))?;
    println!("{rows}");
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for reason in rows.column("reason")?.str()?.iter() {
        *counts.entry(reason.unwrap_or("kept").to_owned()).or_default() += 1;
    }
    for (reason, n_rows) in counts {
        println!("{n_rows:6} {reason}");
    }
    Ok(())
}
