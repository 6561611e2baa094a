//! Writes what a source read, once, and builds the spine from it.
//!
//! Doc lists are interned by the hash of their text, so each text is kept once however
//! often it was sent. Requests go out in batches as they come; only the spine's few
//! bytes a row stay in memory until the end, when rows get their order and ids.
//!
//! Ids come from content alone: the hash of the record, and for equal records their
//! number among themselves. So the same log gives the same ids, whatever the order or
//! the names of its files.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::columns::{self, ColumnSpec};
use super::corpus::{Cells, Corpus, RowId, Table};
use super::error::{Error, Result, damaged};
use super::folder::{InputFile, Step};
use super::forgotten::{FORGOTTEN, Forgotten};
use super::frame::{FrameFile, FrameWriter, Values};
use super::stage::{Reason, RowIx, TableId};

/// A batch ends with this many rows, or …
const BATCH_ROWS: usize = 8192;
/// … this many bytes of text, whatever comes first.
const BATCH_BYTES: usize = 8 << 20;

/// Rows of the spine that are turned into text at a time.
const SPINE_ROWS: usize = 1 << 14;

pub(super) const REQUESTS: &str = "requests.parquet";
pub(super) const LISTS: &str = "doc_lists.parquet";
pub(super) const REQUEST_SPINE: &str = "requests.spine.parquet";
pub(super) const LIST_SPINE: &str = "doc_lists.spine.parquet";
pub(super) const LINES: &str = "lines.parquet";

/// One request as a source read it.
#[derive(Debug, Default)]
pub struct RequestRow {
    /// xxh3-128 of the record's own bytes.
    pub content_key: u128,
    /// Number of the input file, from 0.
    pub file: u32,
    /// Line on which the record starts, from 1.
    pub line: u64,
    /// The log's own id.
    pub external_id: Option<String>,
    /// The shape it was read as.
    pub shape: &'static str,
    /// JSON list of messages.
    pub messages: String,
    /// JSON of the answer's message.
    pub response: Option<String>,
    /// JSON list of the messages after the answer, where the line holds some.
    pub afterwards: Option<String>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// Unix milliseconds.
    pub time_ms: Option<i64>,
    /// Model asked for.
    pub model: Option<String>,
    /// User or tenant.
    pub user: Option<String>,
    /// Session or thread.
    pub session: Option<String>,
    /// Whether a call was forced.
    pub tool_choice: Option<String>,
    /// Whether several calls were allowed.
    pub parallel_tool_calls: Option<bool>,
    /// HTTP status.
    pub status: Option<i64>,
    /// xxh3-128 of the doc list's text.
    pub list_id: u128,
    /// The doc list's text, as sent.
    pub functions: String,
    /// The line that its answer stood in, where that is another one.
    pub joined: Option<Place>,
}

/// A line of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Number of the input file, from 0.
    pub file: u32,
    /// The line, from 1.
    pub line: u64,
}

impl RequestRow {
    /// Lines that it was read from.
    pub fn lines(&self) -> u64 {
        1 + u64::from(self.joined.is_some())
    }

