//! Writes the ingest step from what a source reads.
//!
//! Requests are written in batches. The fate of each line is counted here, so that the runner can compare the counts
//! with those of the source.

use std::collections::BTreeMap;

use super::lines::{JOINED, LineWithoutRow, LineWriter};
use super::lists::{ListWriter, WrittenLists};
use super::pending::Pending;
use super::row_index::{RowIndex, write_row_index};
use super::rows::{DocListRow, InputsRead, LineRow, RequestRow, SourcePlace};
use super::{
    CutFile, IngestCounts, IngestManifest, LINES, LIST_INDEX, LISTS, REQUEST_INDEX, REQUESTS, tables,
};
use crate::background_writer::BackgroundWriter;
use crate::corpus::{Cells, Corpus};
use crate::division::BatchRows;
use crate::error::Result;
use crate::folder::Step;
use crate::forgotten::{FORGOTTEN, Forgotten};
use crate::frame::FrameWriter;
use crate::vocabulary::{ColumnSpec, TableId};
use callsieve_system::memory::Memory;

/// Receives rows and writes the ingest step.
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
    /// Starts the step. The background writer writes it in batches of limited size; `columns` are the columns of both
    /// tables that the source declares. Forgotten records get no row.
    pub(crate) fn new(
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

    /// Returns the counts of lines by fate so far; the source counts their total.
    pub(crate) fn counts(&self) -> &IngestCounts {
        &self.counts
    }

    /// Returns the number of requests so far.
    pub fn records(&self) -> u64 {
        self.counts.records
    }

    /// Returns `true` if the record of this content was forgotten.
    pub fn is_forgotten(&self, content_key: u128) -> bool {
        self.forgotten.holds(content_key)
    }

    /// Returns `true` if the text of a doc list is stored, so that a request with its hash needs no text.
    pub fn has_list(&self, content_key: u128) -> bool {
        self.lists.has(content_key)
    }

    /// Adds a request; the text of its doc list is stored once. Of a forgotten one only the line is recorded.
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

    /// Adds a doc list without a request; equal lists are stored once.
    ///
    /// # Errors
    /// As [`Intake::request`].
    pub fn doc_list(&mut self, place: SourcePlace, list: DocListRow) -> Result<()> {
        self.counts.lists_alone += 1;
        self.lists.alone(place, list)
    }

    /// Records the lines of a forgotten request.
    fn note_forgotten(&mut self, row: &RequestRow) -> Result<()> {
        [Some(row.place), row.joined].into_iter().flatten().try_for_each(|place| {
            self.counts.forgotten += 1;
            self.note(LineWithoutRow::of(place, FORGOTTEN.code, "forgotten"))
        })
    }

    /// Records the line of a request's answer.
    fn note_joined(&mut self, place: SourcePlace, row: &RequestRow) -> Result<()> {
        self.counts.joined += 1;
        self.note(LineWithoutRow {
            into: Some(row.place),
            ..LineWithoutRow::of(place, JOINED.code, "joined-into")
        })
    }

    /// Adds a line without a request.
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
        let noted = LineWithoutRow::of(line.place, line.reason, fate);
        self.note(LineWithoutRow { detail: line.detail, n_lines: line.n_lines, ..noted })
    }

    fn note(&mut self, line: LineWithoutRow) -> Result<()> {
        *self.line_reasons.entry(line.reason.to_owned()).or_default() += line.n_lines;
        self.lines.push(line)
    }

    /// Records that the input's records are identified by number, because a line may hold several or a part of one.
    pub fn name_by_record(&mut self, file: u32) {
        self.by_record.push(file);
    }

    /// Counts lines that a limit skipped.
    pub fn passed_over(&mut self, lines: u64) {
        self.counts.not_sampled += lines;
    }

    fn write_requests(&mut self) -> Result<()> {
        self.request_batches.push(self.pending.write_to(&mut self.requests)?);
        Ok(())
    }

    /// Writes the remaining rows, the row index and the manifest. Returns the tables that [`super::load`] would read.
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
            notes: read.notes,
            request_batches: self.request_batches,
            list_batches,
            purged: false,
            seconds,
            memory: Memory::now(),
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
