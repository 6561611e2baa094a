//! What is wrong with a text that is meant as TypeScript.

use thiserror::Error;

/// Why a text cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub(crate) struct SyntaxError {
    pub(crate) kind: SyntaxFault,
    /// The byte where reading stopped.
    pub(crate) at: usize,
    /// What was found or missing there.
    pub(crate) message: String,
}

/// The kinds of what can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyntaxFault {
    /// Something that these readers do not know.
    Unknown,
    /// The text ends too early.
    Cut,
    /// Types or brackets are too deep inside one another.
    TooDeep,
}

/// The fault that something unknown begins at a byte of the text.
pub(super) fn unknown(at: usize, message: &str) -> SyntaxError {
    SyntaxError { kind: SyntaxFault::Unknown, at, message: format!("{message} at byte {at}") }
}