    fn bytes(&self) -> usize {
        let optional = [&self.response, &self.afterwards];
        self.messages.len() + optional.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// A line that gave no request.
#[derive(Debug)]
pub struct LineRow {
    /// Number of the input file, from 0.
    pub file: u32,
    /// The line, from 1.
    pub line: u64,
    /// It could not be read, rather than holding nothing to read.
    pub unreadable: bool,
    /// Reason code.
    pub reason: &'static str,
    /// What was found.
    pub detail: String,
}

/// A line that got no row of its own, as it is written.
struct Noted {
    place: Place,
    fate: &'static str,
    reason: &'static str,
    detail: String,
    /// The line of the request it went into.
    into: Option<Place>,
}

impl Noted {
    fn of(place: Place, reason: &'static str, fate: &'static str) -> Self {
        Self { place, fate, reason, detail: String::new(), into: None }
    }
}

/// A line was joined into the row of another one.
pub static JOINED: Reason = Reason::policy(
    "ingest/joined",
    "The line holds nothing but the answer to the request of another line, and was joined into it.",
);

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
    /// Requests.
    pub records: u64,
    /// Distinct doc lists, as sent.
    pub doc_lists: u64,
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
    /// Requests by log shape.
    pub shapes: BTreeMap<String, u64>,
    /// Rows of each batch of requests.
    pub request_batches: Vec<usize>,
    /// Rows of each batch of doc lists.
    pub list_batches: Vec<usize>,
    /// Raw text was taken out of the payload: it tells the run's story, but a later run must read the inputs anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub purged: bool,
    /// Wall time.
    pub seconds: f64,
}

/// Takes rows and writes the ingest step.
pub struct PayloadWriter {
    step: Step,
    requests: FrameWriter,
    pending: Vec<RequestRow>,
    pending_bytes: usize,
    request_batches: Vec<usize>,
    lists: FrameWriter,
    texts: Vec<String>,
    text_bytes: usize,
    list_batches: Vec<usize>,
    list_ids: Vec<u128>,
    list_rows: FxHashMap<u128, RowIx>,
    content_keys: Vec<u128>,
    list_of: Vec<RowIx>,
    times: Vec<i64>,
    places: Vec<u64>,
    lines: FrameWriter,
    pending_lines: Vec<Noted>,
    forgotten: Forgotten,
    counts: IngestCounts,
    line_reasons: BTreeMap<String, u64>,
    shapes: BTreeMap<&'static str, u64>,
}

impl PayloadWriter {
    /// Starts the step; records that are on the list of forgotten ones get no row.
    pub fn new(step: Step, forgotten: Forgotten) -> Self {
        Self {
            requests: FrameWriter::create_private(&step.file(REQUESTS)),
            lists: FrameWriter::create_private(&step.file(LISTS)),
            lines: FrameWriter::create_private(&step.file(LINES)),
            step,
            forgotten,
            pending: Vec::new(),
            pending_bytes: 0,
            request_batches: Vec::new(),
            texts: Vec::new(),
            text_bytes: 0,
            list_batches: Vec::new(),
            list_ids: Vec::new(),
            list_rows: FxHashMap::default(),
            content_keys: Vec::new(),
            list_of: Vec::new(),
            times: Vec::new(),
            places: Vec::new(),
            pending_lines: Vec::new(),
            counts: IngestCounts::default(),
            line_reasons: BTreeMap::new(),
            shapes: BTreeMap::new(),
        }
    }

    /// Number of lines so far, whatever became of them.
    pub fn lines(&self) -> u64 {
        self.counts.lines
    }

    /// Number of requests so far.
    pub fn records(&self) -> u64 {
        self.counts.records
    }

    /// Whether a record of this content is one that somebody asked to forget.
    pub fn is_forgotten(&self, content_key: u128) -> bool {
        self.forgotten.holds(content_key)
    }

    /// Adds a request; the text of its doc list is kept once. Of a forgotten one only the line is noted.
    ///
    /// # Errors
    /// A file cannot be written, or there are too many rows for one run.
    pub fn request(&mut self, mut row: RequestRow) -> Result<()> {
        if self.is_forgotten(row.content_key) {
            let own = Place { file: row.file, line: row.line };
            return [Some(own), row.joined].into_iter().flatten().try_for_each(|place| {
                self.counts.forgotten += 1;
                self.note(Noted::of(place, FORGOTTEN.code, "forgotten"))
            });
        }
        if let Some(place) = row.joined {
            self.counts.joined += 1;
            let into = Some(Place { file: row.file, line: row.line });
            self.note(Noted { into, ..Noted::of(place, JOINED.code, "joined-into") })?;
        }
        let list = self.list(row.list_id, std::mem::take(&mut row.functions))?;
        self.counts.lines += 1;
        self.counts.records += 1;
        *self.shapes.entry(row.shape).or_default() += 1;
        self.content_keys.push(row.content_key);
        self.list_of.push(list);
        self.times.push(row.time_ms.unwrap_or(i64::MAX));
        self.places.push(row.line);
        self.pending_bytes += row.bytes();
        self.pending.push(row);
        if self.pending.len() >= BATCH_ROWS || self.pending_bytes >= BATCH_BYTES {
            self.write_requests()?;
        }
        Ok(())
    }

    /// Adds a line that gave no request.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn line(&mut self, line: LineRow) -> Result<()> {
        *(if line.unreadable { &mut self.counts.unreadable } else { &mut self.counts.no_request }) += 1;
        let fate = if line.unreadable { "unreadable" } else { "no-request" };
        let place = Place { file: line.file, line: line.line };
        self.note(Noted { detail: line.detail, ..Noted::of(place, line.reason, fate) })
    }

    fn note(&mut self, line: Noted) -> Result<()> {
        self.counts.lines += 1;
        *self.line_reasons.entry(line.reason.to_owned()).or_default() += 1;
        self.pending_lines.push(line);
        if self.pending_lines.len() >= BATCH_ROWS { self.write_lines() } else { Ok(()) }
    }

