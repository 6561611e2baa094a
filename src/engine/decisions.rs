//! Decisions of people: what is applied between what a stage says and what becomes of it.
//!
//! A person's word wins over any stage. The runner itself applies two kinds: `keep` takes back a fate in the stage that
//! gives it, `drop` gives one after the last stage. The others change cells, so the stage that writes them takes them
//! from its rows ([`Row::decision`](super::view::Row::decision)): its contract says which.
//!
//! A decision names its row by content id, or by the log's own id. One that names no row, several, or a row of other
//! content than the person saw is never applied; the last stage's manifest accounts for all of them. Notes and evidence
//! name a decision by its line, never by the id in it, so that a record that is forgotten leaves no id behind. How a
//! file is read is not here: see `decisions` above the engine.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::contract::Contract;
use super::corpus::Corpus;
use super::decided::{Decided, Unmet};
use super::decision::{Decision, DecisionKind, Decisions, Ruling};
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

/// A decision in the notes of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its line in the file.
    pub line: usize,
    /// Its kind.
    pub decision: DecisionKind,
    /// Why it was not applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Note {
    /// The decisions that a note of a manifest lists.
    pub fn all(note: Option<&Value>) -> Vec<Self> {
        note.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default()
    }
}

fn note_of(ruling: &Ruling) -> Note {
    Note { line: ruling.line, decision: ruling.kind, why: ruling.refused.clone() }
}

/// Notes of a stage on the decisions that were applied in it or refused by it; nothing where there were none.
pub(super) fn noted(rulings: &[(RowIx, Ruling)]) -> Option<Value> {
    let mut notes: Vec<Note> = rulings.iter().map(|(_, ruling)| note_of(ruling)).collect();
    notes.sort_by_key(|note| note.line);
    notes.dedup();
    (!notes.is_empty()).then(|| json!(notes))
}

/// The decisions that were applied nowhere, each with the reason: what the last stage notes.
///
/// `earlier` are the notes of all stages, `stages` their ids and contracts.
///
/// # Errors
/// A file of the run folder cannot be read.
pub(super) fn not_applied(
    decisions: &Decisions,
    corpus: &Corpus,
    earlier: &[Note],
    stages: &[(&str, Contract)],
) -> Result<Vec<Note>> {
    let tables =
        TableId::ALL.map(|table| Decided::of(decisions, corpus, table).map(|decided| (table, decided)));
    let tables = tables.into_iter().collect::<Result<Vec<_>>>()?;
    let note = |decision: &Decision| {
        let why = why_not(decision, &tables, corpus, earlier, stages)?;
        Some(Note { line: decision.line, decision: decision.kind, why: Some(why) })
    };
    Ok(decisions.all.iter().filter_map(note).collect())
}

fn why_not(
    decision: &Decision,
    tables: &[(TableId, Decided<'_>)],
    corpus: &Corpus,
    earlier: &[Note],
    stages: &[(&str, Contract)],
) -> Option<String> {
    let of_line = || earlier.iter().filter(|note| note.line == decision.line);
    let named = tables.iter().find_map(|(table, decided)| {
        let has_it =
            |(_, of_row): &(&RowIx, &Vec<&Decision>)| of_row.iter().any(|other| other.line == decision.line);
        decided.by_row.iter().find(has_it).map(|(row, _)| (corpus.table(*table), *row))
    });
    let Some((table, row)) = named else {
        // Of what both tables say, that a row is there says more.
        let unmet = tables.iter().filter_map(|(_, decided)| decided.unmet.get(&decision.line));
        return Some(match unmet.max_by_key(|unmet| **unmet != Unmet::NoRow) {
            Some(Unmet::Several(n)) => format!("{n} rows have this id; name the request id instead"),
            Some(Unmet::Changed(is)) => {
                format!("the row is not as the person saw it: the digest of its content begins with {is}")
            }
            Some(Unmet::NoRow) | None => "no row has this id".to_owned(),
        });
    };
    let left = table.fate(row).map(|fate| {
        let word = match fate.action {
            Action::Drop => "dropped",
            Action::Merge => "merged",
            Action::Hold => "held",
        };
        let stage = stages.get(usize::from(fate.stage)).map_or("a command after the run", |(id, _)| *id);
        (fate.reason, format!("the row is {word} by {stage}: {}", fate.reason.code))
    });
    match (decision.kind, left) {
        (DecisionKind::Keep, left) => left.map(|(_, left)| left),
        (DecisionKind::Drop, Some((reason, _))) if reason == DecisionKind::Drop.reason() => None,
        (DecisionKind::Drop, left) => {
            Some(left.map_or_else(|| "no stage has run".to_owned(), |(_, left)| left))
        }
        _ if of_line().any(|note| note.why.is_none()) => None,
        (kind, left) => {
            let takes = |(_, contract): &(&str, Contract)| {
                contract.table == table.id() && contract.decisions.contains(&kind)
            };
            if !stages.iter().any(takes) {
                return Some(format!(
                    "no stage of the pipeline takes {} of {}",
                    kind.name(),
                    table.id().name()
                ));
            }
            let refused = of_line().find_map(|note| note.why.clone());
            let left = refused.or(left.map(|(_, left)| left));
            Some(left.unwrap_or_else(|| "no stage had a use for it".to_owned()))
        }
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
