//! Faults of collections: what could not be read, and where.
//!
//! A fault is data: the rest of the file and the other files are read. Only a file that cannot be opened is an error.

use std::io;
use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

use crate::tool::Origin;

/// A file could not be opened or read at all.
#[derive(Debug, Error)]
#[error("cannot read {}: {error}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// The reason; also for a file that is too large.
    #[source]
    pub error: io::Error,
}

/// A fault of a file, a record or a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ReadFault {
    /// Where it is.
    pub origin: Origin,
    /// The kind.
    pub kind: FaultKind,
    /// The message with what was found.
    pub message: String,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "&'static str")]
pub enum FaultKind {
    /// The file has no bytes, or only blanks.
    Empty,
    /// The file is not text in UTF-8.
    NotText,
    /// The text is not in any notation that can be read.
    Unreadable,
    /// A line of a JSONL file is not JSON.
    UnreadableLine,
    /// The file holds values, but no tool or function.
    NoFunctions,
    /// A server or tool lists no functions.
    EmptyTool,
    /// An entry of a list is not a function.
    NotAFunction,
    /// A function has no name.
    MissingName,
    /// An operation of an API description cannot be read.
    UnreadableOperation,
    /// A parameter is not an object with a name.
    UnreadableParameter,
    /// Two parameters of a function have one name; the second one has a number.
    RepeatedParameter,
    /// A key occurs twice in one object with different values; the last one was used.
    RepeatedKey,
    /// A function is nested too deep to be stored.
    TooDeep,
    /// The values would take far more memory than the text.
    TooLarge,
    /// The text was repaired, or is incomplete.
    Repaired,
    /// The reply of a server is an error.
    ServerError,
    /// The schema of a response belongs to no function of the collection.
    LooseResponse,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 17] = [
        Self::Empty,
        Self::NotText,
        Self::Unreadable,
        Self::UnreadableLine,
        Self::NoFunctions,
        Self::EmptyTool,
        Self::NotAFunction,
        Self::MissingName,
        Self::UnreadableOperation,
        Self::UnreadableParameter,
        Self::RepeatedParameter,
        Self::RepeatedKey,
        Self::TooDeep,
        Self::TooLarge,
        Self::Repaired,
        Self::ServerError,
        Self::LooseResponse,
    ];

    /// Returns the reason code.
    pub fn code(self) -> &'static str {
        self.entry().0
    }

    /// Returns the meaning, in one sentence.
    pub fn what(self) -> &'static str {
        self.entry().1
    }

    fn entry(self) -> (&'static str, &'static str) {
        match self {
            Self::Empty => ("collect/empty-file", "The file is empty."),
            Self::NotText => ("collect/not-text", "The file is not text in UTF-8."),
            Self::Unreadable => ("collect/unreadable-file", "The text is in no notation that can be read."),
            Self::UnreadableLine => ("collect/unreadable-line", "A line is not JSON."),
            Self::NoFunctions => ("collect/no-functions", "The file contains no tool or function."),
            Self::EmptyTool => ("collect/empty-tool", "A tool or server lists no functions."),
            Self::NotAFunction => ("collect/not-a-function", "An entry of a list is not a function."),
            Self::MissingName => ("collect/missing-name", "A tool or function has no name."),
            Self::UnreadableOperation => {
                ("collect/unreadable-operation", "An operation of an API description cannot be read.")
            }
            Self::UnreadableParameter => {
                ("collect/unreadable-parameter", "A parameter is not an object with a name.")
            }
            Self::RepeatedParameter => (
                "collect/repeated-parameter",
                "Two parameters of a function have one name; a number is added to the second one.",
            ),
            Self::RepeatedKey => (
                "collect/repeated-key",
                "A key occurs twice in one object with different values; the last one is used.",
            ),
            Self::TooDeep => ("collect/too-deep", "A function is nested too deep to be stored."),
            Self::TooLarge => ("collect/too-large", "The values would take far more memory than the text."),
            Self::Repaired => {
                ("collect/repaired-text", "The text is damaged; its readable functions are used.")
            }
            Self::ServerError => ("collect/server-error", "The reply of a server is an error."),
            Self::LooseResponse => {
                ("collect/response-without-function", "The schema of a response belongs to no function.")
            }
        }
    }
}

impl From<FaultKind> for &'static str {
    fn from(kind: FaultKind) -> Self {
        kind.code()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        let codes: BTreeSet<_> = FaultKind::ALL.into_iter().map(FaultKind::code).collect();
        assert_eq!(codes.len(), FaultKind::ALL.len());
        assert!(codes.iter().all(|code| code.starts_with("collect/")));
        assert!(FaultKind::ALL.into_iter().all(|kind| kind.what().ends_with('.')));
    }
}
