//! Parses the lines of the sample to records, or to reasons with places.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::form::form_of_bytes;
use super::sample::Sampled;
use crate::ingest::fate::{Line, LineFate, Record};
use crate::ingest::log_formats::Columns;
use crate::ingest::read::{Block, Item, Position};
use crate::ingest::reasons::{
    CUT_FILE, ItemFault, LINE_TOO_LONG, NO_FUNCTIONS, NO_MESSAGES, NOT_JSON, RAGGED_ROW, REASONS,
};
use crate::ingest::record::records_of;
use crate::ingest::request_filter::RequestFilter;

/// The lines without a request for one reason.
#[derive(Debug, Default, Clone, Serialize)]
pub struct UnreadLines {
    /// The number of lines.
    pub lines: u64,
    /// What was found in the first of them.
    pub detail: String,
    /// The places of the first ones: `file:line`.
    pub at: Vec<String>,
    /// The form of the first one, with masked words.
    pub form: String,
}

/// The maximum number of reported places of one reason.
const PLACES: usize = 3;
/// The maximum number of reported characters of a line.
const FORM_CHARS: usize = 100;

/// The parsed lines of a sample.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Requests, in order.
    pub(super) records: Vec<Record>,
    /// The file number of each request.
    pub(super) files: Vec<usize>,
    /// The position of each request in its file.
    pub(super) positions: Vec<Position>,
    /// Requests that were removed because they are not wanted.
    pub(super) unwanted: u64,
    /// Lines that hold the answer to the request of another line.
    pub(super) answers: u64,
    /// Lines without one.
    pub(super) no_request: BTreeMap<&'static str, UnreadLines>,
    /// Lines that cannot be read.
    pub(super) unreadable: BTreeMap<&'static str, UnreadLines>,
    /// File, block and item of lines without a request, in order.
    pub(super) left_over: Vec<(usize, usize, usize)>,
}

impl Lines {
    /// Parses the lines with some column names.
    pub(super) fn read(sampled: &[Sampled], columns: &Columns) -> Self {
        let mut lines = Self::default();
        for (at, file) in sampled.iter().enumerate() {
            let read: Vec<Vec<Line>> =
                file.blocks.par_iter().map(|block| records_of(block, columns, None)).collect();
            for (block_at, (block, read)) in file.blocks.iter().zip(read).enumerate() {
                let mut items = block.items.iter().enumerate();
                let mut current = None;
                for line in read {
                    // An item with several requests has a line for each.
                    current = if line.part == 0 { items.next() } else { current };
                    let Some((item_at, item)) = current else { continue };
                    if matches!(line.fate, LineFate::NoRequest(_)) {
                        lines.left_over.push((at, block_at, item_at));
                    }
                    lines.take((at, file), block, item, line);
                }
            }
        }
        lines
    }

    /// Removes the requests that are not wanted.
    pub(super) fn keep_requests(&mut self, wanted: &RequestFilter) {
        let is_wanted: Vec<bool> = self
            .records
            .iter()
            .map(|record| wanted.wants(record.facts.assistant.as_deref(), record.facts.time_ms))
            .collect();
        self.unwanted = is_wanted.iter().filter(|is_wanted| !**is_wanted).count() as u64;
        let kept = |at: &mut usize| {
            *at += 1;
            is_wanted[*at - 1]
        };
        let (mut record, mut file, mut position) = (0, 0, 0);
        self.records.retain(|_| kept(&mut record));
        self.files.retain(|_| kept(&mut file));
        self.positions.retain(|_| kept(&mut position));
    }

    fn take(&mut self, (number, file): (usize, &Sampled), block: &Block, item: &Item, line: Line) {
        let (left, fault) = match line.fate {
            LineFate::Record(record) => {
                self.records.push(*record);
                self.positions.push(item.position());
                return self.files.push(number);
            }
            LineFate::Answer(_) => {
                self.answers += 1;
                return;
            }
            LineFate::NoRequest(fault) => (&mut self.no_request, fault),
            LineFate::Unreadable(fault) => (&mut self.unreadable, fault),
        };
        let entry = left.entry(fault.reason).or_default();
        entry.lines += line.n_items;
        if entry.at.is_empty() {
            entry.detail = detail_of(&fault);
            entry.form = item.bytes.as_ref().map_or_else(
                |_| String::new(),
                |range| form_of_bytes(&block.text[range.clone()], FORM_CHARS),
            );
        }
        if entry.at.len() < PLACES {
            entry.at.push(file.place(item.position()));
        }
    }
}

/// Reasons whose details hold only numbers and fixed words; other details can quote a key or a role of the line.
const PLAIN_DETAILS: [&str; 6] = [NOT_JSON, LINE_TOO_LONG, CUT_FILE, RAGGED_ROW, NO_FUNCTIONS, NO_MESSAGES];

fn detail_of(fault: &ItemFault) -> String {
    if PLAIN_DETAILS.contains(&fault.reason) {
        return fault.detail.clone();
    }
    let reason = REASONS.iter().find(|reason| reason.code == fault.reason);
    reason.map(|reason| reason.sentence.to_owned()).unwrap_or_default()
}
