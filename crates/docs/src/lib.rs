//! Function docs: reads pasted text into functions and fixes them to the BFCL schema.
//!
//! `parse` runs a chain of parsers, from strict JSON to guarded repair, and reports which of them it used; `dialect`
//! unwraps the formats of other APIs; `source` reads program source; `spec` reads API descriptions such as `OpenAPI`.
//! `fix` makes the smallest set of edits that turns a function into a BFCL one, each as a `patch` with its old value;
//! `check` only reports faults. `canonical` gives equal docs equal keys, and `compared` is the form in which near
//! duplicates are found. `convert` writes BFCL functions as tool definitions of other APIs.
//! Nothing is completed or guessed silently: unreadable input is a fault, and an issue that cannot be fixed is a
//! finding.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod canonical;
pub mod check;
mod combining;
pub mod compared;
pub mod convert;
pub mod dialect;
pub mod fix;
mod holders;
pub mod interface;
mod join;
pub mod json_type;
pub mod limits;
pub mod parse;
pub mod patch;
pub mod quality;
pub mod signature;
mod source;
pub mod spec;

#[cfg(test)]
mod arbitrary;
