//! The rows of one task, where a step is cut into some; how it is cut is for `partition`.

use std::num::NonZeroUsize;

use super::vocabulary::RowIx;

/// Into how many parts a step is cut at most.
pub type Parts = NonZeroUsize;

/// The rows of one task.
#[derive(Debug)]
pub struct Part {
    holds: Vec<bool>,
    n_rows: usize,
}

impl Part {
    pub(super) fn of(rows: &[RowIx], n_rows_of_table: usize) -> Self {
        let mut holds = vec![false; n_rows_of_table];
        for &row in rows {
            holds[row as usize] = true;
        }
        Self { holds, n_rows: rows.len() }
    }

    /// The row is judged in this part.
    pub fn holds(&self, row: RowIx) -> bool {
        self.holds.get(row as usize).copied().unwrap_or(false)
    }

    /// Number of its rows.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// It has no rows.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }
}
