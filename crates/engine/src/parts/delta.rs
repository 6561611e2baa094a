//! The verdict of a stage on a part of its rows, as a file.
//!
//! Names of reasons, columns and metrics are stored as text and looked up in the contract when they are read, so a file of another
//! build is refused instead of misread. JSON is stored as its text.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::contract::Contract;
use super::super::decision::{DecisionKind, Ruling};
use super::super::error::{Result, damaged};
use super::super::fate::FateEvent;
use super::super::links::{LinkTexts, StoredLink};
use super::super::verdict::PartDelta;
use super::super::vocabulary::{Action, Cell, Edit, Evidence, Metric, RowIx, Safety};

/// The file.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct StoredDelta<'a> {
    #[serde(borrow)]
    fates: Vec<StoredFate<'a>>,
    #[serde(borrow)]
    edits: Vec<StoredEdit<'a>>,
    #[serde(borrow)]
    links: Vec<StoredLinkOf<'a>>,
    #[serde(borrow)]
    rulings: Vec<StoredRuling<'a>>,
    /// By column of the contract.
    #[serde(borrow)]
    cells: Vec<Vec<(RowIx, StoredCell<'a>)>>,
    #[serde(borrow)]
    notes: Vec<(&'a str, Cow<'a, str>)>,
}

#[derive(Serialize, Deserialize)]
struct StoredFate<'a> {
    row: RowIx,
    action: &'a str,
    reason: &'a str,
    into: Option<RowIx>,
    score: Option<(&'a str, f64)>,
    detail: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
struct StoredEdit<'a> {
    row: RowIx,
    column: &'a str,
    reason: &'a str,
    safety: &'a str,
    patch: &'a str,
}

#[derive(Serialize, Deserialize)]
struct StoredLinkOf<'a> {
    row: RowIx,
    object: &'a str,
    set: &'a str,
    record: &'a str,
    method: &'a str,
    score: f64,
    verdict: Option<&'a str>,
    spans: &'a str,
    record_spans: &'a str,
    n_records: u32,
    examples: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
struct StoredRuling<'a> {
    row: RowIx,
    kind: &'a str,
    detail: Cow<'a, str>,
    refused: Option<&'a str>,
    to_check: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
enum StoredCell<'a> {
    Text(&'a str),
    Int(i64),
}

impl<'a> StoredDelta<'a> {
    /// Returns a verdict in the form in which it is stored.
    pub(in super::super) fn of(delta: &'a PartDelta) -> Self {
        let fate = |fate: &'a FateEvent| StoredFate {
            row: fate.row,
            action: fate.action.name(),
            reason: fate.reason.code,
            into: fate.into,
            score: fate.evidence.score.map(|(metric, score)| (metric.name(), score)),
            detail: fate.evidence.detail.as_ref().map(|detail| detail.to_string().into()),
        };
        let edit = |(row, edit): &'a (RowIx, Edit)| StoredEdit {
            row: *row,
            column: edit.column.name,
            reason: edit.reason.code,
            safety: edit.safety.name(),
            patch: &edit.patch,
        };
        let link = |link: &'a StoredLink| StoredLinkOf {
            row: link.row,
            object: &link.object,
            set: &link.set,
            record: &link.record,
            method: &link.method,
            score: link.score,
            verdict: link.verdict.as_deref(),
            spans: &link.spans,
            record_spans: &link.record_spans,
            n_records: link.n_records,
            examples: link.examples.as_deref(),
        };
        let ruling = |(row, ruling): &'a (RowIx, Ruling)| StoredRuling {
            row: *row,
            kind: ruling.kind.name(),
            detail: ruling.detail.to_string().into(),
            refused: ruling.refused.as_deref(),
            to_check: ruling.to_check.as_deref(),
        };
        let cell = |(row, cell): &'a (RowIx, Cell)| match cell {
            Cell::Text(text) => (*row, StoredCell::Text(text)),
            Cell::Int(number) => (*row, StoredCell::Int(*number)),
        };
        Self {
            fates: delta.fates.iter().map(fate).collect(),
            edits: delta.edits.iter().map(edit).collect(),
            links: delta.links.iter().map(link).collect(),
            rulings: delta.rulings.iter().map(ruling).collect(),
            cells: delta.cells.iter().map(|cells| cells.iter().map(cell).collect()).collect(),
            notes: delta.notes.iter().map(|(name, note)| (name.as_str(), note.to_string().into())).collect(),
        }
    }

    /// Returns the bytes of the file.
    pub(in super::super) fn bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a verdict is plain data")
    }
}

