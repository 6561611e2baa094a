//! The edits of a finished run, before and after.

use super::error::refuse;
use super::{Error, OpenRun};
use crate::engine::corpus::RowId;
use crate::engine::ledger::for_every_event;
use crate::engine::vocabulary::TableId;

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
    /// `safe`, `unsafe`, or `suggest` for one that was not made.
    pub safety: &'e str,
    /// RFC 6902 as JSON text, each change preceded by a `test` of the old value, or one operation `redact`.
    pub patch: &'e str,
}

impl OpenRun {
    /// Visits the edits of the run in the order of the ledger: all, or those made for one reason.
    ///
    /// # Errors
    /// No stage has such a reason, or a file of the run folder cannot be read.
    pub fn diff(&self, reason: Option<&str>, mut visit: impl FnMut(&RowEdit<'_>)) -> Result<(), Error> {
        if let Some(code) = reason
            && !self.registry.reasons().iter().any(|(_, known)| known.code == code)
        {
            return refuse(format!("there is no reason \"{code}\"\nhint: `toolsieve explain` lists all"));
        }
        for_every_event(&self.folder, &self.stages, &self.corpus, |events| {
            for event in events.iter().filter(|event| reason.is_none_or(|code| event.reason == code)) {
                let Some(edit) = event.edit else { continue };
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
}
