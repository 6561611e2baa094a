//! The rows of a finished run that a person may decide on: what the run held, its unverified entries, or the requests that
//! were answered in several ways.
//!
//! [`OpenRun::review`] returns them as a [`ReviewTable`]. Each row has all that a decision needs, in the order of the columns
//! of a review file (see [`FIELDS`]); `file` writes the table, and `decisions` reads such a file back. All texts are as the
//! run has them at its end, so personal values are placeholders where the pipeline redacts.

mod cells;
mod file;
mod row;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

pub(super) use self::cells::Noted;
use super::error::refuse;
use super::names::resolve;
use super::{Error, OpenRun};
use crate::columns::{ASSISTANT, RESPONSE, TIME_MS};
use crate::conversation::Message;
use crate::decisions::{OF_AN_ENTRY, UNSURE, decisions_on_held};
use crate::engine::corpus::Table;
use crate::engine::row_names::NamedRow;
use crate::engine::vocabulary::{Action, ColumnSpec, RowIx, TableId};
use crate::ingest::request_filter::RequestFilter;
use crate::reasons::unknown;
use crate::report::end_of_merges;
use crate::text::listed::listed;

pub use file::{ReviewFormat, check_review_file};
pub use row::{FIELDS, ReviewRow};

/// Digits of an id that are taken for the start of one.
pub(super) const LEAST_DIGITS: usize = 8;

/// The reason of a doc list all of whose requests are held or dropped.
const WAITING: &str = "cascade/no-request-left";

/// The set of unverified entries.
pub(super) const UNVERIFIED: &str = "unverified";

/// What is listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Selection {
    /// The rows that the run held.
    #[default]
    Held,
    /// The unverified entries of the dataset.
    Unverified,
    /// Kept requests of which equal requests have other answers; `ground_truth` has the suggested answer.
    Candidates,
}

/// Which rows are listed.
#[derive(Debug, Clone, Default)]
pub struct ReviewOptions {
    /// Held rows, or others.
    pub selection: Selection,
    /// Rows held, or listed, for this reason only, or for those of this topic: `answer`, `answer/*`.
    pub reason: Option<String>,
    /// Only these, each by any name that `callsieve why` takes. All if empty.
    pub ids: Vec<String>,
    /// Only these requests, and doc lists of such requests. By default all.
    pub filter: RequestFilter,
    /// The maximum number of rows.
    pub limit: Option<usize>,
    /// The decision that is filled in, in the rows that it can change. None if empty.
    pub decision: String,
}

impl ReviewOptions {
    /// Whether all held rows are listed.
    fn is_all(&self) -> bool {
        self.selection == Selection::Held
            && self.reason.is_none()
            && self.ids.is_empty()
            && self.limit.is_none()
            && self.filter.is_empty()
    }

    /// Whether rows with this code are listed.
    pub(super) fn is_wanted(&self, code: &str) -> bool {
        self.reason.as_ref().is_none_or(|wanted| is_of(code, wanted))
    }
}

/// The rows to decide on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReviewTable {
    /// The rows, requests before doc lists, each in the order of the inputs.
    pub rows: Vec<ReviewRow>,
    /// The number of held doc lists that are not among them because they only wait for their requests: a decision on the
    /// requests decides them too. 0 unless all held rows are listed.
    pub waiting_lists: u64,
}

impl ReviewTable {
    /// Returns the number of rows without a decision.
    pub fn undecided(&self) -> usize {
        self.rows.iter().filter(|row| row.decision.is_empty()).count()
    }
}

/// A row of the run: its table and its index.
type RowOfTable = (TableId, RowIx);

