//! The layout of a run folder: the names of its files and folders.

use std::path::{Path, PathBuf};

use callsieve_text::content_hash::content_hash;

/// The file that marks a run folder.
pub const MARKER: &str = ".callsieve";
/// The marker that the program wrote under its former name, toolsieve.
pub(super) const FORMER_MARKER: &str = ".toolsieve";
/// The format of run folders, in the marker and in `run.json`. Raised when a build can no longer read the folders of the
/// builds before it: 2 has ids of another form, which are never those of the same rows in format 1.
pub const RUN_FORMAT: u32 = 2;
/// Locked by the process that works in the folder.
pub(super) const LOCK: &str = ".lock";
pub(super) const RUN_FILE: &str = "run.json";
/// The folder of the outcome of the finished run before one that is not finished: its `run.json`, tables, reports and dataset.
pub const EARLIER: &str = "earlier";
/// The file that ends a step.
pub const MANIFEST: &str = "manifest.json";
/// The fates of rows of a finished run that `forget` changed.
pub const FORGOTTEN_FATES: &str = "forgotten.parquet";
/// The list of forgotten records.
pub(super) const FORGOTTEN_LIST: &str = "forgotten.json";
/// What the calls of the folder paid language models for.
pub(super) const SPENT: &str = "spent.jsonl";
pub(super) const DATASET: &str = "dataset";
/// The folder of what was read.
pub const INGEST: &str = "ingest";
/// The folder of the stages.
pub const STAGES: &str = "stages";
/// The folder of the decisions of people. No run writes or removes it.
pub const DECISIONS: &str = "decisions";
pub(super) const SPOOL: &str = "stdin";
/// The folder of the parts of steps that separate processes do, until they are joined.
pub const PARTS: &str = "parts";

/// Links, in the folder of a stage and at the top of a run.
pub const LINKS: &str = "links.parquet";
/// The source record of each entry of the dataset.
pub const ENTRIES: &str = "entries.parquet";

/// The hits of an audit, one per line.
pub const HITS: &str = "hits.jsonl";
/// The same as a table.
pub const HITS_TABLE: &str = "hits.parquet";
/// The rows that are not in the cleaned sets of an audit.
pub const REMOVED: &str = "removed.jsonl";
/// The counts of an audit.
pub const AUDIT_REPORT: &str = "audit.json";
/// The statement of an audit for a model card.
pub const STATEMENT: &str = "statement.md";
/// The same for a paper.
pub const STATEMENT_LATEX: &str = "statement.tex";

/// The files about a whole run, except its dataset.
pub(super) const OUTCOME: [&str; 14] = [
    HITS,
    HITS_TABLE,
    REMOVED,
    AUDIT_REPORT,
    STATEMENT,
    STATEMENT_LATEX,
    "report.json",
    "report.html",
    "ledger.parquet",
    "rows.parquet",
    "lists.parquet",
    LINKS,
    ENTRIES,
    FORGOTTEN_FATES,
];

/// Returns the folder name of a stage.
pub fn step_name(at: usize, id: &str) -> String {
    format!("{:02}-{id}", at + 1)
}

/// Returns the temporary path of an output in a folder of other files: no file of a person has this name.
pub fn temporary_output(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    path.with_file_name(format!(".callsieve-{}-{:032x}.partial", std::process::id(), content_hash(name)))
}

/// Returns the temporary path a file is written to before it is renamed.
pub fn temporary_path(path: &Path) -> PathBuf {
    path.with_added_extension("partial")
}
