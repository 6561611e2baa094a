//! Takes what a source reads, and writes the ingest step.
//!
//! Requests go out in batches as they come. What becomes of each line is counted here, so that the runner can compare it
//! with the lines that the source saw.

use std::collections::BTreeMap;

use super::lines::{JOINED, LineWriter, Noted};
use super::lists::{ListWriter, WrittenLists};
use super::pending::Pending;
use super::row_index::{RowIndex, write_row_index};
use super::rows::{DocListRow, InputsRead, LineRow, Place, RequestRow};
use super::{
    CutFile, IngestCounts, IngestManifest, LINES, LIST_INDEX, LISTS, REQUEST_INDEX, REQUESTS, tables,
};
use crate::engine::background_writer::BackgroundWriter;
use crate::engine::corpus::{Cells, Corpus};
use crate::engine::error::Result;
use crate::engine::folder::Step;
use crate::engine::forgotten::{FORGOTTEN, Forgotten};
use crate::engine::frame::FrameWriter;
use crate::engine::part::BatchRows;
use crate::engine::vocabulary::{ColumnSpec, TableId};

/// Takes rows and writes the ingest step.
pub struct Intake {
    step: Step,
    background_writer: BackgroundWriter,
    requests: FrameWriter,
    pending: Pending,
    request_batches: Vec<usize>,
    lists: ListWriter,
    lines: LineWriter,
    row_index: RowIndex,
    forgotten: Forgotten,
    counts: IngestCounts,
    line_reasons: BTreeMap<String, u64>,
    cut_files: Vec<CutFile>,
    by_record: Vec<u32>,
    log_formats: BTreeMap<&'static str, u64>,
}

impl Intake {
    /// Starts the step, which the background writer writes in batches of at most so many rows; `columns` are those of both tables
    /// that the source declares. Records that are on the list of forgotten ones get no row.
    pub(in crate::engine) fn new(
        step: Step,
        columns: &[ColumnSpec],
        forgotten: Forgotten,
        batch_rows: BatchRows,
        background_writer: &BackgroundWriter,
    ) -> Self {
        Self {
            requests: FrameWriter::create_private(&step.file(REQUESTS)).held_by(background_writer),
            lists: ListWriter::create(&step.file(LISTS), columns, batch_rows, background_writer),
            lines: LineWriter::create(&step.file(LINES), batch_rows, background_writer),
            row_index: RowIndex::default(),
            step,
            background_writer: background_writer.clone(),
            forgotten,
            pending: Pending::of(TableId::Requests, columns, batch_rows),
            request_batches: Vec::new(),
            counts: IngestCounts::default(),
            line_reasons: BTreeMap::new(),
            cut_files: Vec::new(),
            by_record: Vec::new(),
            log_formats: BTreeMap::new(),
        }
    }

