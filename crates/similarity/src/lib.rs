//! Finds near-duplicates in a collection or between two.
//!
//! Merging is greedy and without chains: each item in order either joins the best *leader* above
//! the threshold or becomes a leader itself. So every merged item has a direct score with its
//! leader, and no two leaders are above the threshold. The results are exact (no sampling, no
//! missed pairs) and the same for any number of threads. Only a cosine join may use an
//! approximate index, if an exact join would take too long, and then reports that.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod cosine;
pub mod overlap;
pub mod rouge;
pub mod sequences;
pub mod templates;
pub mod vectors;

/// The leader that an item joined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// The index of the leader, always an earlier item.
    pub leader: usize,
    /// The item's score with the leader.
    pub score: f64,
}

/// Two items above the threshold of a join.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The index of the first item.
    pub a: u32,
    /// The index of the second item, in the second collection if there are two.
    pub b: u32,
    /// Their score, by the measure of the join.
    pub score: f64,
}

/// The reason why a join ended early.
#[derive(Debug)]
pub enum Stopped<E> {
    /// It was cancelled.
    Cancelled,
    /// The consumer of the pairs failed.
    Sink(E),
}
