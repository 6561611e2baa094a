//! Exact joins and merging by ROUGE-L.
//!
//! Bounds on the difference of two sequences reject nearly all pairs; the rest is compared
//! exactly. No index is approximate, and no result depends on the number of threads.

pub(super) mod bitmap;
mod index;
pub mod join;
pub mod leaders;
mod postings;
mod prepared;
pub mod spaces;
#[cfg(test)]
mod tests;
pub mod texts;
pub mod widths;