    /// What became of the lines so far; how many there are in all is for the source to say.
    pub(in crate::engine) fn counts(&self) -> &IngestCounts {
        &self.counts
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
    pub fn request(&mut self, row: RequestRow) -> Result<()> {
        if self.is_forgotten(row.content_key) {
            return self.note_forgotten(&row);
        }
        if let Some(place) = row.joined {
            self.note_joined(place, &row)?;
        }
        self.counts.records += 1;
        *self.log_formats.entry(row.log_format).or_default() += 1;
        let (content_key, time_ms, place) = (row.content_key, row.time_ms, row.place);
        let list = self.lists.intern(row.list)?;
        self.row_index.push(content_key, time_ms, place, list);
        self.pending.push(row.cells)?;
        if self.pending.is_full() {
            self.write_requests()?;
        }
        Ok(())
    }

    /// Adds a doc list that comes without a request; it is kept once, whoever else has it.
    ///
    /// # Errors
    /// As [`Intake::request`].
    pub fn doc_list(&mut self, place: Place, list: DocListRow) -> Result<()> {
        self.counts.lists_alone += 1;
        self.lists.alone(place, list)
    }

    /// Notes the lines of a request that somebody asked to forget.
    fn note_forgotten(&mut self, row: &RequestRow) -> Result<()> {
        [Some(row.place), row.joined].into_iter().flatten().try_for_each(|place| {
            self.counts.forgotten += 1;
            self.note(Noted::of(place, FORGOTTEN.code, "forgotten"))
        })
    }

    /// Notes the line that a request's answer stood in.
    fn note_joined(&mut self, place: Place, row: &RequestRow) -> Result<()> {
        self.counts.joined += 1;
        self.note(Noted { into: Some(row.place), ..Noted::of(place, JOINED.code, "joined-into") })
    }

    /// Adds a line that gave no request.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn line(&mut self, line: LineRow) -> Result<()> {
        let sum = if line.unreadable { &mut self.counts.unreadable } else { &mut self.counts.no_request };
        *sum += line.n_lines;
        if line.ends_file {
            self.cut_files.push(CutFile { file: line.place.file, detail: line.detail.clone() });
        }
        let fate = if line.unreadable { "unreadable" } else { "no-request" };
        let noted = Noted::of(line.place, line.reason, fate);
        self.note(Noted { detail: line.detail, n_lines: line.n_lines, ..noted })
    }

    fn note(&mut self, line: Noted) -> Result<()> {
        *self.line_reasons.entry(line.reason.to_owned()).or_default() += line.n_lines;
        self.lines.push(line)
    }

    /// Notes that a record of this input is named by its number: a line of it may hold several, or be one of several.
    pub fn name_by_record(&mut self, file: u32) {
        self.by_record.push(file);
    }

    /// Counts lines that a limit passed over.
    pub fn passed_over(&mut self, lines: u64) {
        self.counts.not_sampled += lines;
    }

    fn write_requests(&mut self) -> Result<()> {
        self.request_batches.push(self.pending.write_to(&mut self.requests)?);
        Ok(())
    }

    /// Writes what is left, the row index and the manifest. Gives the tables that [`super::load`] would read back.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self, key: String, read: InputsRead, seconds: f64) -> Result<(IngestManifest, Corpus)> {
        if !self.pending.is_empty() || self.request_batches.is_empty() {
            self.write_requests()?;
        }
        let requests = self.requests.finish()?;
        let lists = self.lists.finish()?;
        let WrittenLists { ids: list_ids, lines, batches: list_batches, columns: list_columns, held: lists } =
            lists;
        self.lines.finish()?;
        self.counts.lines = read.lines();
        self.counts.doc_lists = list_ids.len() as u64;
        let indexes = self.row_index.finish(list_ids, &lines)?;
        let manifest = IngestManifest {
            key,
            inputs: read.inputs,
            counts: self.counts,
            line_reasons: self.line_reasons,
            cut_files: self.cut_files,
            by_record: self.by_record,
            log_formats: self
                .log_formats
                .into_iter()
                .map(|(log_format, n)| (log_format.to_owned(), n))
                .collect(),
            request_batches: self.request_batches,
            list_batches,
            purged: false,
            seconds,
        };
        let files = [self.step.done_file(REQUESTS), self.step.done_file(LISTS)];
        let (step, written, to_write) = (self.step, manifest.clone(), indexes.clone());
        self.background_writer.push(move || {
            write_row_index(&step.file(REQUEST_INDEX), &to_write.0)?;
            write_row_index(&step.file(LIST_INDEX), &to_write.1)?;
            step.finish(&written)
        })?;
        let (of_requests, of_lists) = (
            Cells::written(requests, &files[0], &self.background_writer)?,
            Cells::written(lists, &files[1], &self.background_writer)?,
        );
        let mut corpus = tables(&manifest, indexes);
        corpus.requests.add_columns(&self.pending.columns(), of_requests);
        corpus.lists.add_columns(&list_columns, of_lists);
        Ok((manifest, corpus))
    }
}
