//! The rows of a finished run on the page of `callsieve review`.
//!
//! [`OpenRun::reviewing`] chooses the rows and returns what the server of `crates/review` needs: `source` reads rows as items, `item`
//! maps them, `checker` validates edits with the checks that a run makes. [`OpenRun::export_reviews`] returns the decisions that were
//! made, for a file. Nothing here writes into the run.

mod checker;
mod evidence;
mod export;
mod import;
mod item;
mod judges;
mod label_studio;
mod possible;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use callsieve_review::item::Table as ItemTable;
use callsieve_review::server::{Checker, Source};
use callsieve_review::store::{Export, History, Line, Reviews};

use self::checker::RunChecker;
pub use self::import::ImportedReviews;
use self::judges::Judgements;
use self::source::RunSource;
use super::error::refuse;
use super::options::quoted;
use super::review::{ReviewOptions, Selection, is_wanted};
use super::{Error, OpenRun};
use crate::columns::{JUDGEMENTS, MESSAGES, TEXT};
use crate::content_hash::content_hash;
use crate::engine::corpus::{RowId, Table};
use crate::engine::decision::digest;
use crate::engine::layout::DECISIONS;
use crate::engine::vocabulary::{Action, ColumnSpec, RowIx, TableId};
use crate::jobs::{Job as _, instruct};

/// Which rows are reviewed.
#[derive(Debug, Clone, Default)]
pub struct ReviewingOptions {
    /// Only rows with this reason, or a reason of this topic: `answer`, `answer/*`.
    pub reason: Option<String>,
    /// Only the unverified entries of the dataset.
    pub unverified: bool,
    /// How many of the rows that were dropped or merged for each reason are reviewed as well, and of the instructions that were kept.
    pub sample: usize,
}

/// Why a row is reviewed: held rows come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Held,
    Entry,
    /// It is in an instruction set, and its judges disagree about its answer.
    Disputed,
    Sampled,
    /// It is in an instruction set, and was drawn.
    Kept,
    /// A reviewer decided on it, and it is none of the others now: for a change of mind.
    Decided,
}

/// A row to review.
#[derive(Debug, Clone, Copy)]
struct Place {
    kind: Kind,
    table: TableId,
    row: RowIx,
}

/// What the server of a review needs.
pub struct Reviewing {
    /// The rows.
    pub source: Arc<dyn Source>,
    /// The validator of edits.
    pub checker: Arc<dyn Checker>,
    /// The number of rows.
    pub n_rows: usize,
    /// The folder of the decisions.
    pub folder: PathBuf,
    /// The command that runs the pipeline again, so that the decisions apply; empty if the run has none.
    pub command: String,
}

/// The decisions of all reviewers, for a file.
#[derive(Debug, Clone)]
pub struct ExportedReviews {
    /// The lines, and what is not among them.
    pub export: Export,
    /// The folder of the decisions.
    pub folder: PathBuf,
}

impl OpenRun {
    /// Returns the rows to review with a validator of edits.
    ///
    /// # Errors
    /// No stage has such a reason, or a file of the run is damaged.
    pub fn reviewing(self, options: &ReviewingOptions) -> Result<Reviewing, Error> {
        let review = ReviewOptions { reason: options.reason.clone(), ..ReviewOptions::default() };
        self.check_reason(&review)?;
        let folder = self.folder.join(DECISIONS);
        let words = self.file.command.iter().filter(|word| *word != "--fresh").map(|word| quoted(word));
        let command = words.collect::<Vec<_>>().join(" ");
        let checker = Arc::new(RunChecker::of(&self)?);
        let places = self.places(options, &review)?;
        let n_rows = places.len();
        let source = Arc::new(RunSource::new(self, places)?);
        Ok(Reviewing { source, checker, n_rows, folder, command })
    }

