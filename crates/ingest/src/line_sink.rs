//! What becomes of the lines of the inputs: limits and samples, and lines that need others.
//!
//! Nothing is dropped here: a line without a request is recorded with its reason. Sampling and limits only decide which records are
//! passed on.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::batch::{Joined, Waiting};
use crate::input_files::Taker;
use crate::known_lists::{KnownLists, SentList};
use crate::no_request::LinesWithoutRequest;
use crate::reader_threads::{ReadFile, Ready, ReadyRow};
use crate::request_filter::RequestFilter;
use crate::source::Ingest;
use callsieve_engine::columns;
use callsieve_engine::context::Context;
use callsieve_engine::error::{Error, Result};
use callsieve_engine::raw::{InputsRead, Intake, LineRow, RequestRow};
use callsieve_text::figures::counted;

/// Receives lines in order and passes them on, or samples them.
pub(super) struct LineSink<'a, 'c> {
    ingest: &'a Ingest,
    filter: RequestFilter,
    /// The number of requests that the filter left out.
    n_unwanted: u64,
    cx: &'a Context<'c>,
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

impl<'a, 'c> LineSink<'a, 'c> {
    /// Passes lines on to `into`.
    ///
    /// # Errors
    /// The settings of the filter are wrong.
    pub(super) fn new(
        ingest: &'a Ingest,
        known_lists: &'a KnownLists,
        into: &'a mut Intake,
        cx: &'a Context<'c>,
    ) -> Result<Self> {
        Ok(Self {
            ingest,
            filter: ingest.filter()?,
            n_unwanted: 0,
            cx,
            into,
            known_lists,
            waiting: Waiting::default(),
            sample: BTreeMap::new(),
            n_drawn: 0,
            n_further_parts: 0,
            item_is_read: false,
            without_request: LinesWithoutRequest::default(),
        })
    }

    /// Ends the reading of these files, one for each input, and passes on what waited for all of them.
    ///
    /// # Errors
    /// No request was read, or the user asked to stop.
    pub(super) fn finish(mut self, files: Vec<ReadFile>) -> Result<InputsRead> {
        let mut read = InputsRead::default();
        let mut without_row = Vec::new();
        for (number, file) in (0..).zip(files) {
            if file.by_record {
                self.into.name_by_record(number);
            }
            if file.n_items == 0 && file.input.bytes > 0 {
                without_row.push(file.input.path.clone());
            }
            read.inputs.push(file.input);
            read.items += file.n_items;
        }
        // Without a row at all, the run reports that its inputs are empty.
        if let Some(first) = without_row.first().filter(|_| read.items > 0) {
            let n_files = counted(
                without_row.len() as u64,
                "input has bytes and no row",
                "inputs have bytes and no row",
            );
            self.cx.progress.warn(&format!(
                "{n_files}: {first}{}\nhint: `callsieve inspect {first}` shows how it is read",
                if without_row.len() > 1 { ", …" } else { "" }
            ));
        }
        self.join()?;
        self.write_sample()?;
        read.further_parts = self.n_further_parts;
        self.without_request.check(&read.inputs)?;
        if self.n_unwanted > 0 && self.into.records() == 0 {
            return Err(Error::NoRequest(format!(
                "none of {} is of the assistants and the period that are set\nhint: `callsieve inspect` shows the times and how many assistants there are",
                counted(self.n_unwanted, "request", "requests")
            )));
        }
        Ok(read)
    }

    /// Returns `true` if the text of a doc list is stored.
    pub(super) fn has_list(&self, content_key: u128) -> bool {
        self.into.has_list(content_key)
    }

    fn is_full(&self) -> bool {
        self.ingest.limit.is_some_and(|limit| self.into.records() + self.waiting.n_requests() >= limit)
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

impl Taker for LineSink<'_, '_> {
    // The limit is reached, and no request waits for its answer.
    fn wants_no_more(&self) -> bool {
        self.is_full() && self.waiting.n_requests() == 0
    }

    fn pass_over(&mut self, n_lines: u64) {
        self.into.passed_over(n_lines);
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
}
