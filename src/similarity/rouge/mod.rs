//! ROUGE-L between many sequences: joins and merging, exact.
//!
//! Nearly all pairs are refused by bounds on how much two sequences differ; what remains is
//! compared exactly. No index is approximate, and no answer depends on the threads.

pub(super) mod bitmap;
mod index;
pub mod join;
pub mod leaders;
mod postings;
mod prepared;
pub(super) mod spaces;
#[cfg(test)]
mod tests;
pub mod texts;
pub(super) mod widths;
