//! Readers of notations, independent of function docs: text into values and declarations.
//!
//! `json` reads strict JSON, JSON5 with typing errors, and repairs on which two repairers agree; `yaml` reads YAML as
//! JSON; `python` and `typescript` read literals, and signatures of functions with their types and comments. Every
//! reader limits its depth, takes time linear in the text and takes each value from an `Allowance`. `levels` limits the
//! depth of stored values. `docs`, `ingest` and `answers` interpret the values.

#[cfg(test)]
pub(crate) mod arbitrary;
pub(crate) mod json;
pub(crate) mod levels;
pub mod python;
pub(crate) mod repeated;
pub(crate) mod typescript;
pub(crate) mod yaml;

/// The maximum number of nested brackets; other strict readers have the same limit.
pub(crate) const MAX_DEPTH: usize = 127;