impl OpenRun {
    /// Returns the rows to decide on.
    ///
    /// # Errors
    /// No stage has such a reason, an id is none of a row that would be listed, the decision can change none of the rows, or
    /// a file of the run is damaged.
    pub fn review(&self, options: &ReviewOptions) -> Result<ReviewTable, Error> {
        self.check_reason(options)?;
        let noted = self.noted(options.selection)?;
        let ids: Vec<&str> = options.ids.iter().map(String::as_str).collect();
        let named = if ids.is_empty() { Vec::new() } else { resolve(self, &ids, LEAST_DIGITS)? };
        let filtered = self.filtered(&options.filter)?;
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for table in [&self.corpus.requests, &self.corpus.lists] {
            let is_filtered =
                |row: RowIx| filtered.as_ref().is_none_or(|rows| rows.contains(&(table.id(), row)));
            let mut wanted: Vec<RowIx> = (0..)
                .take(table.len())
                .filter(|&row| is_wanted(options, table, row, &noted) && is_filtered(row))
                .collect();
            wanted.sort_by_key(|&row| table.position(row));
            rows.extend(self.review_rows(table, &wanted, &noted)?);
            places.extend(wanted.iter().map(|&row| (table.id(), row)));
        }
        let named = self.check_names(options, &named, &places)?;
        let mut is_named = places.iter().map(|place| options.ids.is_empty() || named.contains(place));
        rows.retain(|_| is_named.next().unwrap_or_default());
        // What surprises most is read first; rows without a measure of it keep their order.
        rows.sort_by(|one, other| other.surprise().total_cmp(&one.surprise()));
        rows.truncate(options.limit.unwrap_or(usize::MAX));
        let may_be_in_vain =
            |row: &ReviewRow| row.reason.as_deref() == Some(UNSURE) && row.recorded_answer.is_null();
        let with_copy: BTreeSet<String> = if rows.iter().any(may_be_in_vain) {
            let copied = self.with_called_copy()?;
            copied.into_iter().map(|row| self.corpus.requests.row_id(row).to_string()).collect()
        } else {
            BTreeSet::new()
        };
        for row in &mut rows {
            let has_copies = with_copy.contains(&row.id);
            fill_in(row, options, has_copies);
        }
        let waiting_lists = if options.is_all() { self.waiting_lists() } else { 0 };
        let table = ReviewTable { rows, waiting_lists };
        check_decision(&table, &options.decision)?;
        Ok(table)
    }

    /// Returns the held requests into which one with a call was merged.
    pub(super) fn with_called_copy(&self) -> Result<FxHashSet<RowIx>, Error> {
        let requests = &self.corpus.requests;
        let is_held = |row: RowIx| requests.fate(row).is_some_and(|fate| fate.action == Action::Hold);
        let end_of = |row: RowIx| end_of_merges(requests, row);
        let is_copy = |&row: &RowIx| end_of(row) != row && is_held(end_of(row));
        let copies: Vec<RowIx> = (0..).take(requests.len()).filter(is_copy).collect();
        let mut found = FxHashSet::default();
        Self::each(requests, &copies, &[RESPONSE], |nth, cells, at| {
            let response =
                cells.text(RESPONSE, at).and_then(|text| serde_json::from_str::<Message>(text).ok());
            // Models write calls as a text, too.
            let is_called = |it: &Message| !it.calls.is_empty() || it.content.trim_start().starts_with('[');
            if response.as_ref().is_some_and(is_called) {
                found.insert(end_of(copies[nth]));
            }
        })?;
        Ok(found)
    }

    /// Returns the requests of a filter, with the doc lists that they were sent with and have now; `None` if all are wanted.
    fn filtered(&self, filter: &RequestFilter) -> Result<Option<BTreeSet<RowOfTable>>, Error> {
        if filter.is_empty() {
            return Ok(None);
        }
        let (requests, mut rows) = (&self.corpus.requests, BTreeSet::new());
        let mut assistants: BTreeSet<String> = BTreeSet::new();
        let columns: Vec<ColumnSpec> =
            [ASSISTANT, TIME_MS].into_iter().filter(|column| requests.has(*column)).collect();
        for batch in 0..requests.batches() {
            let cells = requests.read_batch(batch, &columns)?;
            for (at, row) in requests.rows_of_batch(batch).enumerate() {
                let assistant = columns.contains(&ASSISTANT).then(|| cells.text(ASSISTANT, at)).flatten();
                let time_ms = columns.contains(&TIME_MS).then(|| cells.int(TIME_MS, at)).flatten();
                if let Some(assistant) = assistant
                    && !assistants.contains(assistant)
                {
                    assistants.insert(assistant.to_owned());
                }
                if filter.wants(assistant, time_ms) {
                    let lists = [self.corpus.list[row as usize], self.corpus.origin[row as usize]];
                    rows.insert((TableId::Requests, row));
                    rows.extend(lists.map(|list| (TableId::DocLists, list)));
                }
            }
        }
        if let Some(unknown) = filter.unknown_assistant(&assistants) {
            let known = match assistants.len() {
                0 => "the log names no assistants".to_owned(),
                _ => format!("the assistants of the log are {}", listed(assistants.iter(), "assistants")),
            };
            return refuse(format!(
                "{}: no request is of the assistant {unknown}\nhint: {known}",
                self.folder.display()
            ));
        }
        Ok(Some(rows))
    }

