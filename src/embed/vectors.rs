//! Vectors of one space, in one piece of memory, and the cosine of two, the same bits on every machine.

/// Vectors of one space, one row after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    n_dims: usize,
    values: Vec<f32>,
}

impl Vectors {
    /// Takes rows of `n_dims` numbers, one after the other.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn new(n_dims: usize, values: Vec<f32>) -> Self {
        assert!(n_dims > 0 || values.is_empty(), "numbers without a dimension");
        assert!(values.len().is_multiple_of(n_dims.max(1)), "a row of fewer than {n_dims} numbers");
        Self { n_dims, values }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many numbers as the others.
    pub fn push(&mut self, row: &[f32]) {
        if self.is_empty() {
            self.n_dims = row.len();
        }
        assert_eq!(self.n_dims, row.len(), "vectors of different spaces");
        self.values.extend_from_slice(row);
    }

    /// Numbers in a row.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.n_dims.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The numbers of one row.
    ///
    /// # Panics
    /// If there are not that many rows.
    pub fn get(&self, at: usize) -> &[f32] {
        &self.values[at * self.n_dims..][..self.n_dims]
    }

    /// The rows before one, and those from it on.
    ///
    /// # Panics
    /// If there are not that many rows.
    pub fn split_at(mut self, row: usize) -> (Self, Self) {
        let rest = self.values.split_off(row * self.n_dims);
        let behind = Self { n_dims: self.n_dims, values: rest };
        (self, behind)
    }

    /// Every row, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.n_dims.max(1))
    }
}

/// Sums that run side by side in [`dot`], as many as keep vector units busy.
pub(crate) const N_LANES: usize = 16;

/// The sum of the products of two vectors: their cosine, where both have unit length.
///
/// The order of summing is fixed, so the bits are the same on every machine.
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
