//! The edits of a finished run, before and after.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::error::refuse;
use super::{Error, OpenRun};
use crate::columns::FUNCTIONS;
use crate::engine::corpus::RowId;
use crate::engine::decision::DecisionKind;
use crate::engine::ledger::{Event, for_every_event};
use crate::engine::vocabulary::TableId;
use crate::reasons::unknown;

/// An edit of a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RowEdit<'e> {
    /// The table.
    pub table: TableId,
    /// The row's id.
    pub row_id: RowId,
    /// The id of the stage that made it.
    pub stage: &'e str,
    /// The code of its reason.
    pub reason: &'e str,
    /// The changed column.
    pub column: &'e str,
    /// `safe`, `unsafe`, `suggest` for one that was not made, or `decided` for one that a person made.
    pub safety: &'e str,
    /// RFC 6902 as JSON text, with a `test` of the old value before each change, or one operation `redact`. The patch of a
    /// person is as they wrote it; new functions are one operation that adds them.
    pub patch: &'e str,
}

/// The safety of an edit that a person decided.
const BY_A_PERSON: &str = "decided";

/// What a person changed in the functions of a doc list, if the event is such a decision.
fn patch_of_a_person(event: &Event<'_>) -> Option<String> {
    if event.reason != DecisionKind::Edit.reason().code {
        return None;
    }
    let decided: Value = serde_json::from_str(event.evidence?).ok()?;
    let new = || Some(json!([{"op": "add", "path": "", "value": decided.get("functions")?}]));
    decided.get("patch").cloned().or_else(new).map(|patch| patch.to_string())
}

impl OpenRun {
    /// Visits the edits of the run in the order of the ledger: all, or those made for one reason.
    ///
    /// # Errors
    /// No stage has such a reason, or a file of the run folder cannot be read.
    pub fn diff(&self, reason: Option<&str>, mut visit: impl FnMut(&RowEdit<'_>)) -> Result<(), Error> {
        let known = || self.registry.reasons().into_iter().map(|(_, known)| known.code);
        if let Some(code) = reason
            && !known().any(|known| known == code)
        {
            return refuse(unknown(code, known()));
        }
        for_every_event(&self.folder, &self.stages, &self.corpus, |events| {
            for event in events.iter().filter(|event| reason.is_none_or(|code| event.reason == code)) {
                let Some(edit) = event.edit else {
                    if let Some(patch) = patch_of_a_person(event) {
                        let (table, row_id, stage, reason) =
                            (event.table, event.row_id, event.stage, event.reason);
                        let (column, safety) = (FUNCTIONS.name, BY_A_PERSON);
                        visit(&RowEdit { table, row_id, stage, reason, column, safety, patch: &patch });
                    }
                    continue;
                };
                visit(&RowEdit {
                    table: event.table,
                    row_id: event.row_id,
                    stage: event.stage,
                    reason: event.reason,
                    column: edit.column,
                    safety: edit.safety,
                    patch: edit.patch,
                });
            }
            Ok(())
        })?;
        Ok(())
    }
    /// Returns the names of the functions of doc lists, as they are at the end of the run, by the id of the list. A list
    /// that was not read as functions is not in it.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub fn function_names(&self, wanted: &BTreeSet<RowId>) -> Result<BTreeMap<RowId, Vec<String>>, Error> {
        let lists = &self.corpus.lists;
        let mut names = BTreeMap::new();
        for batch in 0..lists.batches() {
            let rows: Vec<_> =
                lists.rows_of_batch(batch).filter(|&row| wanted.contains(&lists.row_id(row))).collect();
            if rows.is_empty() {
                continue;
            }
            let (cells, start) = (lists.read_batch(batch, &[FUNCTIONS])?, lists.batch(batch).start);
            for row in rows {
                let functions = cells.text(FUNCTIONS, row as usize - start);
                let functions = functions.and_then(|text| serde_json::from_str::<Vec<Value>>(text).ok());
                if let Some(functions) = functions {
                    let name = |function: &Value| function["name"].as_str().unwrap_or("?").to_owned();
                    names.insert(lists.row_id(row), functions.iter().map(name).collect());
                }
            }
        }
        Ok(names)
    }
}