    pub(super) fn check_reason(&self, options: &ReviewOptions) -> Result<(), Error> {
        let known = || self.registry.reasons().into_iter().map(|(_, known)| known.code);
        match &options.reason {
            Some(code) if !known().any(|known| is_of(known, code)) && !is_of(WAITING, code) => {
                refuse(unknown(code, known()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the rows that the ids name. Each id names a row that is listed, and only one if a decision is filled in.
    fn check_names(
        &self,
        options: &ReviewOptions,
        named: &[Vec<NamedRow>],
        places: &[RowOfTable],
    ) -> Result<BTreeSet<RowOfTable>, Error> {
        let folder = self.folder.display();
        let named: Vec<BTreeSet<RowOfTable>> =
            named.iter().map(|named| named.iter().map(|row| (row.table, row.row)).collect()).collect();
        let n_listed =
            |named: &BTreeSet<RowOfTable>| places.iter().filter(|place| named.contains(place)).count();
        let with_ids = || options.ids.iter().zip(&named);
        let several = with_ids().find(|(_, named)| n_listed(named) > 1);
        if let (Some((id, _)), false) = (several, options.decision.is_empty()) {
            return refuse(format!(
                "{folder}: several of the rows that are listed have the id \"{id}\", and the decision would be on all of them\nhint: list them without a decision, and name each by its request id"
            ));
        }
        if let Some((missing, _)) = with_ids().find(|(_, named)| n_listed(named) == 0) {
            let (what, other) = match options.selection {
                Selection::Unverified => ("unverified entry", "without --unverified held rows are listed"),
                Selection::Candidates => {
                    ("row with other answers", "without --candidates held rows are listed")
                }
                Selection::Held => ("held row", "--unverified lists unverified entries"),
            };
            return refuse(format!(
                "{folder}: no {what} has the id \"{missing}\"\nhint: {other}; `callsieve why {folder} {missing}` shows what became of it"
            ));
        }
        Ok(named.into_iter().flatten().collect())
    }

    fn waiting_lists(&self) -> u64 {
        let lists = &self.corpus.lists;
        let is_waiting = |&row: &RowIx| {
            lists.fate(row).is_some_and(|fate| fate.action == Action::Hold && fate.reason.code == WAITING)
        };
        (0..).take(lists.len()).filter(is_waiting).count() as u64
    }
}

pub(super) fn is_wanted(options: &ReviewOptions, table: &Table, row: RowIx, noted: &Noted) -> bool {
    let (id, is_request) = (table.row_id(row).0, table.id() == TableId::Requests);
    match options.selection {
        Selection::Candidates => {
            let suggestion = noted.suggestions.get(&id);
            let is_suggested = suggestion.is_some_and(|suggestion| options.is_wanted(&suggestion.reason));
            is_request && table.is_kept(row) && is_suggested
        }
        Selection::Unverified => {
            is_request && noted.entries.get(&id).is_some_and(|(set, _)| set == UNVERIFIED)
        }
        Selection::Held => table.fate(row).is_some_and(|fate| {
            let code = fate.reason.code;
            // A list that waits for its requests is decided with them, unless it is named.
            let is_waiting = code == WAITING && options.reason.is_none() && options.ids.is_empty();
            fate.action == Action::Hold && !is_waiting && options.is_wanted(code)
        }),
    }
}

/// Fills in the possible decisions of a row, and the given one if it is possible.
fn fill_in(row: &mut ReviewRow, options: &ReviewOptions, has_copies: bool) {
    let table = if row.table == TableId::DocLists.name() { TableId::DocLists } else { TableId::Requests };
    let possible = match (options.selection, &row.reason) {
        (Selection::Held, Some(reason)) => {
            decisions_on_held(table, reason, !row.recorded_answer.is_null(), has_copies)
        }
        _ => OF_AN_ENTRY.to_vec(),
    };
    row.possible_decisions = possible.join(", ");
    if possible.contains(&options.decision.as_str()) {
        row.decision.clone_from(&options.decision);
    }
}

/// Checks that a decision can change one of the rows.
fn check_decision(table: &ReviewTable, decision: &str) -> Result<(), Error> {
    match table.rows.first() {
        Some(row) if !decision.is_empty() && table.undecided() == table.rows.len() => refuse(format!(
            "{decision} can change no row that is listed\nhint: these can change {} ({}): {}",
            row.entry_id.as_deref().or(row.external_id.as_deref()).unwrap_or(&row.id),
            row.reason.as_deref().unwrap_or(row.table),
            row.possible_decisions
        )),
        _ => Ok(()),
    }
}

/// Whether a reason code is the given one, or one of the given topic: `answer`, `answer/*`.
fn is_of(code: &str, wanted: &str) -> bool {
    let topic = wanted.trim_end_matches('*').trim_end_matches('/');
    code == wanted || code.split_once('/').is_some_and(|(of, _)| of == topic)
}
