//! Removes raw text from a finished run.

use std::path::Path;

use super::{Error, Extent, Touched, open};
use crate::engine::error::Error as EngineError;
use crate::engine::folder::RunFolder;
use crate::engine::manifest::read_run_file;
use crate::erasure::purge;
use crate::stages::Registry;

/// The result of a purge.
#[derive(Debug)]
#[non_exhaustive]
pub struct Purged {
    /// The files that were touched; none if no raw text was left.
    pub files: Vec<Touched>,
    /// The run has a stage that redacts. Without one, the results of stages, the ledger, the lists and the dataset still
    /// quote the log.
    pub was_redacted: bool,
}

/// Removes the raw text of a finished run: messages, responses and doc lists as they were logged.
///
/// # Errors
/// There is no finished run, it was not redacted (unless the extent is [`Extent::Everything`]), or another process has it
/// locked. [`Error::Halfway`] once it has begun: the same call continues from there.
pub fn purge(run: &Path, extent: Extent, registry: &Registry) -> Result<Purged, Error> {
    let folder = RunFolder::take_existing(run, "callsieve purge")?;
    // Read first, since a folder without a finished run has no list of its stages.
    read_run_file(run)?;
    let run = open(run, registry)?;
    folder.remove_partial()?;
    folder.remove_parts()?;
    let files = purge::purge(&folder, &run.ingest, &run.stages, extent).map_err(|error| match error {
        EngineError::Setting(_) => Error::Engine(error),
        error => Error::Halfway(error),
    })?;
    Ok(Purged {
        files,
        was_redacted: run.stages.iter().any(|stage| stage.stage.contract().redacts().is_some()),
    })
}
