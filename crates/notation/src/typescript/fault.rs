//! Faults of texts that are TypeScript.

use thiserror::Error;

/// The reason for which a text cannot be read, and its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// The kind of fault.
    pub kind: SyntaxFault,
    /// The byte at which reading stopped.
    pub at: usize,
    /// The unexpected or missing text.
    pub message: String,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxFault {
    /// Unsupported or invalid syntax.
    Unknown,
    /// The text ends too early.
    Cut,
    /// Types or brackets are nested too deep.
    TooDeep,
}

/// Returns the fault of unknown syntax at a byte of the text.
pub(super) fn unknown(at: usize, message: &str) -> SyntaxError {
    SyntaxError { kind: SyntaxFault::Unknown, at, message: format!("{message} at byte {at}") }
}
