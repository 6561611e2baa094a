//! A matrix of vectors, and their dot product with the same bits on every machine.

/// Vectors of one space in contiguous memory, one row after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    n_dims: usize,
    values: Vec<f32>,
}

impl Vectors {
    /// Returns rows of `n_dims` numbers.
    ///
    /// # Panics
    /// If the last row is incomplete.
    pub fn new(n_dims: usize, values: Vec<f32>) -> Self {
        assert!(n_dims > 0 || values.is_empty(), "numbers without a dimension");
        assert!(values.len().is_multiple_of(n_dims.max(1)), "a row of fewer than {n_dims} numbers");
        Self { n_dims, values }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If its length is not that of the other rows.
    pub fn push(&mut self, row: &[f32]) {
        if self.is_empty() {
            self.n_dims = row.len();
        }
        assert_eq!(self.n_dims, row.len(), "vectors of different spaces");
        self.values.extend_from_slice(row);
    }

    /// Returns the number of dimensions.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.n_dims.max(1)
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns a row.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn get(&self, at: usize) -> &[f32] {
        &self.values[at * self.n_dims..][..self.n_dims]
    }

    /// Splits the rows before an index from the others.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn split_at(mut self, row: usize) -> (Self, Self) {
        let rest = self.values.split_off(row * self.n_dims);
        let after = Self { n_dims: self.n_dims, values: rest };
        (self, after)
    }

    /// Iterates over the rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.n_dims.max(1))
    }
}

/// Number of partial sums in [`dot`], enough to use the vector units of the processor.
pub(crate) const N_LANES: usize = 16;

/// Returns the dot product of two vectors: their cosine if both have unit length.
///
/// The order of summation is fixed, so the result has the same bits on every machine.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    debug_assert_eq!(a.len(), b.len(), "vectors of different spaces");
    let mut sums = [0.0_f32; N_LANES];
    let (a_chunks, a_rest) = a.as_chunks::<N_LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<N_LANES>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..N_LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += a * b;
    }
    sums.iter().sum()
}