    fn places(&self, options: &ReviewingOptions, review: &ReviewOptions) -> Result<Vec<Place>, Error> {
        let noted = self.noted(Selection::Held)?;
        let of_entries = ReviewOptions { selection: Selection::Unverified, ..ReviewOptions::default() };
        let mut places = Vec::new();
        for table in [&self.corpus.requests, &self.corpus.lists] {
            let rows = |kind, options: &ReviewOptions| {
                let wanted = (0..).take(table.len()).filter(|&row| is_wanted(options, table, row, &noted));
                wanted.map(|row| Place { kind, table: table.id(), row }).collect::<Vec<_>>()
            };
            if !options.unverified {
                places.extend(rows(Kind::Held, review));
                places.extend(self.sampled(table, options));
                let disputed = self.disputed(table, options)?;
                places.extend(self.sampled_instructions(table, options, &disputed));
                places.extend(disputed);
            }
            if options.unverified || options.reason.is_none() {
                places.extend(rows(Kind::Entry, &of_entries));
            }
        }
        if !options.unverified && options.reason.is_none() {
            places.extend(self.decided(&places)?);
        }
        Ok(places)
    }

    /// Returns the rows that reviewers decided on and that are not among these.
    fn decided(&self, places: &[Place]) -> Result<Vec<Place>, Error> {
        let reviews =
            Reviews::read(&self.folder.join(DECISIONS)).or_else(|error| refuse(error.to_string()))?;
        let lines = reviews.reviewers().filter_map(|name| reviews.of(name)).flat_map(History::iter);
        let key = |line: &Line| (line.table == ItemTable::Requests, RowId::number(&line.id));
        let ids: BTreeSet<(bool, Option<u128>)> = lines.map(key).collect();
        let known: BTreeSet<(TableId, RowIx)> = places.iter().map(|place| (place.table, place.row)).collect();
        let mut decided = Vec::new();
        for table in [&self.corpus.requests, &self.corpus.lists] {
            let is_request = table.id() == TableId::Requests;
            let is_new = |&row: &RowIx| {
                ids.contains(&(is_request, Some(table.row_id(row).0))) && !known.contains(&(table.id(), row))
            };
            let rows = (0..).take(table.len()).filter(is_new);
            decided.extend(rows.map(|row| Place { kind: Kind::Decided, table: table.id(), row }));
        }
        Ok(decided)
    }

    /// Draws rows of each reason of drops and merges. The draw depends on the seed of the run and the ids of the rows only.
    fn sampled(&self, table: &Table, options: &ReviewingOptions) -> Vec<Place> {
        let review = ReviewOptions { reason: options.reason.clone(), ..ReviewOptions::default() };
        let mut by_reason: BTreeMap<&str, Vec<(u128, RowIx)>> = BTreeMap::new();
        for row in (0..).take(if options.sample == 0 { 0 } else { table.len() }) {
            let Some(fate) = table.fate(row).filter(|fate| fate.action != Action::Hold) else { continue };
            // What follows from other rows, or from people, is no judgement of a stage.
            let is_judged =
                !["cascade/", "decision/"].iter().any(|topic| fate.reason.code.starts_with(topic));
            if is_judged && review.is_wanted(fate.reason.code) && !self.is_of_its_list(table, row) {
                let draw = content_hash(format!("{} {}", self.file.seed, table.row_id(row)));
                by_reason.entry(fate.reason.code).or_default().push((draw, row));
            }
        }
        let draw = |mut rows: Vec<(u128, RowIx)>| {
            rows.sort_unstable();
            rows.truncate(options.sample);
            rows
        };
        let rows = by_reason.into_values().flat_map(draw);
        rows.map(|(_, row)| Place { kind: Kind::Sampled, table: table.id(), row }).collect()
    }

    /// Returns the instructions that were kept although their judges disagree.
    fn disputed(&self, table: &Table, options: &ReviewingOptions) -> Result<Vec<Place>, Error> {
        if !self.has_instructions(table, options) {
            return Ok(Vec::new());
        }
        let kept: Vec<RowIx> = (0..).take(table.len()).filter(|&row| table.is_kept(row)).collect();
        let mut disputed = Vec::new();
        Self::each(table, &kept, &[JUDGEMENTS], |nth, cells, at| {
            let judgements: Option<Judgements> =
                cells.text(JUDGEMENTS, at).and_then(|text| serde_json::from_str(text).ok());
            if judgements.is_some_and(|judgements| judgements.disagree()) {
                disputed.push(Place { kind: Kind::Disputed, table: table.id(), row: kept[nth] });
            }
        })?;
        Ok(disputed)
    }

