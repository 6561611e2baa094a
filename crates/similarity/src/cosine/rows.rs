//! Rows of unit length, and rows that cannot be normalised.
//!
//! A row with unit length within float noise does not change, so scores are [`dot`](crate::vectors::dot) of the
//! embedder's vectors. Any other row is divided by its length, computed in double precision and in a fixed order,
//! with the same bits on every machine.

use std::borrow::Cow;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::vectors::Vectors;

/// Maximum difference from 1 of the squared length of a row that is not divided.
const UNIT_NOISE: f64 = 1e-6;

/// Maximum squared length of a unit row, including rounding.
pub(super) const MAX_NORM_SQUARED: f64 = 1.0 + 2.0 * UNIT_NOISE;

/// Number of partial sums.
const N_LANES: usize = 16;

/// The reason why a row matches nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// All its numbers are zero, so it has no direction.
    Zero,
    /// It has a NaN.
    NotANumber,
    /// It has an infinite number.
    Infinite,
}

/// A row that matches nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// Its number in its collection.
    pub row: u32,
    /// The reason.
    pub why: Unfit,
}

/// The rows of a collection, each of unit length or unfit.
pub(super) struct UnitRows<'v> {
    vectors: Cow<'v, Vectors>,
    skipped: Vec<Skipped>,
}

impl<'v> UnitRows<'v> {
    pub(super) fn of(vectors: &'v Vectors) -> Self {
        let n_rows = row(vectors.len());
        let lengths: Vec<_> =
            (0..n_rows).into_par_iter().map(|row| length(vectors.get(row as usize))).collect();
        let unfit = (0..n_rows).zip(&lengths);
        let skipped = unfit.filter_map(|(row, length)| Some(Skipped { row, why: length.err()? })).collect();
        let vectors = if lengths.iter().all(|length| *length == Ok(1.0)) {
            Cow::Borrowed(vectors)
        } else {
            Cow::Owned(divided(vectors, &lengths))
        };
        Self { vectors, skipped }
    }

    pub(super) fn len(&self) -> usize {
        self.vectors.len()
    }

    pub(super) fn n_dims(&self) -> usize {
        self.vectors.n_dims()
    }

    /// Returns a row of unit length; all zero if it is unfit.
    pub(super) fn get(&self, row: u32) -> &[f32] {
        self.vectors.get(row as usize)
    }

    pub(super) fn is_fit(&self, row: u32) -> bool {
        self.skipped.binary_search_by_key(&row, |skipped| skipped.row).is_err()
    }

    /// Returns some of the rows, which must be fit.
    #[cfg(feature = "ann")]
    pub(super) fn some(&self, rows: &[u32]) -> UnitRows<'static> {
        let values = rows.iter().flat_map(|&row| self.get(row)).copied().collect();
        UnitRows { vectors: Cow::Owned(Vectors::new(self.n_dims(), values)), skipped: Vec::new() }
    }

    /// Returns the unfit rows, in order.
    pub(super) fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }
}

/// Returns the number of the row at an index.
pub(super) fn row(at: usize) -> u32 {
    u32::try_from(at).expect("no machine holds 2³² vectors")
}

/// Returns the divisor of a row: its length, or exactly 1 if it has unit length within float noise.
fn length(row: &[f32]) -> Result<f64, Unfit> {
    let squared = norm_squared(row);
    if squared == 0.0 {
        Err(Unfit::Zero)
    } else if squared.is_nan() {
        Err(Unfit::NotANumber)
    } else if squared.is_infinite() {
        // The square of the largest f32 is far from the largest f64.
        Err(Unfit::Infinite)
    } else if (squared - 1.0).abs() <= UNIT_NOISE {
        Ok(1.0)
    } else {
        Ok(squared.sqrt())
    }
}

/// Returns the sum of squares, computed in a fixed order.
#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd",
    "x86_64+avx+avx2",
    "aarch64+neon"
))]
fn norm_squared(row: &[f32]) -> f64 {
    let mut sums = [0.0_f64; N_LANES];
    let (chunks, rest) = row.as_chunks::<N_LANES>();
    for chunk in chunks {
        for (sum, number) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(*number) * f64::from(*number);
        }
    }
    for (sum, number) in sums.iter_mut().zip(rest) {
        *sum += f64::from(*number) * f64::from(*number);
    }
    sums.iter().sum()
}

/// Divides rows by their lengths; unfit rows become all zero.
fn divided(vectors: &Vectors, lengths: &[Result<f64, Unfit>]) -> Vectors {
    let n_dims = vectors.n_dims();
    let mut values = vec![0.0; vectors.len() * n_dims];
    let rows = values.par_chunks_mut(n_dims.max(1)).enumerate();
    rows.for_each(|(at, row)| {
        if let Ok(length) = lengths[at] {
            divide(row, vectors.get(at), length);
        }
    });
    Vectors::new(n_dims, values)
}

#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd",
    "x86_64+avx+avx2",
    "aarch64+neon"
))]
#[expect(clippy::cast_possible_truncation, reason = "rows are of single precision")]
fn divide(quotients: &mut [f32], numbers: &[f32], by: f64) {
    for (quotient, number) in quotients.iter_mut().zip(numbers) {
        *quotient = (f64::from(*number) / by) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_unit_length_do_not_change() {
        let vectors = Vectors::new(2, vec![0.6, 0.8, 0.6, 0.800_000_2, -1.0, 0.0]);
        let rows = UnitRows::of(&vectors);
        assert!(matches!(rows.vectors, Cow::Borrowed(_)));
        assert_eq!(rows.skipped(), []);
    }

    #[test]
    fn any_length_becomes_one() {
        let vectors = Vectors::new(2, vec![3e38, 3e38, 3e-45, 4e-45, 3.0, 4.0]);
        let rows = UnitRows::of(&vectors);
        let half = std::f32::consts::FRAC_1_SQRT_2;
        assert_eq!(rows.get(0), [half, half]);
        // The smallest numbers there are: two and three times the least.
        assert_eq!(rows.get(1), [0.554_700_2, 0.832_050_3]);
        assert_eq!(rows.get(2), [0.6, 0.8]);
        assert_eq!(rows.skipped(), []);
    }

    #[test]
    fn unfit_rows_are_listed_with_the_reason() {
        let inf = f32::INFINITY;
        let vectors = Vectors::new(2, vec![0.0, -0.0, 1.0, 0.0, f32::NAN, inf, -inf, 0.0]);
        let rows = UnitRows::of(&vectors);
        let whys = [(0, Unfit::Zero), (2, Unfit::NotANumber), (3, Unfit::Infinite)];
        assert_eq!(rows.skipped(), whys.map(|(row, why)| Skipped { row, why }));
        assert_eq!([0, 1, 2, 3].map(|row| rows.is_fit(row)), [false, true, false, false]);
        assert_eq!(rows.get(3), [0.0, 0.0]);
    }
}
