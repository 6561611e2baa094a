//! The sizes into which the work of a run is divided, and the rows of one part. `partition` divides a step into parts,
//! `raw` divides the inputs into batches.

use std::num::NonZeroUsize;

use super::vocabulary::RowIx;

/// The maximum number of parts of a step.
pub type Parts = NonZeroUsize;

/// The maximum number of rows of a batch.
pub type BatchRows = NonZeroUsize;

/// How the work of a run is divided. The dataset does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cuts {
    /// The maximum number of parts of each step. Parts are judged separately.
    pub parts: Parts,
    /// The maximum number of rows of a batch of the inputs. Inputs that were already read keep their batches.
    pub batch_rows: BatchRows,
}

impl Cuts {
    /// The default maximum number of rows of a batch.
    pub const BATCH_ROWS: BatchRows = BatchRows::new(8192).expect("8,192 is not 0");
}

impl Default for Cuts {
    fn default() -> Self {
        Self { parts: Parts::MIN, batch_rows: Self::BATCH_ROWS }
    }
}

/// The rows of one part of a step.
#[derive(Debug)]
pub struct StagePart {
    holds: Vec<bool>,
    n_rows: usize,
}

impl StagePart {
    pub(super) fn of(rows: &[RowIx], n_rows_of_table: usize) -> Self {
        let mut holds = vec![false; n_rows_of_table];
        for &row in rows {
            holds[row as usize] = true;
        }
        Self { holds, n_rows: rows.len() }
    }

    /// Returns `true` if the row belongs to this part.
    pub fn holds(&self, row: RowIx) -> bool {
        self.holds.get(row as usize).copied().unwrap_or(false)
    }

    /// Returns the number of its rows.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// Returns `true` if the part has no rows.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_holds_its_rows_and_no_other() {
        let part = StagePart::of(&[1, 3], 4);
        assert_eq!([0, 1, 2, 3, 4].map(|row| part.holds(row)), [false, true, false, true, false]);
        assert_eq!((part.len(), part.is_empty()), (2, false));
        let none = StagePart::of(&[], 4);
        assert_eq!((none.len(), none.is_empty(), none.holds(0)), (0, true, false));
    }
}
