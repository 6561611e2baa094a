//! Joins of vectors: all pairs whose cosine is at or above a threshold.
//!
//! Up to some size the joins are exact: a proven bound rejects nearly all pairs, and every pair at or above the
//! threshold is reported. For larger collections a graph index may propose pairs; its recall is estimated and
//! reported. A build without the feature `ann` has no graph and compares all rows. Scores are always [`dot`](crate::vectors::dot) of the two rows, never an estimate.

mod bounds;
#[cfg(feature = "ann")]
mod copies;
mod exact;
#[cfg(feature = "ann")]
mod graph;
pub mod join;
mod kernel;
pub mod plan;
#[cfg(feature = "ann")]
mod proposed;
pub mod rows;
pub mod search;
mod sides;
pub mod sparse;
#[cfg(test)]
mod tests;
mod tuning;
