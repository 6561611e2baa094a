//! The log as the engine's source: reads files and returns rows, in one pass and in bounded memory.
//!
//! One thread reads and hashes, all threads parse blocks, and one writes earlier records in order at the same time.
//! Parquet inputs are rows already and skip the first step. Nothing is dropped here: a line without a request is
//! recorded with its reason. Sampling and limits only decide which records are passed on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::any_row::{self, RowsRead, push_rows};
use crate::batch::{Joined, Waiting};
use crate::fate::{Line, LineFate};
use crate::foreign_rows::object_of;
use crate::kind::check_kind;
use crate::known_lists::{KnownLists, SentList};
use crate::log_formats::Columns;
use crate::no_request::LinesWithoutRequest;
use crate::read::{FileFormat, Limits, Position, ReadError};
use crate::reader_threads::{
    Parsed, Promise, ReadFile, Ready, ReadyRow, TextFile, parse_blocks, read_files, ready,
};
use crate::request_filter::RequestFilter;
use callsieve_engine::columns;
use callsieve_engine::context::{Context, Progress};
use callsieve_engine::error::{Error, Result};
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_engine::foreign::{ForeignFile, ForeignRows, Need};
use callsieve_engine::kind::KindSettings;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::raw::{InputsRead, Intake, LineRow, RequestRow};
use callsieve_engine::source::Source;
use callsieve_engine::vocabulary::ColumnSpec;
use callsieve_text::content_hash::content_hash;
use callsieve_text::figures::counted;

/// The size of a block: small enough to keep all threads busy, large enough to be worth passing on.
const BLOCK_BYTES: usize = 1 << 20;
/// The number of blocks per thread that may wait between the reading and the parsing threads, and between these and the
/// writing one.
const BLOCKS_AHEAD: usize = 3;
/// The bytes of rows of a Parquet input that are parsed at a time, on all threads.
const PARQUET_BYTES: usize = 16 << 20;

/// The inputs and how they are read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ingest {
    /// Files: JSONL, JSON, CSV or TSV, plain, gzip or zstd; Parquet. `-` is standard input.
    #[serde(serialize_with = "paths_as_text")]
    pub inputs: Vec<PathBuf>,
    /// Longest line that is read, in bytes. A longer one is recorded as unreadable.
    pub max_line_bytes: usize,
    /// Reads this many records and skips the rest.
    pub limit: Option<u64>,
    /// Samples this many records at random; the same seed samples the same ones.
    pub sample_rows: Option<u64>,
    /// Reads only requests of these assistants, as the log names them; of all if the list is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assistants: Vec<String>,
    /// Reads only requests since this day or time (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Reads only requests until this day or time (UTC); a day counts as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Column names of rows that hold a query and a function string.
    pub columns: Columns,
    /// The items that become rows: "requests", or "all" that can be read, as a contamination audit needs them.
    pub rows: RowsRead,
    /// With rows = "all": keys of the texts of every item, with dots into objects. Empty: requests are read as requests, and
    /// other items by the usual keys of conversations and instructions.
    pub text_fields: Vec<String>,
}

impl Default for Ingest {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            max_line_bytes: 64 << 20,
            limit: None,
            sample_rows: None,
            assistants: Vec::new(),
            since: None,
            until: None,
            columns: Columns::default(),
            rows: RowsRead::default(),
            text_fields: Vec::new(),
        }
    }
}

/// Writes paths as text: file names need not be UTF-8, and what is not becomes U+FFFD.
fn paths_as_text<S: Serializer>(paths: &[PathBuf], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

impl Ingest {
    /// Checks that all items of the inputs can be rows, if they are to be.
    fn check_kinds(&self) -> std::result::Result<(), ReadError> {
        let inputs = if self.rows == RowsRead::All { &self.inputs[..] } else { &[] };
        inputs.iter().try_for_each(|path| check_kind(path))
    }

    /// Returns which requests are read.
    fn filter(&self) -> Result<RequestFilter> {
        RequestFilter::new(&self.assistants, self.since.as_deref(), self.until.as_deref())
            .map_err(Error::Setting)
    }

    /// Returns how items are read.
    fn reading(&self) -> any_row::Reading<'_> {
        any_row::Reading {
            columns: &self.columns,
            rows: self.rows,
            text_fields: &self.text_fields,
            known_lists: None,
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Stopped => Self::Interrupted,
            error => Self::Input(error.to_string()),
        }
    }
}

