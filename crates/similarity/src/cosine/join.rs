//! All pairs of rows whose cosine is at least a threshold, in one collection or between two.
//!
//! Pairs are ordered by the first row and then the second, and reported for blocks of rows, so that memory only holds
//! the rows and the pairs of one block; the order and the scores are the same for any number of threads. Rows of any
//! length are accepted. Scores have the rounding of single precision: a score can be slightly above 1, and that of
//! two copies slightly below, so a threshold of exactly 1 does not reliably find copies.

use super::exact;
use super::plan::Plan;
#[cfg(feature = "ann")]
use super::proposed;
use super::rows::{Skipped, UnitRows};
use super::search::Search;
use super::sides::Sides;
use crate::vectors::Vectors;
use crate::{Pair, Stopped};

/// The notes about a join, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Notes {
    /// Rows of the first collection that match nothing, in order.
    pub skipped_a: Vec<Skipped>,
    /// Those of the second; empty for a self-join.
    pub skipped_b: Vec<Skipped>,
    /// The plan, with the settings that were used.
    pub plan: Plan,
    /// The statistics of an approximate search.
    pub search: Option<Search>,
}

/// Finds all pairs of one collection, `a` before `b`, and passes them to `take` in blocks of rows.
///
/// A build without the feature `ann` compares all rows under any plan, which [`Notes::plan`] says.
///
/// A pair is two rows whose cosine, as [`dot`](crate::vectors::dot) of the rows at unit length, is `threshold`
/// or more. [`Plan::of_self_join`] returns the fastest plan.
///
/// # Errors
/// If cancelled, or `take` fails.
///
/// # Panics
/// With 2³² rows or more.
pub fn self_join<E>(
    vectors: &Vectors,
    threshold: f64,
    plan: Plan,
    cancelled: &(dyn Fn() -> bool + Sync),
    take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<Notes, Stopped<E>> {
    let rows = UnitRows::of(vectors);
    pairs_of(&Sides { a: &rows, b: None }, threshold, plan, cancelled, take)
}

/// Finds all pairs of a row of one collection with one of another, like [`self_join`].
///
/// [`Plan::of_join`] returns the fastest plan; a graph is built of `b`.
///
/// # Errors
/// As [`self_join`].
///
/// # Panics
/// With 2³² rows or more, or if both have rows with different numbers of dimensions.
pub fn join<E>(
    a: &Vectors,
    b: &Vectors,
    threshold: f64,
    plan: Plan,
    cancelled: &(dyn Fn() -> bool + Sync),
    take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<Notes, Stopped<E>> {
    let is_one_space = a.is_empty() || b.is_empty() || a.n_dims() == b.n_dims();
    assert!(is_one_space, "vectors of {} and of {} dimensions", a.n_dims(), b.n_dims());
    let (a, b) = (UnitRows::of(a), UnitRows::of(b));
    pairs_of(&Sides { a: &a, b: Some(&b) }, threshold, plan, cancelled, take)
}

fn pairs_of<E>(
    sides: &Sides<'_, '_>,
    threshold: f64,
    plan: Plan,
    cancelled: &(dyn Fn() -> bool + Sync),
    take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<Notes, Stopped<E>> {
    let plan = plan.in_range();
    let search = match plan {
        #[cfg(feature = "ann")]
        Plan::Approximate(graph) => proposed::join(sides, threshold, graph, cancelled, take).map(Some),
        _ => exact::join(sides, threshold, cancelled, take).map(|()| None),
    }?;
    let skipped_b = sides.b.map_or_else(Vec::new, |rows| rows.skipped().to_vec());
    Ok(Notes { skipped_a: sides.a.skipped().to_vec(), skipped_b, plan, search })
}
