//! Selects the dimensions of the head, with a sample of the rows.
//!
//! Dimensions in which rows differ most come first, because they reject the most pairs. More dimensions reject more
//! pairs but cost more for every pair, so their number is the one with the cheapest join of the sample. The selection
//! only affects the time.

#![expect(clippy::cast_precision_loss, reason = "counts of a sample are far below 2⁵³")]

use rayon::prelude::*;

use super::bounds::MAX_HEAD;
use super::rows::{UnitRows, row};
use super::sides::Sides;
use crate::vectors::dot;

/// Maximum number of rows in the sample of a collection.
const SAMPLE_LEN: usize = 256;
/// Minimum number of rows in the sample of a collection.
const MIN_SAMPLE_LEN: usize = 64;

/// Between the two, one in this many rows is sampled.
const SAMPLED_EVERY: usize = 32;

/// Step of the number of dimensions of a head.
const STEP: usize = 32;

/// The cost of comparing two rows exactly per dimension, relative to a dimension of a head.
const EXACT_COST: f64 = 24.0;

/// The fixed cost of the bound of two heads, relative to a dimension of a head.
const LOOK_COST: f64 = 24.0;

/// The approximate increase of the bound of two complete rows by rounding. A low value costs time but no pairs.
const ROUNDING: f64 = 0.015;

/// The selected dimensions for a join.
pub(super) struct Tuning {
    /// The dimensions of the heads.
    pub(super) dims: Vec<u32>,
    /// The share of sampled pairs at or above the threshold.
    pub(super) share_found: f64,
}

impl Tuning {
    pub(super) fn of(sides: &Sides<'_, '_>, threshold: f64) -> Self {
        let (a, b) = (sample(sides.a), sample(sides.b()));
        let mut dims = by_variance(&a, &b);
        let (a, b) = (reordered(&a, &dims), reordered(&b, &dims));
        let n_steps = dims.len().min(MAX_HEAD).div_ceil(STEP).max(1);
        // Both samples of a self-join have the same rows at the same indices.
        let each = a.par_iter().enumerate().map(|(at, a)| {
            let wanted = b.iter().enumerate().filter(|(other, _)| sides.is_wanted(row(at), row(*other)));
            wanted.fold(AcceptedCounts::none(n_steps), |passed, (_, b)| passed.with(a, b, threshold))
        });
        let passed = each.reduce(|| AcceptedCounts::none(n_steps), AcceptedCounts::and);
        dims.truncate(passed.cheapest_step(dims.len()) * STEP);
        Self { dims, share_found: passed.share(passed.found) }
    }
}

/// Returns evenly spaced rows of a collection.
fn sample<'r>(rows: &'r UnitRows<'_>) -> Vec<&'r [f32]> {
    let n_sampled = (rows.len() / SAMPLED_EVERY).clamp(MIN_SAMPLE_LEN, SAMPLE_LEN).min(rows.len());
    let at = (0..n_sampled).map(|at| row(at * rows.len() / n_sampled));
    at.filter(|&row| rows.is_fit(row)).map(|row| rows.get(row)).collect()
}

/// Returns all dimensions, sorted by descending variance.
fn by_variance(a: &[&[f32]], b: &[&[f32]]) -> Vec<u32> {
    let n_dims = a.iter().chain(b).next().map_or(0, |row| row.len());
    let mut sums = vec![(0.0_f64, 0.0_f64); n_dims];
    let mut n_rows = 0.0;
    for row in a.iter().chain(b) {
        n_rows += 1.0;
        for ((sum, squares), number) in sums.iter_mut().zip(*row) {
            *sum += f64::from(*number);
            *squares += f64::from(*number) * f64::from(*number);
        }
    }
    let variance = |dim: u32| {
        let (sum, squares) = sums[dim as usize];
        squares - sum * sum / n_rows
    };
    let mut dims: Vec<u32> = (0..row(n_dims)).collect();
    dims.sort_by(|&x, &y| variance(y).total_cmp(&variance(x)));
    dims
}

/// A row of the sample, with the remaining squared length after each step.
struct SampledRow {
    numbers: Vec<f32>,
    rests: Vec<f32>,
}

fn reordered(rows: &[&[f32]], dims: &[u32]) -> Vec<SampledRow> {
    let reordered = rows.iter().map(|row| {
        let numbers: Vec<f32> = dims.iter().map(|&dim| row[dim as usize]).collect();
        let mut rest = 1.0;
        let rests = numbers.chunks(STEP).map(|step| {
            rest -= dot(step, step);
            rest.max(0.0)
        });
        SampledRow { rests: rests.collect(), numbers }
    });
    reordered.collect()
}

/// The number of pairs in the sample that the bound accepts.
struct AcceptedCounts {
    /// For heads of one step, two steps, and so on.
    by_step: Vec<usize>,
    found: usize,
    all: usize,
}

impl AcceptedCounts {
    fn none(n_steps: usize) -> Self {
        Self { by_step: vec![0; n_steps], found: 0, all: 0 }
    }

    fn and(mut self, other: Self) -> Self {
        self.by_step.iter_mut().zip(other.by_step).for_each(|(n, other)| *n += other);
        self.found += other.found;
        self.all += other.all;
        self
    }

    fn with(mut self, a: &SampledRow, b: &SampledRow, threshold: f64) -> Self {
        let mut head = 0.0;
        self.all += 1;
        let n_steps = self.by_step.len() as f64;
        let steps = a.numbers.chunks(STEP).zip(b.numbers.chunks(STEP)).zip(a.rests.iter().zip(&b.rests));
        for (step, (numbers, rests)) in steps.enumerate() {
            head += f64::from(dot(numbers.0, numbers.1));
            let rounding = ROUNDING * (step + 1) as f64 / n_steps;
            let passes = head + f64::from(rests.0 * rests.1).sqrt() + rounding >= threshold;
            if let Some(n_passed) = self.by_step.get_mut(step) {
                *n_passed += usize::from(passes);
            }
        }
        self.found += usize::from(head >= threshold);
        self
    }

    fn share(&self, n: usize) -> f64 {
        n as f64 / self.all.max(1) as f64
    }

    /// Returns the number of steps with the cheapest join.
    fn cheapest_step(&self, n_dims: usize) -> usize {
        let cost = |step: usize| {
            let head = (step * STEP).min(n_dims) as f64;
            head + LOOK_COST + self.share(self.by_step[step - 1]) * EXACT_COST * n_dims as f64
        };
        (1..=self.by_step.len()).min_by(|&x, &y| cost(x).total_cmp(&cost(y))).unwrap_or(1)
    }
}
