//! Which rows the decisions of people mean, and what those two do that the runner itself applies: `keep` and `drop`.
//!
//! A decision names its row by content id, or by the log's own id (see `row_names`). One that names no row, several, or a row
//! of other content than the person saw is never applied, and two that contradict each other on one row stop the run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::contract::Role;
use super::corpus::{Corpus, Table};
use super::decision::{Columns, Decision, DecisionKind, Decisions, Place, Ruling, digest};
use super::error::{Error, Result};
use super::fate::FateEvent;
use super::row_names::{NameKind, NamedRow, RowName, is_ambiguous, rows_named};
use super::vocabulary::{Action, Evidence, RowIx, TableId};

/// Hex digits of an id or digest that name a row where not all are given.
const LEAST_DIGITS: usize = 8;

/// Decisions by the rows of one table that they name, as it stands.
#[derive(Debug, Default)]
pub struct Decided<'d> {
    pub(super) by_row: BTreeMap<RowIx, Vec<&'d Decision>>,
    /// Of each other decision, by its place, why it names no row here.
    pub(super) unmet: BTreeMap<Place, Unmet>,
}

/// Why a decision names no row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unmet {
    NoRow,
    Several(usize),
    /// Its name has several readings, which lead to different rows.
    Ambiguous(BTreeSet<NameKind>),
    Changed(String),
    /// The decision at this place is of the same kind, on the same row by another form of its id.
    Decided(Place),
}

impl<'d> Decided<'d> {
    /// Looks for the rows that decisions name.
    ///
    /// # Errors
    /// Two decisions contradict each other on one row, or a file of the run folder cannot be read.
    pub fn of(decisions: &'d Decisions, corpus: &Corpus, table: TableId) -> Result<Self> {
        let mut decided = Self::default();
        let Some(columns) = decisions.columns.filter(|_| !decisions.all.is_empty()) else {
            return Ok(decided);
        };
        let table = corpus.table(table);
        let names: Vec<RowName<'_>> =
            decisions.all.iter().map(|decision| RowName::read(&decision.id)).collect();
        let named = rows_named(&names, LEAST_DIGITS, corpus, columns.own_id)?;
        let mut met = Vec::new();
        for (decision, named) in decisions.all.iter().zip(named) {
            match row_of(decision, &named, &columns, table)? {
                Ok(row) => met.push((row, decision)),
                Err(unmet) => drop(decided.unmet.insert(decision.place(), unmet)),
            }
        }
        // Which of two on one row counts must not depend on their places in the file.
        met.sort_by_cached_key(|(row, decision)| (*row, decision.content()));
        for (row, decision) in met {
            let earlier = decided.by_row.get(&row).into_iter().flatten();
            check_agree(decisions, earlier.copied(), decision)?;
            match decided.on(row, decision.kind) {
                Some(other) => drop(decided.unmet.insert(decision.place(), Unmet::Decided(other.place()))),
                None => decided.by_row.entry(row).or_default().push(decision),
            }
        }
        Ok(decided)
    }

    /// The rows that decisions name.
    pub fn rows(&self) -> impl Iterator<Item = RowIx> + '_ {
        self.by_row.keys().copied()
    }

    /// The decision of a kind on a row.
    pub fn on(&self, row: RowIx, kind: DecisionKind) -> Option<&'d Decision> {
        self.by_row.get(&row)?.iter().find(|decision| decision.kind == kind).copied()
    }

    /// Takes back the fates of rows that a person keeps; gives what is left and what was taken back.
    pub(super) fn overrule(
        &self,
        fates: Vec<FateEvent>,
        role: Role,
    ) -> (Vec<FateEvent>, Vec<(RowIx, Ruling)>) {
        let mut rulings = Vec::new();
        let left = fates.into_iter().filter(|fate| {
            let Some(decision) = self.on(fate.row, DecisionKind::Keep) else { return true };
            if fate.reason.binding {
                return true;
            }
            let instead_of =
                json!({"instead_of": {"action": fate.action.name(), "reason": fate.reason.code}});
            let entry = entry_of(role, fate.evidence.detail.as_deref());
            let to_check = entry.map(|entry| {
                format!("the row repeats the entry {entry} of the earlier dataset; with --freeze the dataset has both")
            });
            rulings.push((fate.row, Ruling { to_check, ..Ruling::of(decision, instead_of) }));
            false
        });
        (left.collect(), rulings)
    }

    /// Drops a row that a stage holds and a person drops. Any other fate stays as it is.
    pub(super) fn drop_of_held(&self, fate: FateEvent) -> FateEvent {
        let is_held = fate.action == Action::Hold;
        let Some(decision) = self.on(fate.row, DecisionKind::Drop).filter(|_| is_held) else { return fate };
        let instead_of = json!({"instead_of": {"action": fate.action.name(), "reason": fate.reason.code}});
        let evidence = Evidence::detail(Ruling::of(decision, instead_of).detail);
        FateEvent { action: Action::Drop, reason: DecisionKind::Drop.reason(), evidence, ..fate }
    }

    /// The fates of kept rows that a person drops.
    pub(super) fn drops(&self, table: &Table) -> Vec<FateEvent> {
        let dropped = self.by_row.keys().filter(|&&row| table.is_kept(row));
        dropped
            .filter_map(|&row| {
                let decision = self.on(row, DecisionKind::Drop)?;
                let evidence = Evidence::detail(Ruling::of(decision, Value::Null).detail);
                let (action, reason) = (Action::Drop, DecisionKind::Drop.reason());
                Some(FateEvent {
                    table: table.id(),
                    row,
                    action,
                    reason,
                    into: None,
                    cascaded: false,
                    evidence,
                })
            })
            .collect()
    }
}

