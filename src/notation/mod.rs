//! Readers of notations that know nothing of function docs: text into values and declarations.
//!
//! `json` reads strict JSON, JSON5 with the slips of people who type it, and what two repairers agree on; `yaml`
//! reads YAML as JSON; `python` and `typescript` read literals, and heads of functions with their types and
//! comments. Every reader bounds its depth, takes time linear in the text and asks an `Allowance` before it makes a
//! value. `levels` bounds how deep values that are kept may nest. What the values mean is decided in `docs`, `ingest` and `answers`.

#[cfg(test)]
pub(crate) mod arbitrary;
pub(crate) mod json;
pub(crate) mod levels;
pub mod python;
pub(crate) mod repeated;
pub(crate) mod typescript;
pub(crate) mod yaml;

/// How many brackets may stand inside one another; other strict readers have the same bound.
pub(crate) const MAX_DEPTH: usize = 127;
