//! The cosine of two vectors, the same bits on every machine, and all pairs above one.
//!
//! The joins are exact as long as that pays: every pair is found that comparing all would find, since what
//! refuses nearly all of them is a bound with a proof. Beyond that an index of graphs may propose pairs; what it
//! misses is estimated and told. Scores are always [`dot`] of the two rows, never an estimate.

mod bounds;
mod copies;
mod exact;
mod graph;
pub mod join;
mod kernel;
pub mod plan;
pub mod proposed;
pub mod rows;
pub(super) mod sparse;
#[cfg(test)]
mod tests;
mod tuning;

/// Sums that run side by side in [`dot`], as many as keep vector units busy.
const N_LANES: usize = 16;

/// The sum of the products of two vectors: their cosine, where both have unit length.
///
/// The order of summing is fixed, so the bits are the same on every machine.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    debug_assert_eq!(a.len(), b.len(), "vectors of different spaces");
    let mut sums = [0.0_f32; N_LANES];
    let (a_chunks, a_rest) = a.as_chunks::<N_LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<N_LANES>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..N_LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += a * b;
    }
    sums.iter().sum()
}