/// The entry of an earlier dataset that a row was dropped for, by the evidence.
pub(super) fn entry_of(role: Role, detail: Option<&Value>) -> Option<&str> {
    detail.filter(|_| role == Role::Baseline)?["entry"].as_str()
}

/// Refuses a decision that contradicts one of those on the same row, under another form of its id.
fn check_agree<'d>(
    decisions: &Decisions,
    mut others: impl Iterator<Item = &'d Decision>,
    decision: &Decision,
) -> Result<()> {
    let is_clash =
        |other: &&Decision| decisions.contradict.is_some_and(|contradict| contradict(other, decision));
    let Some(other) = others.find(is_clash) else { return Ok(()) };
    let (earlier, later) =
        if other.place() < decision.place() { (other, decision) } else { (decision, other) };
    let [place, other_place] = [later, earlier].map(|it| decisions.name_of(it.file, it.line));
    Err(Error::Decisions(format!(
        "decisions {place}: {} contradicts {other_place} ({}), which names the same row by another form of its id\nhint: keep the right decision, and leave the cell of the other one empty, or remove its line",
        later.word, earlier.word
    )))
}

/// The one row of a table that a decision means: of several with its own id the kept one, or the one that was not merged.
fn row_of(
    decision: &Decision,
    named: &[NamedRow],
    columns: &Columns,
    table: &Table,
) -> Result<std::result::Result<RowIx, Unmet>> {
    if is_ambiguous(named) {
        return Ok(Err(Unmet::Ambiguous(named.iter().map(|named| named.by).collect())));
    }
    let mut rows: Vec<RowIx> =
        named.iter().filter(|named| named.table == table.id()).map(|named| named.row).collect();
    rows.dedup();
    // Steps of a conversation may have one id, and are merged into the first; a start of an id must be of one row.
    let is_own_id = named.iter().all(|named| named.by == NameKind::External);
    let narrowed = |is_meant: &dyn Fn(RowIx) -> bool| -> Vec<RowIx> {
        rows.iter().copied().filter(|&row| is_own_id && is_meant(row)).collect()
    };
    let kept = narrowed(&|row| table.is_kept(row));
    let not_merged = narrowed(&|row| table.fate(row).is_none_or(|fate| fate.into.is_none()));
    let row = match (&kept[..], &not_merged[..], &rows[..]) {
        (&[row], ..) | (&[], &[row], _) | (&[], &[], &[row]) => row,
        ([], [], []) => return Ok(Err(Unmet::NoRow)),
        ([], [], rows) | ([], rows, _) | (rows, ..) => return Ok(Err(Unmet::Several(rows.len()))),
    };
    let Some(was) = &decision.was else { return Ok(Ok(row)) };
    let content = match table.id() {
        TableId::Requests => columns.request,
        TableId::DocLists => columns.list,
    };
    let batch = table.batch_of(row);
    let cells = table.read_batch(batch, &[content])?;
    let is = digest(cells.text(content, row as usize - table.batch(batch).start).unwrap_or_default());
    let is_same = is.starts_with(&was.to_ascii_lowercase());
    Ok(if is_same { Ok(row) } else { Err(Unmet::Changed(is[..LEAST_DIGITS].to_owned())) })
}
