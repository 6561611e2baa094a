//! Why decisions cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why decisions cannot be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system refuses.
    #[error("decisions {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system reports.
        source: io::Error,
    },
    /// A line is not one that this program writes.
    #[error(
        "decisions {}:{line}: {what}\nhint: restore the file from a copy, or remove the lines from there on; the decisions in them are lost",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// An earlier write failed, so that the end of the file is unknown.
    #[error("decisions {}: an earlier decision could not be written\nhint: free space on the disk and start again", .0.display())]
    Broken(PathBuf),
    /// Another process has the decisions of the reviewer open.
    #[error(
        "reviewer {0}: another review has these decisions open\nhint: stop it, or choose another name for the reviewer"
    )]
    Locked(String),
    /// The name of a reviewer.
    #[error(
        "reviewer {0:?}: found a name that cannot be used for a file, expected letters, digits, \"-\", \"_\" and \".\"\nhint: e.g. kim"
    )]
    Name(String),
    /// A decision that is not possible.
    #[error("{0}")]
    Rule(&'static str),
}

impl StoreError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(super) fn damaged(path: &Path, line: usize, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), line, what: what.into() }
    }
}
