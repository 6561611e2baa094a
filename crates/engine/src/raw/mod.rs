//! The raw tables: everything a source reads, written once in the first step of a run.
//!
//! A source produces the types in `rows`, and `writer` stores them: requests in batches (`pending`), doc lists interned
//! by the hash of their text (`lists`), and lines without a request (`lines`). Only the few bytes per row that
//! determine order and ids stay in memory until the end (`row_index`).
//!
//! Ids depend on content alone: the hash of the record, and for equal records also their number among these. So the
//! same log has the same ids in any order and under any names of its files.

mod lines;
mod lists;
mod pending;
mod row_index;
mod rows;
#[cfg(test)]
mod tests;
mod writer;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::corpus::{Cells, Corpus, Table};
use super::error::{Result, damaged};
use super::frame::FrameFile;
use super::manifest::InputFile;
use super::vocabulary::{RowIx, TableId};
use callsieve_system::memory::Memory;
pub use lines::{JOINED, LineStory, StoredPlace, read_lines};
pub use row_index::id_of_repeat;
use row_index::{TableIndex, read_row_index};
pub use rows::{DocListRow, InputsRead, LineRow, RequestRow, RowCells, SourcePlace};
pub use writer::Intake;

/// The bytes of text at which a batch ends, even if it could take more rows.
const BATCH_BYTES: usize = 8 << 20;

/// The cells of requests.
pub const REQUESTS: &str = "requests.parquet";
/// The cells of doc lists.
pub const LISTS: &str = "doc_lists.parquet";
/// Ids, order and lists of requests.
pub const REQUEST_INDEX: &str = "requests.index.parquet";
/// Ids and order of doc lists.
pub const LIST_INDEX: &str = "doc_lists.index.parquet";
/// Lines without a row.
pub const LINES: &str = "lines.parquet";

/// The counts of lines read and rows written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestCounts {
    /// Lines of the inputs, or table rows or array elements.
    pub lines: u64,
    /// Lines that hold no request.
    pub no_request: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Lines skipped because of `--limit` or `--sample-rows`.
    pub not_sampled: u64,
    /// Lines of forgotten records.
    #[serde(default)]
    pub forgotten: u64,
    /// Lines that hold only the answer to the request of another line.
    #[serde(default)]
    pub joined: u64,
    /// Lines that hold a doc list and no request.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lists_alone: u64,
    /// Requests.
    pub records: u64,
    /// Distinct doc lists, as sent.
    pub doc_lists: u64,
}

impl IngestCounts {
    /// Whether the inputs hold nothing of a log: no request, no doc list, and no forgotten record.
    pub(super) fn has_nothing(&self) -> bool {
        self.records + self.lists_alone + self.forgotten == 0
    }

    /// Returns the number of lines whose fate is known.
    pub(super) fn accounted(&self) -> u64 {
        let without_row = [self.no_request, self.unreadable, self.not_sampled, self.forgotten, self.joined];
        self.records + self.lists_alone + without_row.iter().sum::<u64>()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde passes.
fn is_none(n: &u64) -> bool {
    *n == 0
}

/// An input that was not read to its end, because it is damaged or truncated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutFile {
    /// Number of the input, from 0.
    pub file: u32,
    /// What was found, for people.
    pub detail: String,
}

/// The manifest of the finished ingest step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IngestManifest {
    /// Resume key.
    pub key: String,
    /// Inputs as read.
    pub inputs: Vec<InputFile>,
    /// The counts of lines read and rows written.
    pub counts: IngestCounts,
    /// Lines without a request, by reason.
    pub line_reasons: BTreeMap<String, u64>,
    /// Inputs that were not read to their end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_files: Vec<CutFile>,
    /// Inputs whose records are identified by number, not by line: tables, and JSON that is not one value per line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_record: Vec<u32>,
    /// Requests by log format.
    pub log_formats: BTreeMap<String, u64>,
    /// Notes of the source about all it read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, Value>,
    /// Number of rows of each batch of requests.
    pub request_batches: Vec<usize>,
    /// Number of rows of each batch of doc lists.
    pub list_batches: Vec<usize>,
    /// Raw text was purged from the raw tables. They still show the history of the run, but a later run must read the
    /// inputs again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub purged: bool,
    /// Wall time.
    pub seconds: f64,
    /// Memory of the process when it ended, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// Loads the tables from a finished ingest step.
///
/// # Errors
/// The run folder is damaged.
pub fn load(run: &Path, manifest: &IngestManifest) -> Result<Corpus> {
    let folder = run.join("ingest");
    let indexes = (read_row_index(&folder.join(REQUEST_INDEX))?, read_row_index(&folder.join(LIST_INDEX))?);
    check_links(&folder.join(REQUEST_INDEX), &indexes)?;
    let heights = [indexes.0.ids.len(), indexes.1.ids.len()];
    let mut corpus = tables(manifest, indexes);
    let of_tables = [(REQUESTS, &mut corpus.requests), (LISTS, &mut corpus.lists)];
    let batches = [&manifest.request_batches, &manifest.list_batches];
    for (((name, table), batches), height) in of_tables.into_iter().zip(batches).zip(heights) {
        let path = folder.join(name);
        let file = FrameFile::open(&path)?;
        if [file.height(), batches.iter().sum()] != [height; 2] {
            return Err(damaged(&path, format!("expected {height} rows, found {}", file.height())));
        }
        // Its columns are the ones that the source declared when it was written.
        let columns: Vec<String> = file.names().map(str::to_owned).collect();
        table.add_named(columns.iter().map(String::as_str), Cells::in_file(file));
    }
    Ok(corpus)
}

/// Checks that each request has an existing list.
fn check_links(path: &Path, (requests, lists): &(TableIndex, TableIndex)) -> Result<()> {
    let list_of = requests.list_of.as_deref().unwrap_or_default();
    let is_there = |&list: &RowIx| (list as usize) < lists.ids.len();
    if list_of.len() == requests.ids.len() && list_of.iter().all(is_there) {
        return Ok(());
    }
    Err(damaged(path, "a request has no doc list, or one that does not exist"))
}

/// Returns the tables of these indexes, without columns.
fn tables(manifest: &IngestManifest, (requests, lists): (TableIndex, TableIndex)) -> Corpus {
    let (request_order, list_order) = (requests.order(), lists.order());
    let origin = requests.list_of.unwrap_or_default();
    Corpus {
        requests: Table::new(TableId::Requests, requests.ids, request_order, &manifest.request_batches),
        lists: Table::new(TableId::DocLists, lists.ids, list_order, &manifest.list_batches),
        list: origin.clone(),
        origin,
        inputs: manifest.inputs.clone().into(),
    }
}