    /// Counts lines that a limit passed over.
    pub fn passed_over(&mut self, lines: u64) {
        self.counts.lines += lines;
        self.counts.not_sampled += lines;
    }

    fn list(&mut self, id: u128, text: String) -> Result<RowIx> {
        if let Some(&row) = self.list_rows.get(&id) {
            return Ok(row);
        }
        let row = RowIx::try_from(self.list_ids.len())
            .map_err(|_| Error::Input("more than 2^32 distinct doc lists in one run".to_owned()))?;
        self.list_rows.insert(id, row);
        self.list_ids.push(id);
        self.text_bytes += text.len();
        self.texts.push(text);
        if self.texts.len() >= BATCH_ROWS || self.text_bytes >= BATCH_BYTES {
            self.write_lists()?;
        }
        Ok(row)
    }

    fn write_lists(&mut self) -> Result<()> {
        let texts = std::mem::take(&mut self.texts);
        self.text_bytes = 0;
        self.list_batches.push(texts.len());
        let values = texts.iter().map(|text| Some(text.as_str())).collect();
        self.lists.write(vec![(columns::TEXT.name, Values::Text(values))])
    }

    fn write_requests(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        self.request_batches.push(rows.len());
        let text = |column: ColumnSpec, get: fn(&RequestRow) -> Option<&str>| {
            (column.name, Values::Text(rows.iter().map(get).collect()))
        };
        let int = |column: ColumnSpec, get: fn(&RequestRow) -> Option<i64>| {
            (column.name, Values::Int(rows.iter().map(get).collect()))
        };
        self.requests.write(vec![
            text(columns::EXTERNAL_ID, |row| row.external_id.as_deref()),
            int(columns::FILE, |row| Some(i64::from(row.file))),
            int(columns::LINE, |row| i64::try_from(row.line).ok()),
            text(columns::SHAPE, |row| Some(row.shape)),
            text(columns::MESSAGES, |row| Some(&row.messages)),
            text(columns::RESPONSE, |row| row.response.as_deref()),
            text(columns::AFTERWARDS, |row| row.afterwards.as_deref()),
            text(columns::FINISH_REASON, |row| row.finish_reason.as_deref()),
            int(columns::TIME_MS, |row| row.time_ms),
            text(columns::MODEL, |row| row.model.as_deref()),
            text(columns::USER, |row| row.user.as_deref()),
            text(columns::SESSION, |row| row.session.as_deref()),
            text(columns::TOOL_CHOICE, |row| row.tool_choice.as_deref()),
            int(columns::PARALLEL_TOOL_CALLS, |row| row.parallel_tool_calls.map(i64::from)),
            int(columns::STATUS, |row| row.status),
        ])
    }

    fn write_lines(&mut self) -> Result<()> {
        let lines = std::mem::take(&mut self.pending_lines);
        let int = |line: u64| i64::try_from(line).ok();
        let into = |get: fn(&Place) -> Option<i64>| {
            Values::Int(lines.iter().map(|line| line.into.as_ref().and_then(get)).collect())
        };
        self.lines.write(vec![
            ("file", Values::U32(lines.iter().map(|line| line.place.file).collect())),
            ("line", Values::Int(lines.iter().map(|line| int(line.place.line)).collect())),
            ("fate", Values::Text(lines.iter().map(|line| Some(line.fate)).collect())),
            ("reason", Values::Text(lines.iter().map(|line| Some(line.reason)).collect())),
            ("detail", Values::Text(lines.iter().map(|line| Some(line.detail.as_str())).collect())),
            ("into_file", into(|place| Some(i64::from(place.file)))),
            ("into_line", into(|place| i64::try_from(place.line).ok())),
        ])
    }

