//! Public function-calling sets on disk: which there are, and what functions and queries they hold.
//!
//! `catalogue` is the list of known sets and where they lie; `formats` is the table of
//! readers, one file a format; `store` reads a set's files, `intake` takes new ones in;
//! `form` is the form in which functions are compared, `compared` gives all of some sets in it, and
//! `index` keeps what came out beside the sets.
//! Nothing is fetched from a network. A record that cannot be read is counted and named.

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
mod record;
pub mod store;

use std::path::PathBuf;

/// Why the sets cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// A set's description is not what it should be.
    #[error("{place}: {what}")]
    Catalogue {
        /// The file.
        place: String,
        /// What is wrong with it.
        what: String,
    },
    /// Nobody knows a set of that id.
    #[error("there is no public set \"{id}\"\nhint: {hint}")]
    Unknown {
        /// The id as given.
        id: String,
        /// The id that was meant, or those there are.
        hint: String,
    },
    /// Sets are wanted and not on disk.
    #[error(
        "public sets that are not in {}: {sets}\nhint: `toolsieve sets add ID FILE…` takes the files of one in, missing = \"skip\" goes on without them",
        dir.display()
    )]
    Missing {
        /// Where sets are looked for.
        dir: PathBuf,
        /// Each of them, and where it can be had.
        sets: String,
    },
    /// Sets are wanted and on disk, and no record of them can be read.
    #[error(
        "public sets in {} of which nothing can be read: {sets}\nhint: `toolsieve sets list` tells the format of each set, missing = \"skip\" goes on without them",
        dir.display()
    )]
    Unreadable {
        /// Where sets are looked for.
        dir: PathBuf,
        /// Each of them with its files, and what is wrong.
        sets: String,
    },
    /// A new set, or new files of one, cannot be taken in.
    #[error("{0}")]
    Add(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] crate::engine::error::Error),
}

impl From<crate::ingest::read::ReadError> for SetError {
    fn from(error: crate::ingest::read::ReadError) -> Self {
        Self::File(error.into())
    }
}

impl From<SetError> for crate::engine::error::Error {
    fn from(error: SetError) -> Self {
        match error {
            SetError::File(error) => error,
            other => Self::Setting(other.to_string()),
        }
    }
}