impl KindSettings for Ingest {
    const NAME: &'static str = "logs";
    const SUMMARY: &'static str = "requests of logs, or all rows of training sets";
}

impl Source for Ingest {
    fn reads_files(&self) -> bool {
        true
    }

    fn files(&self) -> &[PathBuf] {
        &self.inputs
    }

    fn with_files(&self, files: Vec<PathBuf>) -> Option<Arc<dyn Source>> {
        Some(Arc::new(Self { inputs: files, ..self.clone() }))
    }

    fn check(&self) -> Result<()> {
        if self.limit.is_some() && self.sample_rows.is_some() {
            return Err(Error::Setting(
                "limit and sample_rows are both set\nhint: use limit for the first records, or sample_rows for random ones".to_owned(),
            ));
        }
        self.filter()?;
        self.check_kinds().map_err(Error::from)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(16);
        let settings = Self { inputs: Vec::new(), ..self.clone() };
        let settings = serde_json::to_string(&settings).map_err(|error| Error::Setting(error.to_string()))?;
        fingerprint.add_part("settings", settings.as_bytes());
        // The name of a file only determines how it is read.
        for path in &self.inputs {
            fingerprint.add_part("format", format!("{:?}", Reading::of(path)).as_bytes());
        }
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        columns::from_ingest()
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        self.inputs.iter().map(|path| InputFile::read(path, &|| false)).collect()
    }

    fn read(&self, into: &mut Intake, cx: &Context<'_>) -> Result<InputsRead> {
        self.check_kinds()?;
        let filter = self.filter()?;
        let (bytes_read, known_lists) = (BytesRead::of(&self.inputs, cx), KnownLists::default());
        let mut rows = LineSink {
            ingest: self,
            filter: &filter,
            n_unwanted: 0,
            cx,
            bytes_read: &bytes_read,
            into,
            known_lists: &known_lists,
            waiting: Waiting::default(),
            sample: BTreeMap::new(),
            n_drawn: 0,
            n_further_parts: 0,
            item_is_read: false,
            without_request: LinesWithoutRequest::default(),
        };
        let mut read = InputsRead::default();
        let mut without_row = Vec::new();
        let files: Vec<(u32, &Path)> = (0..).zip(self.inputs.iter().map(PathBuf::as_path)).collect();
        let is_text = |path: &Path| matches!(Reading::of(path), Reading::Text(_));
        for files in files.chunk_by(|(_, one), (_, next)| is_text(one) && is_text(next)) {
            for (done, &(file, path)) in rows.files(files)?.into_iter().zip(files) {
                if done.by_record {
                    rows.into.name_by_record(file);
                }
                if done.n_items == 0 && done.input.bytes > 0 {
                    without_row.push(path);
                }
                read.inputs.push(done.input);
                read.items += done.n_items;
            }
        }
        // Without a row at all, the run reports that its inputs are empty.
        if let Some(first) = without_row.first().filter(|_| read.items > 0) {
            let n_files = counted(
                without_row.len() as u64,
                "input has bytes and no row",
                "inputs have bytes and no row",
            );
            let first = first.display();
            cx.progress.warn(&format!(
                "{n_files}: {first}{}\nhint: `callsieve inspect {first}` shows how it is read",
                if without_row.len() > 1 { ", …" } else { "" }
            ));
        }
        rows.join()?;
        rows.write_sample()?;
        read.further_parts = rows.n_further_parts;
        rows.without_request.check(&read.inputs)?;
        if rows.n_unwanted > 0 && rows.into.records() == 0 {
            return Err(Error::NoRequest(format!(
                "none of {} is of the assistants and the period that are set\nhint: `callsieve inspect` shows the times and how many assistants there are",
                counted(rows.n_unwanted, "request", "requests")
            )));
        }
        Ok(read)
    }
}

