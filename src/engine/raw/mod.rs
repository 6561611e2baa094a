//! What a source read, written once: the first step of a run and the tables that it gives.
//!
//! `rows` is what a source hands over, `writer` takes it: requests in batches as they come (`pending`), doc lists interned
//! by the hash of their text (`lists`), lines that gave no request (`lines`). Only the few bytes a row that give order and
//! ids stay in memory until the end (`row index`).
//!
//! Ids come from content alone: the hash of the record, and for equal records their number among themselves. So the
//! same log gives the same ids, whatever the order or the names of its files.

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

use super::corpus::{Cells, Corpus, Table};
use super::error::{Result, damaged};
use super::frame::FrameFile;
use super::manifest::InputFile;
use super::vocabulary::{RowIx, TableId};
pub use lines::{JOINED, LineStory, StoredPlace, read_lines};
pub(crate) use row_index::id_of_repeat;
use row_index::{TableIndex, read_row_index};
pub use rows::{DocListRow, InputsRead, LineRow, Place, RequestRow, RowCells};
pub use writer::Intake;

/// A batch that has not as many rows as it may have ends with this many bytes of text.
const BATCH_BYTES: usize = 8 << 20;

pub(crate) const REQUESTS: &str = "requests.parquet";
pub(crate) const LISTS: &str = "doc_lists.parquet";
pub(crate) const REQUEST_INDEX: &str = "requests.index.parquet";
pub(crate) const LIST_INDEX: &str = "doc_lists.index.parquet";
pub(crate) const LINES: &str = "lines.parquet";

/// Lines in, rows out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestCounts {
    /// Lines of the inputs, or rows and elements where these are the unit.
    pub lines: u64,
    /// Lines that hold nothing to ask.
    pub no_request: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Lines passed over because of `--limit` or `--sample-rows`.
    pub not_sampled: u64,
    /// Lines whose record somebody asked to forget.
    #[serde(default)]
    pub forgotten: u64,
    /// Lines that hold nothing but the answer to the request of another line.
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
    /// Lines of which it is known what became of them.
    pub(super) fn accounted(&self) -> u64 {
        let without_row = [self.no_request, self.unreadable, self.not_sampled, self.forgotten, self.joined];
        self.records + self.lists_alone + without_row.iter().sum::<u64>()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde passes.
fn is_none(n: &u64) -> bool {
    *n == 0
}

/// An input that was not read to its end, since it is damaged or cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutFile {
    /// Number of the input, from 0.
    pub file: u32,
    /// What was found.
    pub detail: String,
}

/// The finished step's manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IngestManifest {
    /// Resume key.
    pub key: String,
    /// Inputs as read.
    pub inputs: Vec<InputFile>,
    /// Lines in, rows out.
    pub counts: IngestCounts,
    /// Lines without a request, by reason.
    pub line_reasons: BTreeMap<String, u64>,
    /// Inputs that were not read to their end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_files: Vec<CutFile>,
    /// Inputs of which a record is named by its number and not by its line: tables and JSON that is not line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_record: Vec<u32>,
    /// Requests by log format.
    pub log_formats: BTreeMap<String, u64>,
    /// Rows of each batch of requests.
    pub request_batches: Vec<usize>,
    /// Rows of each batch of doc lists.
    pub list_batches: Vec<usize>,
    /// Raw text was taken out of the raw tables: it tells the run's story, but a later run must read the inputs anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub purged: bool,
    /// Wall time.
    pub seconds: f64,
}

/// Builds the tables from a finished ingest step.
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
        // Its columns are those that the source declared when it was written.
        let columns: Vec<String> = file.names().map(str::to_owned).collect();
        table.add_named(columns.iter().map(String::as_str), Cells::in_file(file));
    }
    Ok(corpus)
}

/// Each request has a list that is there.
fn check_links(path: &Path, (requests, lists): &(TableIndex, TableIndex)) -> Result<()> {
    let list_of = requests.list_of.as_deref().unwrap_or_default();
    let is_there = |&list: &RowIx| (list as usize) < lists.ids.len();
    if list_of.len() == requests.ids.len() && list_of.iter().all(is_there) {
        return Ok(());
    }
    Err(damaged(path, "a request has no doc list, or one that is not there"))
}

/// The tables of these indexes, as yet without columns.
fn tables(manifest: &IngestManifest, (requests, lists): (TableIndex, TableIndex)) -> Corpus {
    let (request_order, list_order) = (requests.order(), lists.order());
    let origin = requests.list_of.unwrap_or_default();
    Corpus {
        requests: Table::new(TableId::Requests, requests.ids, request_order, &manifest.request_batches),
        lists: Table::new(TableId::DocLists, lists.ids, list_order, &manifest.list_batches),
        list: origin.clone(),
        origin,
    }
}
