//! Scores and reports proposed pairs in order, and estimates the recall with a sample.
//!
//! A proposal counts in both directions, and for all copies of its rows. Pairs below the threshold are not reported; a
//! sample of rows that are compared with all others estimates how many pairs were not proposed.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::copies::Copies;
use super::graph::{self, Proposals};
use super::plan::Graph;
use super::rows::row;
use super::search::{Recall, Search};
use super::sides::Sides;
use crate::{Pair, Stopped};

/// Number of rows whose pairs are reported together.
const BLOCK_LEN: usize = 1_024;

/// Number of rows in the sample.
const SAMPLE_LEN: usize = 256;

/// The seed of the sample: the rows whose numbers have the smallest hashes with this seed.
const SEED: u64 = 0;

/// Finds pairs with a graph and passes them to `take` in blocks of rows.
pub(super) fn join<E>(
    sides: &Sides<'_, '_>,
    threshold: f64,
    graph: Graph,
    cancelled: &(dyn Fn() -> bool + Sync),
    mut take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<Search, Stopped<E>> {
    let copies_of_a = Copies::of(sides.a);
    let copies_of_b = sides.b.map(Copies::of);
    let (a, b) = (&copies_of_a, copies_of_b.as_ref().unwrap_or(&copies_of_a));
    let proposals = graph::propose(sides, (a, b), threshold, graph, cancelled);
    let Proposals { pairs, n_lost, max_k } = proposals.ok_or(Stopped::Cancelled)?;
    let proposed = ScoredProposals { sides, threshold, a, b, pairs: both_ways(sides, a, pairs) };
    for start in (0..sides.a.len()).step_by(BLOCK_LEN) {
        let block = row(start)..row(sides.a.len().min(start + BLOCK_LEN));
        let pairs = block.into_par_iter().map(|a| (!cancelled()).then(|| proposed.pairs_of(a)));
        let pairs = pairs.collect::<Option<Vec<_>>>().ok_or(Stopped::Cancelled)?;
        take(&pairs.concat()).map_err(Stopped::Sink)?;
    }
    Ok(Search {
        n_indexed: b.firsts().len(),
        n_copies: a.n_copies() + copies_of_b.as_ref().map_or(0, Copies::n_copies),
        n_lost,
        max_k,
        recall: proposed.recall(),
    })
}

/// Sorts the proposals and removes duplicates; for a self-join, adds both directions, and each row with its copies.
fn both_ways(sides: &Sides<'_, '_>, a: &Copies, mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    if sides.b.is_none() {
        pairs.extend_from_within(..);
        let n_pairs = pairs.len() / 2;
        pairs[n_pairs..].iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
        pairs.extend(a.firsts().iter().map(|&first| (first, first)));
    }
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs
}

struct ScoredProposals<'p, 'r, 'v> {
    sides: &'p Sides<'r, 'v>,
    threshold: f64,
    a: &'p Copies,
    b: &'p Copies,
    /// The proposed pairs of distinct rows, in order.
    pairs: Vec<(u32, u32)>,
}

impl ScoredProposals<'_, '_, '_> {
    /// Returns the pairs of a row, in order.
    fn pairs_of(&self, a: u32) -> Vec<Pair> {
        let first = self.a.first_of(a);
        let start = self.pairs.partition_point(|&(other, _)| other < first);
        let partners = self.pairs[start..].iter().take_while(|&&(other, _)| other == first);
        let rows = partners.flat_map(|&(_, partner)| self.b.equal_to(partner));
        let wanted = rows.filter(|&b| self.sides.is_wanted(a, b));
        let mut pairs: Vec<Pair> = wanted.filter_map(|b| self.sides.pair(a, b, self.threshold)).collect();
        pairs.sort_unstable_by_key(|pair| pair.b);
        pairs
    }

    /// Compares a sample of rows with all others.
    fn recall(&self) -> Recall {
        let sample = sample(self.sides.a.len(), |row| self.sides.a.is_fit(row));
        let of_rows = sample.par_iter().map(|&a| {
            let others = (0..row(self.sides.b().len())).filter(|&b| self.sides.b.is_some() || a != b);
            let fit = others.filter(|&b| self.sides.b().is_fit(b));
            let near: Vec<u32> = fit.filter(|&b| self.sides.pair(a, b, self.threshold).is_some()).collect();
            (near.len(), near.iter().filter(|&&b| self.has(a, b)).count())
        });
        let (n_pairs, n_found) = of_rows.reduce(|| (0, 0), |x, y| (x.0 + y.0, x.1 + y.1));
        Recall { n_rows: sample.len(), n_pairs, n_found }
    }

    fn has(&self, a: u32, b: u32) -> bool {
        self.pairs.binary_search(&(self.a.first_of(a), self.b.first_of(b))).is_ok()
    }
}

/// Returns a sample of fit rows.
fn sample(n_rows: usize, is_fit: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..row(n_rows)).filter(|&row| is_fit(row)).collect();
    rows.sort_by_cached_key(|row| xxh3_64_with_seed(&row.to_le_bytes(), SEED));
    rows.truncate(SAMPLE_LEN);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosine::rows::UnitRows;
    use crate::vectors::Vectors;

    #[test]
    fn pairs_that_are_not_proposed_lower_the_recall() {
        // Two pairs and a copy: 0 is near 1, 2 is near 3, and 4 equals 0.
        let vectors = Vectors::new(2, vec![1.0, 0.0, 0.8, 0.6, 0.0, 1.0, -0.6, 0.8, 1.0, 0.0]);
        let rows = UnitRows::of(&vectors);
        let sides = Sides { a: &rows, b: None };
        let copies = Copies::of(&rows);
        let given = |proposals: Vec<(u32, u32)>| {
            let pairs = both_ways(&sides, &copies, proposals);
            let proposed = ScoredProposals { sides: &sides, threshold: 0.7, a: &copies, b: &copies, pairs };
            let pairs = (0..5).flat_map(|row| proposed.pairs_of(row)).map(|pair| (pair.a, pair.b));
            (pairs.collect::<Vec<_>>(), proposed.recall())
        };
        let recall = |n_found| Recall { n_rows: 5, n_pairs: 8, n_found };
        assert_eq!(given(vec![]), (vec![(0, 4)], recall(2)));
        assert_eq!(given(vec![(1, 0)]), (vec![(0, 1), (0, 4), (1, 4)], recall(6)));
        // A proposal below the threshold is not reported.
        let all = vec![(0, 1), (0, 4), (1, 4), (2, 3)];
        assert_eq!(given(vec![(1, 0), (0, 1), (3, 2), (1, 3)]), (all, recall(8)));
        assert_eq!(recall(6).share(), Some(0.75));
    }
}