    /// Writes what is left, the spine and the manifest.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self, key: String, inputs: Vec<InputFile>, seconds: f64) -> Result<IngestManifest> {
        if !self.pending.is_empty() || self.request_batches.is_empty() {
            self.write_requests()?;
        }
        if !self.texts.is_empty() || self.list_batches.is_empty() {
            self.write_lists()?;
        }
        self.write_lines()?;
        self.requests.finish()?;
        self.lists.finish()?;
        self.lines.finish()?;
        let (request_ids, position) = order_requests(&self.content_keys, &self.times, &self.places)?;
        let list_position = order_lists(&self.list_of, &position, self.list_ids.len());
        write_spine(&self.step.file(REQUEST_SPINE), &request_ids, &position, Some(&self.list_of))?;
        write_spine(&self.step.file(LIST_SPINE), &self.list_ids, &list_position, None)?;
        self.counts.doc_lists = self.list_ids.len() as u64;
        let manifest = IngestManifest {
            key,
            inputs,
            counts: self.counts,
            line_reasons: self.line_reasons,
            shapes: self.shapes.into_iter().map(|(shape, n)| (shape.to_owned(), n)).collect(),
            request_batches: self.request_batches,
            list_batches: self.list_batches,
            purged: false,
            seconds,
        };
        self.step.finish(&manifest)?;
        Ok(manifest)
    }
}

/// Rows by time, then line, then content: the same for any order of files. Equal records are numbered in that order.
fn order_requests(keys: &[u128], times: &[i64], lines: &[u64]) -> Result<(Vec<u128>, Vec<u32>)> {
    let rows = u32::try_from(keys.len()).map_err(|_| {
        Error::Input("more than 2^32 requests in one run\nhint: split the log by time".to_owned())
    })?;
    let mut order: Vec<RowIx> = (0..rows).collect();
    order.par_sort_by_key(|&row| {
        let row = row as usize;
        (times[row], lines[row], keys[row])
    });
    let mut occurrences = repeated(keys);
    let mut ids = keys.to_vec();
    let mut position = vec![0; keys.len()];
    for (place, &row) in (0..).zip(&order) {
        position[row as usize] = place;
        let key = keys[row as usize];
        if let Some(occurrence) = occurrences.get_mut(&key) {
            if *occurrence > 0 {
                ids[row as usize] = id_of_repeat(key, *occurrence);
            }
            *occurrence += 1;
        }
    }
    Ok((ids, position))
}

/// The id of the second and later of equal records; `occurrence` counts from 0, which is the first.
pub(super) fn id_of_repeat(key: u128, occurrence: u64) -> u128 {
    let mut bytes = key.to_le_bytes().to_vec();
    bytes.extend(occurrence.to_le_bytes());
    xxh3_128(&bytes)
}

/// The keys that stand more than once, each with a count of 0. Found by sorting: a map of all keys would be the
/// largest thing in memory.
fn repeated(keys: &[u128]) -> FxHashMap<u128, u64> {
    let mut sorted = keys.to_vec();
    sorted.par_sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| (pair[0], 0)).collect()
}

/// Lists stand in the order of their earliest request.
fn order_lists(list_of: &[RowIx], request_position: &[u32], n_lists: usize) -> Vec<u32> {
    let mut earliest = vec![u32::MAX; n_lists];
    for (&list, &position) in list_of.iter().zip(request_position) {
        let slot = &mut earliest[list as usize];
        *slot = (*slot).min(position);
    }
    let mut order: Vec<u32> = (0..).take(n_lists).collect();
    order.sort_by_key(|&list| earliest[list as usize]);
    let mut position = vec![0; n_lists];
    for (place, &list) in (0..).zip(&order) {
        position[list as usize] = place;
    }
    position
}

fn write_spine(
    path: &std::path::Path,
    ids: &[u128],
    position: &[u32],
    list_of: Option<&[RowIx]>,
) -> Result<()> {
    let mut writer = FrameWriter::create(path);
    let mut start = 0;
    loop {
        let rows = start..ids.len().min(start + SPINE_ROWS);
        let texts: Vec<String> = ids[rows.clone()].iter().map(|&id| RowId(id).to_string()).collect();
        let mut spine = vec![
            ("row_id", Values::Text(texts.iter().map(|id| Some(id.as_str())).collect())),
            ("position", Values::U32(position[rows.clone()].to_vec())),
        ];
        spine.extend(list_of.map(|list_of| ("doc_list", Values::U32(list_of[rows.clone()].to_vec()))));
        writer.write(spine)?;
        start = rows.end;
        if start == ids.len() {
            return writer.finish();
        }
    }
}

/// A line without a request, read back.
#[derive(Debug, Clone)]
pub struct LineStory {
    /// Number of the input file.
    pub file: u32,
    /// The line.
    pub line: i64,
    /// `unreadable`, `no-request`, `joined-into` or `forgotten`.
    pub fate: String,
    /// Reason code.
    pub reason: String,
    /// What was found.
    pub detail: String,
    /// File and line of the request that the line was joined into.
    pub into: Option<(i64, i64)>,
}

