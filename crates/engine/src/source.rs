//! A source: what a run reads its rows from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::context::Context;
use super::error::{Error, Result};
use super::fingerprint::Fingerprint;
use super::manifest::InputFile;
use super::parts::{FinishedPart, RunPart};
use super::raw::{InputsRead, Intake};
use super::vocabulary::ColumnSpec;

/// A source of rows.
pub trait Source: Send + Sync {
    /// Whether it reads files that people name for a run. Then it has [`files`](Self::files), and takes others
    /// ([`with_files`](Self::with_files)); a run without any is refused.
    fn reads_files(&self) -> bool {
        false
    }

    /// Returns the files that it reads, as people name them: files, folders, patterns. Those of
    /// [`with_files`](Self::with_files).
    fn files(&self) -> &[PathBuf] {
        &[]
    }

    /// Returns the same source with other files; `None` if it [reads none](Self::reads_files).
    fn with_files(&self, _files: Vec<PathBuf>) -> Option<Arc<dyn Source>> {
        None
    }

    /// Returns the same source that makes so many rows more than are wanted, because later stages drop some; `None` if it
    /// makes no rows.
    fn with_spare(&self, _spare: u64) -> Option<Arc<dyn Source>> {
        None
    }

    /// Returns the pipeline file that is run before this source reads; its run is given to
    /// [`with_earlier_run`](Self::with_earlier_run). `None` if there is none.
    fn earlier_pipeline(&self) -> Option<&Path> {
        None
    }

    /// Returns the same source that reads this run folder instead of having a pipeline run first; `None` if it
    /// [names none](Self::earlier_pipeline).
    fn with_earlier_run(&self, _run: PathBuf) -> Option<Arc<dyn Source>> {
        None
    }

    /// Checks before anything is read. Folders and patterns of [`files`](Self::files) are expanded.
    ///
    /// # Errors
    /// A setting is wrong, or a file cannot be read by this source.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the language models that it asks. What it sends must hold no personal values: no stage has run yet.
    fn asks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Adds the settings that decide what is read; the content of the inputs is added separately.
    ///
    /// # Errors
    /// A file that the settings name cannot be read.
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()>;

    /// Returns the columns of both tables that it fills.
    fn columns(&self) -> Vec<ColumnSpec>;

    /// Returns the inputs with their hashes, for comparison with a finished run.
    ///
    /// # Errors
    /// An input cannot be read.
    fn inputs(&self) -> Result<Vec<InputFile>>;

    /// Reads every input once. Returns its own counts of what it read, by which the runner detects lost lines.
    ///
    /// # Errors
    /// An input cannot be read to its end, or the user asked to stop. A bad line is never an error.
    fn read(&self, into: &mut Intake, cx: &Context<'_>) -> Result<InputsRead>;

    /// Whether separate processes can each read a part of the inputs; see [`read_part`](Self::read_part).
    fn divides(&self) -> bool {
        false
    }

    /// Reads one part of the inputs and writes what it read to a new file, for [`join_parts`](Self::join_parts). Returns facts about it.
    /// What is in one part must not depend on the others, nor on how many threads read it.
    ///
    /// # Errors
    /// As [`read`](Self::read); or the source does not [divide](Self::divides) what it reads.
    fn read_part(&self, _part: RunPart, _content: &Path, _cx: &Context<'_>) -> Result<Value> {
        Err(undivided())
    }

    /// Passes on what all parts read, in their order, as if it had been [read](Self::read) at once.
    ///
    /// # Errors
    /// As [`read`](Self::read); or an input is no longer what the parts read.
    fn join_parts(
        &self,
        _parts: &[FinishedPart],
        _into: &mut Intake,
        _cx: &Context<'_>,
    ) -> Result<InputsRead> {
        Err(undivided())
    }
}

fn undivided() -> Error {
    Error::Setting("this source cannot be read in parts".to_owned())
}
