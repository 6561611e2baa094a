//! The cosine of two vectors, the same bits on every machine.
//!
//! There is no join here: callers hold each vector against the leaders of its scope.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_product_takes_every_dimension() {
        let a: Vec<f32> = (0..37_u16).map(f32::from).collect();
        // The sum of the squares up to 36, exact in an f32.
        assert_eq!(dot(&a, &a).to_bits(), 16_206_f32.to_bits());
        assert_eq!(dot(&[], &[]).to_bits(), 0);
    }
}