    /// Whether instructions that were kept are reviewed as well.
    fn has_instructions(&self, table: &Table, options: &ReviewingOptions) -> bool {
        table.id() == TableId::Requests
            && options.reason.is_none()
            && self.job().name() == instruct::Instruct.name()
    }

    /// Draws instructions that were kept: no rule found anything wrong with them. Other jobs have held rows and entries to look at.
    fn sampled_instructions(
        &self,
        table: &Table,
        options: &ReviewingOptions,
        disputed: &[Place],
    ) -> Vec<Place> {
        let is_wanted = options.sample > 0 && self.has_instructions(table, options);
        let n_rows = if is_wanted { table.len() } else { 0 };
        let disputed: BTreeSet<RowIx> = disputed.iter().map(|place| place.row).collect();
        let draw = |row: RowIx| (content_hash(format!("{} {}", self.file.seed, table.row_id(row))), row);
        let mut drawn: Vec<(u128, RowIx)> = (0..)
            .take(n_rows)
            .filter(|row| table.is_kept(*row) && !disputed.contains(row))
            .map(draw)
            .collect();
        drawn.sort_unstable();
        drawn.truncate(options.sample);
        drawn.into_iter().map(|(_, row)| Place { kind: Kind::Kept, table: table.id(), row }).collect()
    }

    /// Whether a request has the fate of its doc list, so that no decision on the request changes it.
    fn is_of_its_list(&self, table: &Table, row: RowIx) -> bool {
        if table.id() != TableId::Requests {
            return false;
        }
        let of_list = self.corpus.lists.fate(self.corpus.list[row as usize]);
        of_list.is_some_and(|of_list| {
            table.fate(row).is_some_and(|fate| fate.reason.code == of_list.reason.code)
        })
    }

    /// Returns the decisions of all reviewers on rows that have the content that was decided on.
    ///
    /// # Errors
    /// A file of decisions or of the run is damaged.
    pub fn export_reviews(&self) -> Result<ExportedReviews, Error> {
        let folder = self.folder.join(DECISIONS);
        let reviews = Reviews::read(&folder).or_else(|error| refuse(error.to_string()))?;
        let lines: Vec<&Line> =
            reviews.reviewers().filter_map(|name| reviews.of(name)).flat_map(History::iter).collect();
        let mut digests = BTreeMap::new();
        for (table, of, column) in [
            (&self.corpus.requests, ItemTable::Requests, MESSAGES),
            (&self.corpus.lists, ItemTable::DocLists, TEXT),
        ] {
            let ids: BTreeSet<u128> = lines
                .iter()
                .filter(|line| line.table == of)
                .filter_map(|line| RowId::number(&line.id))
                .collect();
            let wanted: Vec<RowIx> =
                (0..).take(table.len()).filter(|&row| ids.contains(&table.row_id(row).0)).collect();
            for (row, digest) in wanted.iter().zip(Self::digests(table, &wanted, column)?) {
                digests.insert((of == ItemTable::Requests, table.row_id(*row).to_string()), digest);
            }
        }
        let is_current = |line: &Line| {
            digests
                .get(&(line.table == ItemTable::Requests, line.id.clone()))
                .is_some_and(|is| *is == line.was)
        };
        Ok(ExportedReviews { export: reviews.export(is_current), folder })
    }

    /// Returns the digests by which decisions recognise the content of rows.
    fn digests(table: &Table, wanted: &[RowIx], column: ColumnSpec) -> Result<Vec<String>, Error> {
        let mut digests = vec![String::new(); wanted.len()];
        Self::each(table, wanted, &[column], |nth, cells, at| {
            digests[nth] = digest(cells.text(column, at).unwrap_or_default());
        })?;
        Ok(digests)
    }
}
