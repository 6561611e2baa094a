//! A bound on the number of elements that two rows share, and the rounding error of sums.

/// The number of elements of a row, and a line that is an upper bound of its sums of squares.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bound {
    pub(super) n_elements: usize,
    pub(super) base: f64,
    pub(super) slope: f64,
}

impl Bound {
    #[expect(clippy::cast_precision_loss, reason = "counts of dimensions are far below 2⁵³")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    pub(super) fn of(row: &[f32], threshold: f64) -> Self {
        let mut squares: Vec<f64> = row
            .iter()
            .filter(|&&value| value != 0.0)
            .map(|&value| f64::from(value) * f64::from(value))
            .collect();
        squares.sort_unstable_by(|x, y| y.total_cmp(x));
        let n_elements = squares.len();
        if n_elements == 0 {
            return Self::default();
        }
        // Two rows at the threshold share about this many elements.
        let touching = ((threshold * n_elements as f64) as usize).clamp(1, n_elements);
        let slope = squares[touching - 1];
        let sum: f64 = squares[..touching].iter().sum();
        Self { n_elements, base: (sum - slope * touching as f64).max(0.0), slope }
    }

    /// Returns a bound that is valid for both rows.
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            n_elements: self.n_elements.max(other.n_elements),
            base: self.base.max(other.base),
            slope: self.slope.max(other.slope),
        }
    }

    /// Returns the maximum size of the symmetric difference of two rows with a cosine of at least `least`; `None` if
    /// there cannot be such rows.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a count")]
    #[expect(clippy::cast_precision_loss, reason = "counts of dimensions are far below 2⁵³")]
    pub(super) fn most_lacking(self, other: Self, least: f64) -> Option<u64> {
        let n_elements = self.n_elements + other.n_elements;
        if least <= 0.0 {
            return Some(n_elements as u64);
        }
        // Rounded down by more than the error of sums of doubles.
        let shared = (2.0 * least - self.base - other.base) / (self.slope + other.slope) - 1e-6;
        let most = self.n_elements.min(other.n_elements);
        // Without elements this is NaN or infinite.
        (shared <= most as f64).then(|| (n_elements - 2 * shared.ceil().max(0.0) as usize) as u64)
    }
}

/// Returns the maximum rounding error of the cosine of rows with `n_dims` numbers.
#[expect(clippy::cast_precision_loss, reason = "counts of dimensions are far below 2⁵³")]
pub(super) fn slack(n_dims: usize) -> f64 {
    // The error of a sum of n products is about n·2⁻²⁴; see `bounds`.
    2.0 * (n_dims + 2) as f64 / f64::from(1 << 24) + 1e-9
}
