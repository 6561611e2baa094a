//! Estimates of the work of a stage, before it runs.
//!
//! Stages that call a language model or a server estimate their work from the kept rows alone, so that a person can see
//! the cost of a run before it begins. The numbers are upper bounds: cached results are not requested again. A stage
//! without an estimate does all its work on this machine.

use serde::Serialize;

/// The upper bound of the work of a stage on the current rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Rows that it processes.
    pub rows: u64,
    /// Texts or prompts it sends to a service.
    pub calls: u64,
    /// Tokens of these and of the replies, as far as they are known.
    pub tokens: u64,
}

impl Estimate {
    /// Returns an estimate of at most one call per row.
    pub fn one_call_a_row(rows: usize) -> Self {
        let rows = rows as u64;
        Self { rows, calls: rows, tokens: 0 }
    }
}
