//! Any line of a log is a record or has a reason: no panic, no hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolsieve::ingest::record::record_of_value;
use toolsieve::ingest::shapes::Columns;

fuzz_target!(|text: &str| {
    if let Ok(value) = serde_json::from_str(text) {
        let _ = record_of_value(1, 0, value, &Columns::default());
    }
});