/// Reads the verdict of a stage with this contract on a part.
///
/// # Errors
/// The file is damaged, or names what the contract does not.
pub(in super::super) fn read_delta(path: &Path, contract: &Contract) -> Result<PartDelta> {
    let bytes = std::fs::read(path).map_err(|error| damaged(path, error.to_string()))?;
    let stored: StoredDelta<'_> =
        postcard::from_bytes(&bytes).map_err(|error| damaged(path, error.to_string()))?;
    stored.delta(contract).map_err(|what| damaged(path, what))
}

impl StoredDelta<'_> {
    fn delta(self, contract: &Contract) -> Result<PartDelta, String> {
        let json = |text: &str| -> Result<Value, String> {
            serde_json::from_str(text).map_err(|error| format!("{text:?} is no JSON: {error}"))
        };
        let reason = |code: &str| {
            let found = contract.reasons.iter().copied().find(|reason| reason.code == code);
            found.ok_or_else(|| format!("the reason {code:?} is not in its contract"))
        };
        let known = |what: &str, name: &str| format!("{what} {name:?} is not known");
        let table = contract.table;
        let mut fates = Vec::with_capacity(self.fates.len());
        for StoredFate { row, action, reason: code, into, score, detail } in self.fates {
            let metric = |(name, score)| {
                let metric = Metric::from_name(name).ok_or_else(|| known("the metric", name))?;
                Ok::<_, String>((metric, score))
            };
            let detail = detail.as_deref().map(json).transpose()?;
            let evidence = Evidence { score: score.map(metric).transpose()?, detail: detail.map(Box::new) };
            let action = Action::from_name(action).ok_or_else(|| known("the action", action))?;
            fates.push(FateEvent {
                table,
                row,
                action,
                reason: reason(code)?,
                into,
                cascaded: false,
                evidence,
            });
        }
        let mut edits = Vec::with_capacity(self.edits.len());
        for StoredEdit { row, column, reason: code, safety, patch } in self.edits {
            let column = contract.writes.iter().copied().find(|written| written.name == column);
            let column = column.ok_or_else(|| "a column is not in its contract".to_owned())?;
            let safety = Safety::from_name(safety).ok_or_else(|| known("the safety", safety))?;
            edits.push((row, Edit { column, reason: reason(code)?, safety, patch: patch.to_owned() }));
        }
        let mut texts = LinkTexts::default();
        let links = self.links.iter().map(|link| StoredLink {
            table,
            row: link.row,
            object: texts.shared(link.object),
            set: texts.shared(link.set),
            record: texts.shared(link.record),
            method: texts.shared(link.method),
            score: link.score,
            verdict: link.verdict.map(|verdict| texts.shared(verdict)),
            spans: texts.shared(link.spans),
            record_spans: texts.shared(link.record_spans),
            n_records: link.n_records,
            examples: link.examples.map(|examples| texts.shared(examples)),
        });
        let links = links.collect();
        let mut rulings = Vec::with_capacity(self.rulings.len());
        for StoredRuling { row, kind, detail, refused, to_check } in self.rulings {
            let found = DecisionKind::ALL.into_iter().find(|known| known.name() == kind);
            let kind = found.ok_or_else(|| known("the decision", kind))?;
            let text = |text: Option<&str>| text.map(str::to_owned);
            let (refused, to_check) = (text(refused), text(to_check));
            rulings.push((row, Ruling { kind, detail: json(&detail)?, refused, to_check }));
        }
        if self.cells.len() != contract.writes.len() {
            return Err("it has cells of other columns".to_owned());
        }
        let cell = |(row, cell)| match cell {
            StoredCell::Text(text) => (row, Cell::Text(String::from(text))),
            StoredCell::Int(number) => (row, Cell::Int(number)),
        };
        let cells = self.cells.into_iter().map(|cells| cells.into_iter().map(cell).collect()).collect();
        let note = |(name, note): (&str, Cow<'_, str>)| Ok((name.to_owned(), json(&note)?));
        let notes = self.notes.into_iter().map(note).collect::<Result<_, String>>()?;
        Ok(PartDelta { fates, edits, links, rulings, cells, notes })
    }
}
