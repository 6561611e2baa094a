//! The fates of rows: as a stage gives one, and as the tables hold it.

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
    /// For a merge: the row that stands for it.
    pub into: Option<RowIx>,
    /// It follows from the fate of the parent or the children.
    pub cascaded: bool,
    /// What backs it up.
    pub evidence: Evidence,
}

/// A row's fate so far and who decided it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// What happened.
    pub action: Action,
    /// The deciding stage's place in the pipeline.
    pub stage: u16,
    /// Why.
    pub reason: &'static Reason,
    /// For a merge: the row that stands for it.
    pub into: Option<RowIx>,
}
