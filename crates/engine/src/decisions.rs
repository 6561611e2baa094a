//! Decisions by people: how the runner records them, and which of them had no effect.
//!
//! A decision overrules every stage. The runner applies two kinds itself: `keep` takes back a fate in the stage that
//! gives it, `drop` gives one after the last stage. The other kinds change cells, so the stage that writes these cells
//! applies them ([`Row::decision`](super::view::Row::decision)); its contract lists the kinds.
//!
//! A decision names its row by content id, or by the log's own id. A decision that names no row, several rows, or a row of
//! other content than the person saw is never applied; the manifest of the last stage lists all of these by line. Notes of
//! other stages name a decision by its row, so that a step is reused when only the line changes. No note has the id that
//! the person wrote, so none remains when a record is forgotten. Reading the file is not here: see `decisions` above the
//! engine.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::contract::Contract;
use super::corpus::{Corpus, Table};
use super::decided::{Decided, Unmet};
use super::decision::{Decision, DecisionKind, Decisions, Place, Ruling};
use super::error::{Result, damaged};
use super::frame::{FrameFile, FrameWriter, Values};
use super::vocabulary::{Action, RowIx, TableId};

/// File of the decisions that were applied in a stage, in its folder; only where there were some.
pub const DECIDED: &str = "decisions.parquet";
/// The action of an event by which a person decided.
pub const DECIDE: &str = "decide";
/// The note of a stage that lists the decisions applied in it, and that of the last stage on the others.
pub const APPLIED_NOTE: &str = "decisions";
/// See [`APPLIED_NOTE`].
pub const NOT_APPLIED_NOTE: &str = "decisions_not_applied";
/// The note of the last stage on decisions that were applied and that somebody should look at.
pub const TO_CHECK_NOTE: &str = "decisions_to_check";

/// A decision in the notes of the stage that applied or refused it, by its row: its line in the file may change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct RowNote {
    table: TableId,
    row: RowIx,
    decision: DecisionKind,
    /// Why it was not applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What a person should check although it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_check: Option<String>,
}

impl RowNote {
    /// The decisions that a note of a manifest lists.
    pub(super) fn all(note: Option<&Value>) -> Vec<Self> {
        note.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default()
    }
}

/// A decision that was not applied, in the notes of the last stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its file, from 0, in the order in which the files were given.
    #[serde(default, skip_serializing_if = "is_first")]
    pub file: usize,
    /// Its line in the file.
    pub line: usize,
    /// Its kind.
    pub decision: DecisionKind,
    /// The row that it names, by its place, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<(TableId, RowIx)>,
    /// Why it was not applied, or should be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Note {
    /// The decisions that a note of a manifest lists.
    pub fn all(note: Option<&Value>) -> Vec<Self> {
        note.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde wants it.
fn is_first(file: &usize) -> bool {
    *file == 0
}

/// Notes of a stage on the decisions that were applied in it or refused by it; nothing where there were none.
pub(super) fn noted(table: TableId, rulings: &[(RowIx, Ruling)]) -> Option<Value> {
    let note = |(row, ruling): &(RowIx, Ruling)| {
        let (why, to_check) = (ruling.refused.clone(), ruling.to_check.clone());
        RowNote { table, row: *row, decision: ruling.kind, why, to_check }
    };
    let mut notes: Vec<RowNote> = rulings.iter().map(note).collect();
    notes.sort();
    notes.dedup();
    (!notes.is_empty()).then(|| json!(notes))
}

/// What the last stage accounts for.
pub(super) struct Account<'a> {
    pub(super) decisions: &'a Decisions,
    pub(super) corpus: &'a Corpus,
    /// The notes of all stages.
    pub(super) noted: &'a [RowNote],
    /// The ids and contracts of all stages.
    pub(super) stages: &'a [(&'a str, Contract)],
    /// The entries of an earlier dataset for which rows were dropped.
    pub(super) entries: &'a BTreeMap<(TableId, RowIx), String>,
}

