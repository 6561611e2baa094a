//! Public function-calling sets on disk: the catalogue, and the functions and queries of each set.
//!
//! `catalogue` lists the known sets and their folders; `formats` is the table of readers, with one file per format;
//! `store` reads a set's files, `intake` adds new ones; `form` is the form in which functions are compared, `compared`
//! returns the contents of several sets in it, and `index` caches the results next to the sets. `quotes` has the texts of
//! single records, where the licence allows that.
//! Nothing is downloaded. Unreadable records are counted and listed.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod bfcl;
pub mod catalogue;
mod chat;
pub mod compared;
mod firefunctions;
pub mod form;
pub mod formats;
mod glaive;
pub mod index;
pub mod intake;
mod nexusraven;
pub mod quotes;
pub mod record;
pub mod store;

use std::path::PathBuf;

/// The reason for which sets cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The description of a set is invalid.
    #[error("{place}: {what}")]
    Catalogue {
        /// The file.
        place: String,
        /// The error in it.
        what: String,
    },
    /// There is no set with this id.
    #[error("there is no public set \"{id}\"\nhint: {hint}")]
    Unknown {
        /// The id as given.
        id: String,
        /// The closest id, or a list of all sets.
        hint: String,
    },
    /// Required sets are not on disk.
    #[error(
        "public sets that are not in {}: {sets}\nhint: `callsieve sets add ID FILE…` adds the files of a set, missing = \"skip\" continues without them",
        dir.display()
    )]
    Missing {
        /// The folder of the sets.
        dir: PathBuf,
        /// Each of them with its web page.
        sets: String,
    },
    /// Required sets are on disk, but have no readable record.
    #[error(
        "public sets in {} without any readable record: {sets}\nhint: `callsieve sets list` shows the format of each set, missing = \"skip\" continues without them",
        dir.display()
    )]
    Unreadable {
        /// The folder of the sets.
        dir: PathBuf,
        /// Each of them with its files and the error.
        sets: String,
    },
    /// A new set, or new files of a set, cannot be added.
    #[error("{0}")]
    Add(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] callsieve_engine::error::Error),
}

impl From<callsieve_ingest::read::ReadError> for SetError {
    fn from(error: callsieve_ingest::read::ReadError) -> Self {
        Self::File(error.into())
    }
}

impl From<SetError> for callsieve_engine::error::Error {
    fn from(error: SetError) -> Self {
        match error {
            SetError::File(error) => error,
            other => Self::Setting(other.to_string()),
        }
    }
}
