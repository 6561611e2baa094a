//! Merges vectors by the cosine of their angle.
//!
//! Every vector is held against every leader, in `f32` and with one order of
//! summing, so that a score is the same bits whatever the block or thread. There is
//! no index: use it for the queries of one scope, or collections up to some tens of
//! thousands.

use rayon::prelude::*;

use super::Merge;

/// Vectors held against the settled leaders at a time.
const BLOCK_LEN: usize = 256;

/// Vectors of one task, for which a leader's row is fetched from memory once.
const ROWS_PER_TASK: usize = 16;

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

/// Merges each vector into the earlier leader with the highest cosine of at least `threshold`, the earliest one
/// at a tie; a vector without any becomes a leader and stays (`None`).
///
/// `vectors` holds one row of `dims` numbers after the other, each of unit length or, for a text with nothing in
/// it, all zero; these stay as long as the threshold is above 0. Higher thresholds merge less. The result has one
/// entry a row. Gives nothing when `cancelled` says so.
pub fn merge_by_cosine(
    vectors: &[f32],
    dims: usize,
    threshold: f32,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    merge_in_blocks(vectors, dims, threshold, BLOCK_LEN, cancelled)
}

fn merge_in_blocks(
    vectors: &[f32],
    dims: usize,
    threshold: f32,
    block_len: usize,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    // Without dimensions there are no rows either.
    let dims = dims.max(1);
    let mut leaders = Leaders { dims, threshold, rows: Vec::new(), items: Vec::new() };
    let mut merges = Vec::with_capacity(vectors.len() / dims);
    for block in vectors.chunks(block_len * dims) {
        let tasks = block.par_chunks(ROWS_PER_TASK * dims);
        let found = tasks.map(|rows| (!cancelled()).then(|| leaders.best_of_all(rows)));
        let found: Vec<_> = found.collect::<Option<_>>()?;
        let n_settled = leaders.items.len();
        for (row, mut found) in block.chunks(dims).zip(found.into_iter().flatten()) {
            for fresh in n_settled..leaders.items.len() {
                leaders.hold_against(fresh, row, &mut found);
            }
            if found.is_none() {
                leaders.add(row, merges.len());
            }
            merges.push(found.map(|found| Merge { leader: found.leader, score: found.cosine.into() }));
        }
    }
    Some(merges)
}

/// A leader that reaches the threshold.
#[derive(Clone, Copy)]
struct Found {
    leader: usize,
    cosine: f32,
}

/// The leaders so far in order, their rows side by side.
struct Leaders {
    dims: usize,
    threshold: f32,
    rows: Vec<f32>,
    items: Vec<usize>,
}

impl Leaders {
    fn add(&mut self, row: &[f32], item: usize) {
        self.rows.extend_from_slice(row);
        self.items.push(item);
    }

    /// The best leader for each of some rows.
    fn best_of_all(&self, rows: &[f32]) -> Vec<Option<Found>> {
        let mut found = vec![None; rows.len().div_ceil(self.dims)];
        for position in 0..self.items.len() {
            for (row, found) in rows.chunks(self.dims).zip(&mut found) {
                self.hold_against(position, row, found);
            }
        }
        found
    }

    /// Replaces what was found by the leader at `position` where that one is better. Leaders must come in order,
    /// so that the earliest stays at a tie.
    fn hold_against(&self, position: usize, row: &[f32], found: &mut Option<Found>) {
        let cosine = dot(row, &self.rows[position * self.dims..][..row.len()]);
        if cosine >= self.threshold && found.is_none_or(|found| cosine > found.cosine) {
            *found = Some(Found { leader: self.items[position], cosine });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merge(vectors: &[f32], dims: usize, threshold: f32) -> Vec<Option<Merge>> {
        merge_by_cosine(vectors, dims, threshold, &|| false).unwrap()
    }

    /// The definition, one row after the other.
    fn merge_one_by_one(vectors: &[f32], dims: usize, threshold: f32) -> Vec<Option<Merge>> {
        let rows: Vec<&[f32]> = vectors.chunks(dims).collect();
        let mut merges: Vec<Option<Merge>> = Vec::new();
        for row in &rows {
            let mut found: Option<Merge> = None;
            for leader in (0..merges.len()).filter(|&leader| merges[leader].is_none()) {
                let cosine = dot(row, rows[leader]);
                if cosine >= threshold && found.is_none_or(|found| f64::from(cosine) > found.score) {
                    found = Some(Merge { leader, score: cosine.into() });
                }
            }
            merges.push(found);
        }
        merges
    }

    #[test]
    fn a_dot_product_takes_every_dimension() {
        let a: Vec<f32> = (0..37_u16).map(f32::from).collect();
        // The sum of the squares up to 36, exact in an f32.
        assert_eq!(dot(&a, &a).to_bits(), 16_206_f32.to_bits());
        assert_eq!(dot(&[], &[]).to_bits(), 0);
    }

    #[test]
    fn a_vector_joins_the_leader_it_is_closest_to_from_the_threshold_on() {
        let vectors = [1.0, 0.0, 0.0, 1.0, 0.6, 0.8, 0.8, 0.6];
        let near = f64::from(0.8_f32);
        let expected =
            [None, None, Some(Merge { leader: 1, score: near }), Some(Merge { leader: 0, score: near })];
        assert_eq!(merge(&vectors, 2, 0.8), expected);
        assert_eq!(merge(&vectors, 2, 0.81)[2], None);
    }

    #[test]
    fn a_text_with_nothing_in_it_stays() {
        assert_eq!(merge(&[0.0; 6], 2, 0.1), [None; 3]);
        assert_eq!(merge(&[], 2, 0.1), []);
        assert_eq!(merge(&[], 0, 0.1), []);
    }

    #[test]
    fn a_cancelled_merge_gives_nothing() {
        assert_eq!(merge_by_cosine(&[1.0, 0.0], 2, 0.5, &|| true), None);
    }

    fn unit_rows() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(prop::array::uniform3(-3_i8..=3), 0..60).prop_map(|rows| {
            rows.iter()
                .flat_map(|row| {
                    let row = row.map(f32::from);
                    let norm = dot(&row, &row).sqrt();
                    row.map(|x| if norm > 0.0 { x / norm } else { 0.0 })
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_the_definition(
            vectors in unit_rows(), threshold in 0.05_f32..1.0, block_len in 1_usize..40, n_threads in 1_usize..4
        ) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let merges = pool.install(|| merge_in_blocks(&vectors, 3, threshold, block_len, &|| false));
            prop_assert_eq!(merges, Some(merge_one_by_one(&vectors, 3, threshold)));
        }
    }
}
