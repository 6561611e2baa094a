//! Readers of notations, independent of function docs: text into values and declarations.
//!
//! `json` reads strict JSON, JSON5 with typing errors, and repairs on which two repairers agree; `yaml` reads YAML as
//! JSON; `python` and `typescript` read literals, and signatures of functions with their types and comments. Every
//! reader limits its depth, takes time linear in the text and takes each value from an `Allowance`. `levels` limits the
//! depth of stored values. `docs`, `ingest` and `answers` interpret the values.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod allowance;
pub mod json;
pub mod levels;
pub mod python;
pub mod repeated;
pub mod typescript;
pub mod yaml;

/// The maximum number of nested brackets; other strict readers have the same limit.
pub const MAX_DEPTH: usize = 127;
