//! How the work of a run is cut, and the rows of one task where a step is cut into some; the cutting itself is for
//! `partition` (parts) and `raw tables` (batches).

use std::num::NonZeroUsize;

use super::vocabulary::RowIx;

/// Into how many parts a step is cut at most.
pub type Parts = NonZeroUsize;

/// How many rows a batch has at most.
pub type BatchRows = NonZeroUsize;

/// How the work of a run is cut. The dataset is the same for any cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cuts {
    /// Each step is cut into at most so many parts, which are judged apart.
    pub parts: Parts,
    /// The inputs are read in batches of at most so many rows. Inputs that were read before keep the batches they have.
    pub batch_rows: BatchRows,
}

impl Cuts {
    /// Rows of a batch at most where nothing else is asked for.
    pub const BATCH_ROWS: BatchRows = BatchRows::new(8192).expect("8,192 is not 0");
}

impl Default for Cuts {
    fn default() -> Self {
        Self { parts: Parts::MIN, batch_rows: Self::BATCH_ROWS }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_holds_its_rows_and_no_other() {
        let part = Part::of(&[1, 3], 4);
        assert_eq!([0, 1, 2, 3, 4].map(|row| part.holds(row)), [false, true, false, true, false]);
        assert_eq!((part.len(), part.is_empty()), (2, false));
        let none = Part::of(&[], 4);
        assert_eq!((none.len(), none.is_empty(), none.holds(0)), (0, true, false));
    }
}
