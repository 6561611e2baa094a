//! Which items of a collection are near copies of which.
//!
//! Merging is greedy and without chains: items come in order, each either joins the
//! best *leader* above the threshold or becomes a leader itself. So every merged item
//! has a direct score with the item that stays, and no two that stay are above the
//! threshold. The answers are exact (nothing is sampled, no near copy is missed) and
//! the same for any number of threads. Only a join of vectors by cosine may use an approximate index, where comparing
//! all would take too long, and then it says so.

pub mod cosine;
pub mod overlap;
pub mod queries;
pub mod rouge;
pub mod sequences;

/// Where an item went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// The index of the item that stays, always an earlier one.
    pub leader: usize,
    /// The item's own score with it.
    pub score: f64,
}

/// Two items of a join above its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The number of the one.
    pub a: u32,
    /// The number of the other, of the second collection where there are two.
    pub b: u32,
    /// How alike they are, by the join's measure.
    pub score: f64,
}

/// Why a join ended early.
#[derive(Debug)]
pub enum Stopped<E> {
    /// It was called off.
    Cancelled,
    /// What took the pairs could not.
    Sink(E),
}
