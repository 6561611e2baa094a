//! Joins of vectors: all pairs whose cosine is at or above a threshold.
//!
//! Up to some size the joins are exact: a proven bound rejects nearly all pairs, and every pair at or above the
//! threshold is reported. For larger collections a graph index may propose pairs; its recall is estimated and
//! reported. Scores are always [`dot`](crate::embed::vectors::dot) of the two rows, never an estimate.

mod bounds;
mod copies;
mod exact;
mod graph;
pub mod join;
mod kernel;
pub mod plan;
pub mod proposed;
pub mod rows;
mod sides;
pub(super) mod sparse;
#[cfg(test)]
mod tests;
mod tuning;
