//! What is where in a run folder: the names of its files and folders.

use std::path::{Path, PathBuf};

/// The file by which a run folder is known.
pub(super) const MARKER: &str = ".toolsieve";
/// Held by the process that works in the folder.
pub(super) const LOCK: &str = ".lock";
pub(super) const RUN_FILE: &str = "run.json";
pub(crate) const MANIFEST: &str = "manifest.json";
/// What forgetting records did to the rows of a finished run.
pub(crate) const FORGOTTEN_FATES: &str = "forgotten.parquet";
/// What forgetting records left to know of them.
pub(super) const FORGOTTEN_LIST: &str = "forgotten.json";
pub(super) const DATASET: &str = "dataset";
pub(crate) const INGEST: &str = "ingest";
pub(crate) const STAGES: &str = "stages";
pub(super) const SPOOL: &str = "stdin";

/// Links, in the folder of a stage and at the top of a run.
pub const LINKS: &str = "links.parquet";
/// Which record each entry of the dataset was made of.
pub const ENTRIES: &str = "entries.parquet";

/// What tells a whole run, beside its dataset.
pub(super) const OUTCOME: [&str; 8] = [
    "report.json",
    "report.html",
    "ledger.parquet",
    "rows.parquet",
    "lists.parquet",
    LINKS,
    ENTRIES,
    FORGOTTEN_FATES,
];

/// The folder name of a stage.
pub fn step_name(at: usize, id: &str) -> String {
    format!("{:02}-{id}", at + 1)
}

/// Where a file is written before it gets its name.
pub(crate) fn beside(path: &Path) -> PathBuf {
    path.with_added_extension("partial")
}
