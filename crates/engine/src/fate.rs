//! The fates of rows: the event that a stage returns, and the state that the tables hold.

use super::vocabulary::{Action, Evidence, Reason, RowIx, TableId};

/// One fate of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct FateEvent {
    /// The row's table.
    pub table: TableId,
    /// The row.
    pub row: RowIx,
    /// What happens.
    pub action: Action,
    /// Why.
    pub reason: &'static Reason,
    /// For a merge: the row that it was merged into.
    pub into: Option<RowIx>,
    /// The fate follows from the fate of the parent or the children.
    pub cascaded: bool,
    /// What supports the fate.
    pub evidence: Evidence,
}

/// A row's fate so far and the stage that decided it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// What happened.
    pub action: Action,
    /// The deciding stage's place in the pipeline.
    pub stage: u16,
    /// Why.
    pub reason: &'static Reason,
    /// For a merge: the row that it was merged into.
    pub into: Option<RowIx>,
}
