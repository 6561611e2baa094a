//! Errors of an evaluation. A wrong output is a verdict, not an error.

use std::io;
use std::path::{Path, PathBuf};

use callsieve_text::os_error::{cause_of, hint_of};

/// Why outputs cannot be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// A file cannot be read or written.
    #[error("{doing} {}: {}{}", path.display(), cause_of(cause), hint_of(cause, path))]
    File {
        /// The operation: `reading` or `writing`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A line is not in the expected format.
    #[error("{}:{line}: {what}\nhint: {hint}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What was found and what was expected.
        what: String,
        /// How to go on.
        hint: &'static str,
    },
    /// The official package cannot score.
    #[error("{what}\nhint: {hint}")]
    Package {
        /// What is wrong.
        what: String,
        /// How to go on.
        hint: String,
    },
    /// Dataset and results cannot be used together, or a file has nothing to score.
    #[error("{}: {what}\nhint: {hint}", path.display())]
    Input {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// How to go on.
        hint: String,
    },
}

/// The result of a step of an evaluation.
pub(super) type Result<T> = std::result::Result<T, EvaluateError>;

/// Returns the error for a file that cannot be read.
pub(super) fn unreadable(path: &Path, cause: io::Error) -> EvaluateError {
    EvaluateError::File { doing: "reading", path: path.to_owned(), cause }
}

/// Returns the error for a file that cannot be written.
pub(super) fn unwritable(path: &Path, cause: io::Error) -> EvaluateError {
    EvaluateError::File { doing: "writing", path: path.to_owned(), cause }
}

/// Returns the error for input that does not fit.
pub(super) fn unfit(path: &Path, what: impl Into<String>, hint: impl Into<String>) -> EvaluateError {
    EvaluateError::Input { path: path.to_owned(), what: what.into(), hint: hint.into() }
}