impl Account<'_> {
    /// The decisions that had no effect on the dataset, each with the reason, and those that somebody should look at.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub(super) fn notes(&self) -> Result<[(&'static str, Vec<Note>); 2]> {
        let tables = TableId::ALL
            .map(|table| Decided::of(self.decisions, self.corpus, table).map(|decided| (table, decided)));
        let tables = tables.into_iter().collect::<Result<Vec<_>>>()?;
        let (rows, noted) = (rows_by_place(&tables), self.noted_by_row());
        let (mut not_applied, mut to_check) = (Vec::new(), Vec::new());
        for decision in &self.decisions.all {
            let row = rows.get(&decision.place()).copied();
            let on_row = row.and_then(|(table, row)| noted.get(&(table, row, decision.kind)));
            let on_row = on_row.map_or(&[][..], Vec::as_slice);
            let (file, line) = decision.place();
            let note = |why| Note { file, line, decision: decision.kind, row, why: Some(why) };
            let why = match row {
                Some((table, row)) => {
                    self.why_without_effect(decision.kind, on_row, self.corpus.table(table), row)
                }
                None => Some(why_unmet(&tables, decision)),
            };
            match why {
                Some(why) => not_applied.push(note(why)),
                None => to_check.extend(on_row.iter().find_map(|it| it.to_check.clone()).map(note)),
            }
        }
        Ok([(NOT_APPLIED_NOTE, not_applied), (TO_CHECK_NOTE, to_check)])
    }

    /// The notes of all stages by row and kind of decision.
    fn noted_by_row(&self) -> BTreeMap<(TableId, RowIx, DecisionKind), Vec<&RowNote>> {
        let mut noted: BTreeMap<_, Vec<&RowNote>> = BTreeMap::new();
        for note in self.noted {
            noted.entry((note.table, note.row, note.decision)).or_default().push(note);
        }
        noted
    }

    /// Why a decision on a row changed nothing of the dataset; `None` where it did. `noted` has the notes on it.
    fn why_without_effect(
        &self,
        kind: DecisionKind,
        noted: &[&RowNote],
        table: &Table,
        row: RowIx,
    ) -> Option<String> {
        let is_applied = noted.iter().any(|note| note.why.is_none());
        match kind {
            DecisionKind::Keep => self.fate_of(table, row),
            DecisionKind::Drop
                if table.fate(row).is_some_and(|fate| fate.reason == DecisionKind::Drop.reason()) =>
            {
                None
            }
            DecisionKind::Drop => self.fate_of(table, row).or_else(|| Some("no stage has run".to_owned())),
            // Whether an edited list gets into the dataset depends on its requests.
            DecisionKind::Edit if is_applied => None,
            // The row may have been dropped after the decision was applied.
            _ if is_applied => {
                let end = end_of_merges(table, row);
                let fate = self.fate_of(table, end)?;
                Some(if end == row {
                    fate
                } else {
                    fate.replacen("the row", "the row that it was merged into", 1)
                })
            }
            kind => {
                if !self.is_taken(kind, table.id()) {
                    return Some(format!(
                        "no stage of the pipeline takes {} of {}",
                        kind.name(),
                        table.id().name()
                    ));
                }
                let refused = noted.iter().find_map(|note| note.why.clone());
                let why = refused.or_else(|| self.fate_of(table, row));
                Some(why.unwrap_or_else(|| "no stage had a use for it".to_owned()))
            }
        }
    }

    /// Whether a stage of the pipeline applies decisions of a kind.
    fn is_taken(&self, kind: DecisionKind, table: TableId) -> bool {
        self.stages.iter().any(|(_, contract)| contract.table == table && contract.decisions.contains(&kind))
    }

    /// What happened to a row that is not kept, and which entry it repeats.
    fn fate_of(&self, table: &Table, row: RowIx) -> Option<String> {
        let fate = table.fate(row)?;
        let word = match fate.action {
            Action::Drop => "dropped",
            Action::Merge => "merged",
            Action::Hold => "held",
        };
        let stage = self.stages.get(usize::from(fate.stage)).map_or("a command after the run", |(id, _)| *id);
        let entry = self.entries.get(&(table.id(), row)).map_or_else(String::new, |entry| {
            format!("; it repeats the entry {entry} of the earlier dataset, which no decision changes")
        });
        let advice = self.decisions.advice.filter(|_| fate.action == Action::Hold);
        let advice = advice.map_or_else(String::new, |advice| advice(table.id(), fate.reason.code));
        Some(format!("the row is {word} by {stage}: {}{entry}{advice}", fate.reason.code))
    }
}

