//! All pairs of vectors whose cosine is above a threshold.
//!
//! The joins are exact as long as that pays: every pair is found that comparing all would find, since what
//! refuses nearly all of them is a bound with a proof. Beyond that an index of graphs may propose pairs; what it
//! misses is estimated and told. Scores are always [`dot`](crate::embed::vectors::dot) of the two rows,
//! never an estimate.

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
