//! All pairs of rows whose cosine is at least a threshold, of one collection or two.
//!
//! Pairs come in order, by the first row and then the second, some rows at a time, so that memory holds the rows and
//! the pairs of those; the order and the scores are the same for any number of threads. Rows need no unit length.
//! A score is off by the rounding of single precision: it can be a little above 1, and that of two copies a little
//! below, so that a threshold of exactly 1 finds copies by chance.

use super::exact;
use super::plan::Plan;
use super::proposed::{self, Search};
use super::rows::{Skipped, UnitRows};
use super::sides::Sides;
use crate::embed::vectors::Vectors;
use crate::similarity::{Pair, Stopped};

/// What a report says of a join, beside its pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Notes {
    /// Rows of the first collection that match nothing, in order.
    pub skipped_a: Vec<Skipped>,
    /// Those of the second; none where a collection is joined with itself.
    pub skipped_b: Vec<Skipped>,
    /// How pairs were looked for, with the settings that were taken.
    pub plan: Plan,
    /// How that went, where it may have missed some.
    pub search: Option<Search>,
}

/// Finds all pairs of one collection, `a` before `b`, and gives them to `take` some rows at a time.
///
/// A pair is two rows whose cosine, as [`dot`](crate::embed::vectors::dot) of the rows at unit length, is `threshold` or more.
/// [`Plan::of_self_join`] knows the plan that takes least time.
///
/// # Errors
/// Where `cancelled` says so, which is asked again and again, or where `take` fails.
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

/// Finds all pairs of a row of one collection with one of another, as [`self_join`] does.
///
/// [`Plan::of_join`] knows the plan that takes least time; a graph is built of `b`.
///
/// # Errors
/// As [`self_join`].
///
/// # Panics
/// With 2³² rows or more, or where both have rows and not the same number of dimensions.
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
        Plan::Exact => exact::join(sides, threshold, cancelled, take).map(|()| None),
        Plan::Approximate(graph) => proposed::join(sides, threshold, graph, cancelled, take).map(Some),
    }?;
    let skipped_b = sides.b.map_or_else(Vec::new, |rows| rows.skipped().to_vec());
    Ok(Notes { skipped_a: sides.a.skipped().to_vec(), skipped_b, plan, search })
}