/// The row at the end of the merges of another; itself where it was not merged.
fn end_of_merges(table: &Table, row: RowIx) -> RowIx {
    let mut end = row;
    while let Some(into) = table.fate(end).and_then(|fate| fate.into) {
        end = into;
    }
    end
}

/// The rows that decisions name, by the place of the decision.
fn rows_by_place(tables: &[(TableId, Decided<'_>)]) -> BTreeMap<Place, (TableId, RowIx)> {
    let mut rows = BTreeMap::new();
    for (table, decided) in tables {
        for (row, decisions) in &decided.by_row {
            for decision in decisions {
                rows.entry(decision.place()).or_insert((*table, *row));
            }
        }
    }
    rows
}

/// Why a decision names no row. Of the two tables the one counts that has rows with the id.
fn why_unmet(tables: &[(TableId, Decided<'_>)], decision: &Decision) -> String {
    let unmet = tables.iter().filter_map(|(_, decided)| decided.unmet.get(&decision.place()));
    match unmet.max_by_key(|unmet| **unmet != Unmet::NoRow) {
        Some(Unmet::Several(n)) => format!("{n} rows have this id; name the request id instead"),
        Some(Unmet::Ambiguous(kinds)) => {
            let meanings: Vec<&str> = kinds.iter().map(|kind| kind.meaning()).collect();
            let prefixes: Vec<String> = kinds.iter().map(|kind| format!("{}:", kind.word())).collect();
            format!(
                "it is {}, of different rows; write {} before it, or the whole id of the row",
                meanings.join(" and "),
                prefixes.join(" or ")
            )
        }
        Some(Unmet::Changed(is)) => {
            format!("the row is not as the person saw it: the digest of its content begins with {is}")
        }
        Some(Unmet::Decided((file, line))) if *file == decision.file => {
            format!("line {line} decides the same row")
        }
        Some(Unmet::Decided((file, line))) => {
            format!("line {line} of decisions file {} decides the same row", file + 1)
        }
        Some(Unmet::NoRow) | None => "no row has this id".to_owned(),
    }
}

/// A decision that was applied, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredRuling {
    pub(super) table: TableId,
    pub(super) row: RowIx,
    pub(super) reason: String,
    pub(super) detail: String,
}

/// Writes the decisions that were applied in a stage, except drops, which are fates.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_rulings(path: &Path, table: TableId, rulings: &[(RowIx, Ruling)]) -> Result<()> {
    let details: Vec<String> = rulings.iter().map(|(_, ruling)| ruling.detail.to_string()).collect();
    let mut writer = FrameWriter::create(path);
    writer.write(vec![
        ("table", Values::Text(vec![Some(table.name()); rulings.len()])),
        ("row", Values::U32(rulings.iter().map(|(row, _)| *row).collect())),
        ("reason", Values::Text(rulings.iter().map(|(_, ruling)| Some(ruling.kind.reason().code)).collect())),
        ("detail", Values::Text(details.iter().map(|detail| Some(detail.as_str())).collect())),
    ])?;
    writer.finish().map(drop)
}

/// Reads the decisions that were applied in a stage; none where there is no file.
///
/// # Errors
/// The file is damaged.
pub(super) fn read_rulings(path: &Path) -> Result<Vec<StoredRuling>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let frame = FrameFile::open(path)?.read_all()?;
    let text = |name: &str, at: usize| frame.texts(name)?.get(at).map(str::to_owned);
    let read = |at: usize| {
        Some(StoredRuling {
            table: super::delta::table_of(&text("table", at)?)?,
            row: frame.u32s("row")?.get(at)?,
            reason: text("reason", at)?,
            detail: text("detail", at)?,
        })
    };
    (0..frame.height())
        .map(|at| read(at).ok_or_else(|| damaged(path, format!("row {at} is no decision"))))
        .collect()
}
