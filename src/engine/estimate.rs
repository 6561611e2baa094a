//! How much a stage expects to do, before it does it.
//!
//! Stages that ask a language model or a server say so here, from the kept rows alone, so that a person can see what a run
//! will cost before it begins. The numbers are upper bounds: what is in a cache is not asked for again. A stage that
//! gives no estimate does all its work on this machine.

use serde::Serialize;

/// The work of a stage on the rows as they are, at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Rows it looks at.
    pub rows: u64,
    /// Texts or prompts it sends to a service.
    pub calls: u64,
    /// Tokens of these and of the replies, as far as they can be told.
    pub tokens: u64,
}

impl Estimate {
    /// So many rows, with one call each at most.
    pub fn one_call_a_row(rows: usize) -> Self {
        let rows = rows as u64;
        Self { rows, calls: rows, tokens: 0 }
    }
}