/// Reads the lines that gave no request of their own.
///
/// # Errors
/// The run folder is damaged.
pub fn read_lines(run: &std::path::Path) -> Result<Vec<LineStory>> {
    let path = run.join("ingest").join(LINES);
    let frame = FrameFile::open(&path)?.read_all()?;
    let text =
        |name: &str, row| frame.texts(name).and_then(|cells| cells.get(row)).unwrap_or_default().to_owned();
    // Runs of earlier versions joined nothing and have no such columns.
    let int = |name: &str, row| frame.ints(name).and_then(|cells| cells.get(row));
    (0..frame.height())
        .map(|row| {
            let file = frame.u32s("file").and_then(|cells| cells.get(row));
            let line = frame.ints("line").and_then(|cells| cells.get(row));
            let (Some(file), Some(line)) = (file, line) else {
                return Err(damaged(&path, format!("row {row} has no place")));
            };
            Ok(LineStory {
                file,
                line,
                fate: text("fate", row),
                reason: text("reason", row),
                detail: text("detail", row),
                into: int("into_file", row).zip(int("into_line", row)),
            })
        })
        .collect()
}

/// Builds the tables from a finished ingest step.
///
/// # Errors
/// The run folder is damaged.
pub fn load(run: &std::path::Path, manifest: &IngestManifest) -> Result<Corpus> {
    let folder = run.join("ingest");
    let (request_ids, request_order, origin) = read_spine(&folder.join(REQUEST_SPINE))?;
    let (list_ids, list_order, _) = read_spine(&folder.join(LIST_SPINE))?;
    let mut requests = Table::new(TableId::Requests, request_ids, request_order, &manifest.request_batches);
    let mut lists = Table::new(TableId::DocLists, list_ids, list_order, &manifest.list_batches);
    let of =
        |table| columns::PAYLOAD.iter().copied().filter(|column| column.table == table).collect::<Vec<_>>();
    requests.add_columns(&of(TableId::Requests), Cells::File(FrameFile::open(&folder.join(REQUESTS))?));
    lists.add_columns(&of(TableId::DocLists), Cells::File(FrameFile::open(&folder.join(LISTS))?));
    Ok(Corpus { requests, lists, list: origin.clone(), origin })
}

/// Ids, rows in order, and for requests the list of each row.
fn read_spine(path: &std::path::Path) -> Result<(Vec<u128>, Vec<RowIx>, Vec<RowIx>)> {
    let file = FrameFile::open(path)?;
    let mut ids = Vec::with_capacity(file.height());
    let mut order = vec![RowIx::MAX; file.height()];
    let mut lists = Vec::new();
    for start in (0..file.height()).step_by(SPINE_ROWS) {
        let frame = file.read(start, SPINE_ROWS.min(file.height() - start), None)?;
        let (Some(texts), Some(positions)) = (frame.texts("row_id"), frame.u32s("position")) else {
            return Err(damaged(path, "lacks a column of the spine"));
        };
        let list_of = frame.u32s("doc_list");
        for at in 0..frame.height() {
            let row = RowIx::try_from(start + at).map_err(|_| damaged(path, "holds more than 2^32 rows"))?;
            let id = texts.get(at).and_then(RowId::number);
            ids.push(id.ok_or_else(|| damaged(path, format!("row {row} has no id")))?);
            let place = positions.get(at).and_then(|place| order.get_mut(place as usize));
            *place.ok_or_else(|| damaged(path, format!("row {row} has no place")))? = row;
            lists.extend(list_of.and_then(|list_of| list_of.get(at)));
        }
    }
    Ok((ids, order, lists))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_records_get_ids_of_their_own_that_do_not_depend_on_the_order_of_files() {
        let keys = [7_u128, 9, 7, 7];
        let (ids, position) = order_requests(&keys, &[5, 1, 5, 5], &[1, 1, 2, 9]).unwrap();
        assert_eq!(position, [1, 0, 2, 3]);
        assert_eq!(ids[0], 7);
        assert!(ids[2] != 7 && ids[3] != 7 && ids[2] != ids[3]);
        let turned = order_requests(&[7, 7, 9, 7], &[5, 5, 1, 5], &[9, 2, 1, 1]).unwrap().0;
        assert_eq!([turned[3], turned[2], turned[1], turned[0]], *ids);
    }

    #[test]
    fn lists_stand_in_the_order_of_their_earliest_request() {
        assert_eq!(order_lists(&[1, 0, 1, 2], &[3, 2, 0, 1], 3), [2, 0, 1]);
    }
}
