//! Any text goes through the parser chain and the fixer: no panic, no hang, and the laws of fixing hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use callsieve_docs::fix::{Safety, fix};
use callsieve_docs::parse::parse;
use callsieve_docs::patch;

fuzz_target!(|text: &str| {
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(fault) => return assert!(fault.at.is_none_or(|at| at <= text.len()), "{fault:?} is not in the text"),
    };
    let fixed = fix(&parsed.functions, Safety::Unsafe);
    let mut list = serde_json::Value::Array(parsed.functions);
    for edit in &fixed.edits {
        patch::apply(&mut list, &edit.patch).expect("an edit fits what the edits before it left");
    }
    assert_eq!(list.as_array(), Some(&fixed.functions), "the edits give the fixed list");
    let again = fix(&fixed.functions, Safety::Unsafe);
    assert!(again.edits.is_empty(), "fixing twice changes nothing: {:?}", again.edits);
});
