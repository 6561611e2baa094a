//! What a row stage says about one row.

use super::decision::Ruling;
use super::vocabulary::{Action, Cell, ColumnSpec, Edit, Evidence, Reason};

/// What a row stage says about one row; [`Verdict`](super::verdict::Verdict) checks it.
#[derive(Debug, Clone, Default)]
pub struct Opinion {
    /// Its fate; `None` keeps it.
    pub fate: Option<(Action, &'static Reason, Evidence)>,
    /// New or changed cells.
    pub cells: Vec<(ColumnSpec, Cell)>,
    /// What was changed in them.
    pub edits: Vec<Edit>,
    /// What became of a person's decision on it.
    pub ruling: Option<Ruling>,
}

impl Opinion {
    /// Keeps the row as it is.
    pub fn keep() -> Self {
        Self::default()
    }

    /// Drops the row.
    pub fn drop(reason: &'static Reason, evidence: Evidence) -> Self {
        Self { fate: Some((Action::Drop, reason, evidence)), ..Self::default() }
    }

    /// Holds the row.
    pub fn hold(reason: &'static Reason, evidence: Evidence) -> Self {
        Self { fate: Some((Action::Hold, reason, evidence)), ..Self::default() }
    }

    /// Adds a cell.
    #[must_use]
    pub fn with(mut self, column: ColumnSpec, cell: impl Into<Cell>) -> Self {
        self.cells.push((column, cell.into()));
        self
    }
}
