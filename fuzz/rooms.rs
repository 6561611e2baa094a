//! The rooms that are fuzzed, as they stand in the program.

#![allow(missing_docs, dead_code)]

#[path = "../src/allowance.rs"]
pub mod allowance;
#[path = "../src/bfcl/mod.rs"]
pub mod bfcl;
#[path = "../src/checker/mod.rs"]
pub mod checker;
#[path = "../src/content_hash.rs"]
pub mod content_hash;
#[path = "../src/conversation.rs"]
pub mod conversation;
#[path = "../src/docs/mod.rs"]
pub mod docs;
#[path = "../src/notation/mod.rs"]
pub mod notation;
#[path = "../src/text/mod.rs"]
pub mod text;
