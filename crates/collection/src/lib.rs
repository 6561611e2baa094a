//! API collections: files of tools become tools with docs, names, and counts of what was read.
//!
//! `read` recognises the format of a file by its content (`format` has the table) and returns its tools and faults;
//! `collection` joins several sources and gives every function a legal, unique name. `filter` has rules for functions that
//! nobody could use, `probe` rules for recorded calls; `compress` shortens responses; `declare` drafts environments. No process is started and no
//! network is used. Docs are JSON Schema as written; `docs::fix` turns them into BFCL's form, with a record of each edit.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod census;
pub mod collection;
pub mod compress;
pub mod counts;
pub mod declare;
mod document;
pub mod fault;
pub mod filter;
pub mod format;
pub mod names;
pub mod probe;
pub mod read;
mod reading;
pub mod tool;

pub use collection::Collection;
pub use read::{Read, read_file, read_text, read_value};

#[cfg(test)]
mod data_tests;