/// The reader of a file, by its name.
#[derive(Debug, Clone, Copy)]
pub enum Reading {
    /// Rows of Parquet.
    Parquet,
    /// Items of a text in this format.
    Text(FileFormat),
}

impl Reading {
    /// Returns the reader of a file.
    pub fn of(path: &Path) -> Self {
        let is_parquet = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        if is_parquet { Self::Parquet } else { Self::Text(FileFormat::of(path)) }
    }
}

/// Names of files that describe a set and hold no row of it: of the `datasets` library, and of the Croissant format.
const SET_FACTS: [&str; 4] =
    ["dataset_infos.json", "dataset_info.json", "dataset_dict.json", "croissant.json"];

/// Returns whether a file of a folder describes a set and is no part of it.
pub fn is_set_facts(path: &Path) -> bool {
    path.file_name().is_some_and(|name| SET_FACTS.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// How much of the inputs is read and parsed, for the progress of the step.
struct BytesRead<'a> {
    progress: &'a dyn Progress,
    read: AtomicU64,
    total: u64,
}

impl<'a> BytesRead<'a> {
    fn of(inputs: &[PathBuf], cx: &Context<'a>) -> Self {
        let sizes = inputs.iter().map(|path| path.metadata().map_or(0, |facts| facts.len()));
        Self { progress: cx.progress, read: AtomicU64::new(0), total: sizes.sum() }
    }

    fn add(&self, bytes: u64) {
        let read = self.read.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.progress.read(read, self.total);
    }
}

/// Receives lines in order and passes them on, or samples them.
struct LineSink<'a, 'c> {
    ingest: &'a Ingest,
    filter: &'a RequestFilter,
    /// The number of requests that the filter left out.
    n_unwanted: u64,
    cx: &'a Context<'c>,
    bytes_read: &'a BytesRead<'a>,
    into: &'a mut Intake,
    /// The doc lists that `into` has.
    known_lists: &'a KnownLists,
    /// Batch lines, which are joined after all files are read.
    waiting: Waiting,
    /// The sample so far: the records with the smallest hashes.
    sample: BTreeMap<(u64, u128, u64, u64), Box<RequestRow>>,
    n_drawn: u64,
    /// The number of parts of items after their first.
    n_further_parts: u64,
    /// The item of the current parts was read, not skipped.
    item_is_read: bool,
    /// The lines before the first request.
    without_request: LinesWithoutRequest,
}

impl LineSink<'_, '_> {
    /// Reads a Parquet file, or several consecutive text files.
    fn files(&mut self, files: &[(u32, &Path)]) -> Result<Vec<ReadFile>> {
        let mut texts: Vec<TextFile<'_>> = Vec::with_capacity(files.len());
        for &(file, path) in files {
            match Reading::of(path) {
                Reading::Parquet => return Ok(vec![self.parquet(file, path)?]),
                Reading::Text(format) => texts.push((file, path, format)),
            }
        }
        self.texts(&texts)
    }

    /// Reads, parses and writes at the same time, across the borders of files.
    fn texts(&mut self, files: &[TextFile<'_>]) -> Result<Vec<ReadFile>> {
        let limits = Limits { max_line_bytes: self.ingest.max_line_bytes, block_bytes: BLOCK_BYTES };
        let ahead = BLOCKS_AHEAD * rayon::current_num_threads();
        let (blocks_in, blocks) = sync_channel(ahead);
        let (promises_in, promises) = sync_channel(ahead);
        let wants_no_more = AtomicBool::new(self.wants_no_more());
        let reading = any_row::Reading { known_lists: Some(self.known_lists), ..self.ingest.reading() };
        let cancel = self.cx.cancel;
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || read_files(files, &limits, cancel, blocks_in));
            let no_more = &wants_no_more;
            scope.spawn(move || parse_blocks(&reading, blocks, no_more, promises_in));
            let taken = self.take_parsed(promises, &wants_no_more);
            if taken.is_err() {
                // Blocks that were read and not parsed yet are not needed.
                wants_no_more.store(true, Ordering::Relaxed);
            }
            let inputs = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            taken.and(inputs)
        })
    }

    /// Writes parsed blocks in order; ends early only on an error, which also ends parser and reader.
    #[allow(clippy::needless_pass_by_value)] // Dropping the receiver is what stops the others.
    fn take_parsed(&mut self, promises: Receiver<Promise>, wants_no_more: &AtomicBool) -> Result<()> {
        // The sender is dropped only by a panic, which is reported when the thread is joined.
        let parsed = |promise: Promise| Some((promise.parsed.recv().ok()?, promise.n_bytes));
        for (parsed, n_bytes) in promises.iter().map_while(parsed) {
            self.go_on()?;
            match parsed {
                Parsed::Lines(lines) => lines.into_iter().try_for_each(|line| self.take(line))?,
                Parsed::PassedOver(n_lines) => self.into.passed_over(n_lines),
            }
            // Not when they are read: most of the time is spent on parsing.
            self.bytes_read.add(n_bytes);
            wants_no_more.store(self.wants_no_more(), Ordering::Relaxed);
        }
        Ok(())
    }

    fn parquet(&mut self, file: u32, path: &Path) -> Result<ReadFile> {
        let frames = ForeignFile::open(path)?;
        let reading = self.ingest.reading();
        let (n_bytes, mut n_bytes_done) = (path.metadata().map_or(0, |facts| facts.len()), 0);
        let selection = frames.select(|name| if reading.reads(name) { Need::Read } else { Need::No })?;
        for stretch in frames.stretches(&selection) {
            let rows = frames.read(&selection, stretch.clone())?;
            let mut start = 0;
            while start < rows.height() {
                self.go_on()?;
                let end = self.end_of_batch(&rows, start);
                let number = |row: usize| Position::same((stretch.start + row + 1) as u64);
                let read =
                    |row: usize| self.go_on().map(|()| self.parquet_row(file, &rows, row, number(row)));
                let lines: Vec<Vec<Ready>> = (start..end).into_par_iter().map(read).collect::<Result<_>>()?;
                for line in lines.into_iter().flatten() {
                    self.take(line)?;
                }
                start = end;
                let done = share_of_rows(n_bytes, stretch.start + end, frames.height());
                self.bytes_read.add(done - n_bytes_done);
                n_bytes_done = done;
            }
        }
        let input = InputFile::read(path, &|| self.cx.cancelled())?;
        Ok(ReadFile { input, n_items: frames.height() as u64, by_record: true })
    }

    /// Returns the end of the rows that are parsed together; a few bytes of a dictionary can be the cells of many rows.
    fn end_of_batch(&self, rows: &ForeignRows, start: usize) -> usize {
        let mut bytes = 0;
        let is_enough = |row: &usize| {
            let row_bytes = rows.row_bytes(*row);
            // A row that is too long is not decoded.
            bytes += if row_bytes > self.ingest.max_line_bytes { 0 } else { row_bytes };
            bytes >= PARQUET_BYTES
        };
        (start..rows.height()).find(is_enough).map_or(rows.height(), |last| last + 1)
    }

    fn parquet_row(&self, file: u32, rows: &ForeignRows, row: usize, position: Position) -> Vec<Ready> {
        let value = match object_of(rows, row, self.ingest.max_line_bytes) {
            Ok(value) => value,
            Err(fault) => return vec![ready(file, Line::whole(position, 1, LineFate::Unreadable(fault)))],
        };
        let mut lines = Vec::with_capacity(1);
        let content_key = content_hash(value.to_string());
        push_rows(position, content_key, value, &self.ingest.reading(), &mut lines);
        lines.into_iter().map(|line| ready(file, line)).collect()
    }

    /// Returns `true` if the limit is reached, and no request waits for its answer.
    fn wants_no_more(&self) -> bool {
        self.is_full() && self.waiting.n_requests() == 0
    }

    fn is_full(&self) -> bool {
        self.ingest.limit.is_some_and(|limit| self.into.records() + self.waiting.n_requests() >= limit)
    }

    fn take(&mut self, line: Ready) -> Result<()> {
        self.go_on()?;
        self.cx.progress.advance(line.n_items);
        let is_awaited = matches!(&line.row, ReadyRow::Answer(_, answer) if self.waiting.is_awaited(answer));
        if line.is_further_part {
            // The parts of an item that was skipped as a whole are not counted: it may not even have been parsed.
            if !self.item_is_read {
                return Ok(());
            }
            self.n_further_parts += 1;
        } else {
            self.item_is_read = !self.is_full();
        }
        match line.row {
            // Whatever it holds: the counts must not depend on how far ahead lines were parsed.
            _ if self.is_full() && !is_awaited => self.into.passed_over(line.n_items),
            ReadyRow::Answer(place, answer) => self.waiting.answer(place, *answer),
            ReadyRow::Line(line) => self.line(line)?,
            ReadyRow::Batch(custom_id, request) => {
                self.without_request.found_request();
                self.waiting.request(custom_id, *request);
            }
            ReadyRow::Request(request, list) => {
                let key = request.list.content_key;
                self.request(request)?;
                if let SentList::New { sent, outline } = list
                    && self.into.has_list(key)
                {
                    self.known_lists.add(sent, outline, key);
                }
            }
        }
        Ok(())
    }

    /// Returns an error if the user asked to stop.
    fn go_on(&self) -> Result<()> {
        if self.cx.cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn line(&mut self, line: LineRow) -> Result<()> {
        self.without_request.add(&line);
        self.into.line(line)
    }

    fn request(&mut self, request: Box<RequestRow>) -> Result<()> {
        self.without_request.found_request();
        if !self.filter.wants(request.cells.text(columns::ASSISTANT), request.time_ms) {
            self.n_unwanted += 1;
            self.into.passed_over(request.lines());
            return Ok(());
        }
        match self.ingest.sample_rows {
            None => self.into.request(*request)?,
            // Before sampling, so that another record takes its place in the sample.
            Some(_) if self.into.is_forgotten(request.content_key) => self.into.request(*request)?,
            Some(wanted) => self.sample(request, wanted),
        }
        Ok(())
    }

    /// Joins the batch lines and passes them on, after the last file.
    fn join(&mut self) -> Result<()> {
        std::mem::take(&mut self.waiting).join(|line| {
            self.go_on()?;
            match line {
                Joined::Request(request) => self.request(request),
                Joined::Answer(line) => self.line(line),
            }
        })
    }

    /// Keeps the records with the smallest hashes: a sample that does not depend on the order of files.
    fn sample(&mut self, request: Box<RequestRow>, wanted: u64) {
        let draw = xxh3_64_with_seed(&request.content_key.to_le_bytes(), self.cx.seed);
        self.n_drawn += 1;
        self.sample.insert((draw, request.content_key, request.place.line, self.n_drawn), request);
        if self.sample.len() as u64 > wanted
            && let Some((_, passed_over)) = self.sample.pop_last()
        {
            self.into.passed_over(passed_over.lines());
        }
    }

    fn write_sample(&mut self) -> Result<()> {
        let mut sample: Vec<Box<RequestRow>> = std::mem::take(&mut self.sample).into_values().collect();
        sample.sort_by_key(|request| (request.place.file, request.place.line));
        sample.into_iter().try_for_each(|request| {
            self.go_on()?;
            self.into.request(*request)
        })
    }
}

/// The bytes of a Parquet file that its first rows stand for.
fn share_of_rows(n_bytes: u64, n_rows_done: usize, n_rows: usize) -> u64 {
    let share = u128::from(n_bytes) * n_rows_done as u128 / n_rows.max(1) as u128;
    u64::try_from(share).unwrap_or(n_bytes)
}
