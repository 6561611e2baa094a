//! A sink: what a run writes its kept rows into.

use std::path::{Path, PathBuf};

use super::context::Context;
use super::corpus::Corpus;
use super::entries::EntryOrigin;
use super::error::Result;
use super::vocabulary::{ColumnSpec, RowIx};

/// A destination of kept rows.
pub trait Sink: Send + Sync {
    /// Returns its id in messages.
    fn id(&self) -> &'static str {
        "export"
    }

    /// Returns the columns it reads.
    fn reads(&self) -> Vec<ColumnSpec>;

    /// Returns the earlier datasets whose entries it writes again: run folders, or folders of their files.
    fn baselines(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Checks before the run begins that the rows of these inputs can be written, so that a run does not fail at its end.
    ///
    /// # Errors
    /// What it needs is missing, or it cannot write rows of one of the inputs.
    fn check(&self, _inputs: &[PathBuf]) -> Result<()> {
        Ok(())
    }

    /// Writes the kept rows into an empty folder.
    ///
    /// # Errors
    /// A file cannot be written.
    fn write(&self, from: &FinishedTables<'_>, into: &Path, cx: &Context<'_>) -> Result<Exported>;
}

/// What a sink writes from: a run whose stages are finished.
#[derive(Debug, Clone, Copy)]
pub struct FinishedTables<'a> {
    /// The run folder.
    pub run: &'a Path,
    /// The inputs, in the order in which rows number them.
    pub inputs: &'a [PathBuf],
    /// The tables after the last stage.
    pub corpus: &'a Corpus,
}

/// The rows that a sink wrote.
#[derive(Debug, Default)]
pub struct Exported {
    /// The requests, each once.
    pub rows: Vec<RowIx>,
    /// The number of rows by heading, for people and the report.
    pub counts: Vec<(String, u64)>,
    /// The number of unchanged entries of an earlier dataset by heading; these are not rows of this run.
    pub frozen: Vec<(String, u64)>,
    /// The source record of each entry, in the order of the dataset's tables.
    pub origins: Vec<EntryOrigin>,
}
