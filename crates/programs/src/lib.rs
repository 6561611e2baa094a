//! Instructions made from executed programs, without a language model.
//!
//! A *program* is a list of calls whose arguments are values of a user or places in earlier results. `walk` tries calls in an
//! environment, `checks` proves by execution that a program runs, runs the same twice, and needs each call and each
//! argument; `wording` puts it into words from templates, and `generate` does so until as many are accepted as are wanted.
//! `bindings` and the templates are files that a person can edit. Every candidate that is no instruction has a reason
//! (`rejection`). The same seed gives the same instructions, with any number of threads.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod answer;
pub mod author;
pub mod bindings;
pub mod checks;
pub mod execute;
pub mod generate;
pub mod instruction;
pub mod place;
pub mod pool;
pub mod program;
pub mod random;
pub mod rejection;
pub mod stratum;
pub mod walk;
pub mod wording;
pub mod words;

#[cfg(test)]
mod tests;
