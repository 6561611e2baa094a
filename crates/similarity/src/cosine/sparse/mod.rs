//! Exact search for the leader with the highest cosine among rows that are mostly zeros.
//!
//! Counts of hashed n-grams of a query are such rows. A row is a set of *elements*: its non-zero dimensions with their
//! signs. Let `P(k)` be the sum of the `k` largest squares of a row. If two rows share `k` elements,
//!
//! `a·b ≤ Σ aᵢ·bᵢ over those ≤ √(P(k)·P'(k)) ≤ (P(k) + P'(k)) / 2`
//!
//! by Cauchy and Schwarz. `P` is concave, so a tangent is an upper bound: the base and the slope of the tangent of
//! each row determine the minimum number of elements that two rows with a cosine at or above a threshold share, and
//! so the maximum size of their symmetric difference, which the bitmaps of `bitmap` test.
//!
//! In any order of elements, two rows have a first common one, and all common elements are from there on. With `R(i)`
//! as the sum of the squares of a row from its index `i` on, `(a·b)² ≤ R(i)·R'(j)`, so it is near the start of both.
//! With rare elements first, few rows have one there (prefix filter: Bayardo, Ma and Srikant, "Scaling up all pairs
//! similarity search", 2007). If elements are too frequent for that, all bitmaps are compared, which is faster than
//! long lists. Scores are [`dot`] of the rows.

mod bound;
mod elements;
mod layout;

use rayon::prelude::*;

use crate::Merge;
use crate::rouge::bitmap;
use crate::rouge::widths::WIDTHS;
use crate::vectors::dot;
use bound::{Bound, slack};
use callsieve_system::Cancelled;
use elements::{MAX_DIMS, Rows, element};
use layout::{Chunk, Layout, MAX_SQUARED, MIN_LISTED, Order, POSTING_COST, Posting, sketch};

/// Number of probes that are compared with a chunk together.
const TILE_LEN: usize = 16;

/// A row that is compared with leaders.
pub struct Probe<'p> {
    row: &'p [f32],
    elements: Vec<u32>,
    bound: Bound,
    /// Its bitmaps, computed for each width on first use.
    bitmaps: [Vec<u64>; WIDTHS.len()],
    /// The rare elements at its start, if there is an order and the row has unit length.
    first: Option<Vec<(u32, f32)>>,
    sketch: u64,
    best: Option<Merge>,
}

/// The leaders that probes are compared with.
#[derive(Clone, Copy)]
struct LeaderTable<'l> {
    threshold: f64,
    rows: &'l Rows,
    /// The item of each row.
    leaders: &'l [usize],
    posting_cost: usize,
}

impl<'p> Probe<'p> {
    /// Prepares a row; returns `None` if it has a non-finite number, because it matches nothing then.
    fn new(row: &'p [f32], order: Option<&Order>, threshold: f64) -> Option<Self> {
        let values = || (0..).zip(row.iter().copied()).filter(|&(_, value)| value != 0.0);
        let elements: Vec<u32> = values().map(|(dim, value)| element(dim, value)).collect();
        let bound = Bound::of(row, threshold);
        let order = order.filter(|_| is_listed(row));
        let first = order.map(|order| order.first(values(), threshold - slack(row.len())));
        let sketch = sketch(&elements);
        let is_fit = row.iter().all(|value| value.is_finite());
        is_fit.then(|| Self { row, elements, bound, bitmaps: Default::default(), first, sketch, best: None })
    }

    /// Returns the minimum cosine of a leader that may be better than the best so far; on a tie the earlier leader is
    /// better.
    fn least(&self, threshold: f64) -> f64 {
        self.best.map_or(threshold, |best| best.score) - slack(self.row.len())
    }

    /// Searches the lists if they have all rows that may match and are short enough; returns whether it did.
    fn search_lists(&mut self, layout: &Layout, known: LeaderTable<'_>) -> bool {
        let least = self.least(known.threshold);
        let (Some(first), Some(lists)) = (&self.first, &layout.lists) else { return false };
        let n_postings: usize = first.iter().map(|&(rank, _)| lists.get(rank).len()).sum();
        if least <= 0.0 || n_postings * known.posting_cost > layout.len() {
            return false;
        }
        let most = |band: &Bound| self.bound.most_lacking(*band, least);
        let limits: Vec<Option<u64>> = lists.bands.iter().map(most).collect();
        let mut found: Vec<u32> = Vec::new();
        for &(rank, rest) in first {
            let is_near = |posting: &&Posting| {
                let n_lacking = u64::from((posting.sketch ^ self.sketch).count_ones());
                f64::from(rest) * f64::from(posting.rest) >= least * least
                    && limits[posting.at as usize / lists.band_len].is_some_and(|limit| n_lacking <= limit)
            };
            found.extend(lists.get(rank).iter().filter(is_near).map(|posting| posting.at));
        }
        found.sort_unstable();
        found.dedup();
        for at in found {
            let row = layout.row(at);
            if self.bound.most_lacking(known.rows.bounds[row as usize], least).is_some() {
                self.improve(row, known);
            }
        }
        true
    }

    fn search_chunk(&mut self, chunk: &Chunk, known: LeaderTable<'_>) {
        let Some(limit) = self.bound.most_lacking(chunk.bound, self.least(known.threshold)) else { return };
        let n_words = chunk.columns.len();
        let at = WIDTHS.iter().position(|&(width, _)| width == n_words).unwrap_or(0);
        if self.bitmaps[at].is_empty() {
            self.bitmaps[at].resize(n_words, 0);
            bitmap::draw(&self.elements, &mut self.bitmaps[at]);
        }
        let mut mask = bitmap::within(&chunk.columns, &self.bitmaps[at], limit);
        while mask != 0 {
            let Some(&row) = chunk.rows.get(mask.trailing_zeros() as usize) else { break };
            self.improve(row, known);
            mask &= mask - 1;
        }
    }

    /// Updates the best leader if this one is at or above the threshold and better.
    fn improve(&mut self, row: u32, known: LeaderTable<'_>) {
        let (leader, score) = (known.leaders[row as usize], f64::from(known.rows.dot(row, self.row)));
        let is_better = |best: Merge| score > best.score || (score >= best.score && leader < best.leader);
        if score >= known.threshold && self.best.is_none_or(is_better) {
            self.best = Some(Merge { leader, score });
        }
    }
}

/// Returns whether a row may be in the lists: its length is at most one.
fn is_listed(row: &[f32]) -> bool {
    f64::from(dot(row, row)) < MAX_SQUARED - slack(row.len())
}

/// Leaders with vectors that are mostly zeros.
pub struct SparseLeaders {
    threshold: f64,
    rows: Rows,
    /// The item of each row.
    leaders: Vec<usize>,
    /// The indexed leaders; each layout is at least twice as large as the next.
    settled: Vec<Layout>,
    fresh: Layout,
    /// `None` before any leader is settled, and after a leader that cannot be in the lists.
    order: Option<Order>,
    may_be_listed: bool,
    n_dims: usize,
    /// [`MIN_LISTED`] and [`POSTING_COST`].
    costs: (usize, usize),
}

impl SparseLeaders {
    /// Returns whether most numbers of some rows are zero, so that this search is faster.
    pub fn is_for<'r>(rows: impl Iterator<Item = &'r [f32]>) -> bool {
        let (mut n_zeros, mut n_numbers) = (0, 0);
        for row in rows {
            if row.len() > MAX_DIMS {
                return false;
            }
            n_zeros += row.iter().filter(|&&value| value == 0.0).count();
            n_numbers += row.len();
        }
        2 * n_zeros > n_numbers
    }

    /// Returns an empty index for pairs with at least this cosine.
    pub fn new(threshold: f64) -> Self {
        Self {
            threshold,
            rows: Rows::default(),
            leaders: Vec::new(),
            settled: Vec::new(),
            fresh: Layout::default(),
            order: None,
            may_be_listed: true,
            n_dims: 0,
            costs: (MIN_LISTED, POSTING_COST),
        }
    }

    fn known(&self) -> LeaderTable<'_> {
        LeaderTable {
            threshold: self.threshold,
            rows: &self.rows,
            leaders: &self.leaders,
            posting_cost: self.costs.1,
        }
    }

    /// Finds the settled leader with the highest cosine for each row, the earliest on a tie, on all threads.
    ///
    /// The result has `None` for rows with a non-finite number. Returns `None` if cancelled.
    pub fn probes<'p>(&self, rows: &[&'p [f32]], cancelled: Cancelled<'_>) -> Option<Vec<Option<Probe<'p>>>> {
        let tiles = rows.par_chunks(TILE_LEN).map(|tile| {
            let probe = |row: &&'p [f32]| Probe::new(row, self.order.as_ref(), self.threshold);
            let mut probes: Vec<_> = tile.iter().map(probe).collect();
            for layout in &self.settled {
                let mut rest: Vec<&mut Probe<'p>> = probes.iter_mut().flatten().collect();
                rest.retain_mut(|probe| !probe.search_lists(layout, self.known()));
                // Each chunk is compared with all probes while it is in the cache.
                let chunks = if rest.is_empty() { &[] } else { &layout.chunks[..] };
                for chunk in chunks {
                    if cancelled() {
                        return None;
                    }
                    for probe in &mut rest {
                        probe.search_chunk(chunk, self.known());
                    }
                }
                if cancelled() {
                    return None;
                }
            }
            Some(probes)
        });
        Some(tiles.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Finds the best of all leaders for a row.
    pub fn best(&self, probe: &mut Probe<'_>) -> Option<Merge> {
        for chunk in &self.fresh.chunks {
            probe.search_chunk(chunk, self.known());
        }
        probe.best
    }

    /// Adds a leader.
    pub fn push(&mut self, leader: usize, probe: &Probe<'_>) {
        let at = self.rows.push(probe.row, probe.bound);
        self.leaders.push(leader);
        self.fresh.push(at, &self.rows, self.threshold);
        self.may_be_listed &= is_listed(probe.row);
        self.n_dims = self.n_dims.max(probe.row.len());
    }

    /// Indexes the new leaders, for the search on all threads; returns `None` if cancelled.
    pub fn settle(&mut self, cancelled: Cancelled<'_>) -> Option<()> {
        let mut rows: Vec<u32> = std::mem::take(&mut self.fresh).rows().collect();
        if rows.is_empty() {
            return Some(());
        }
        if !self.may_be_listed {
            self.order = None;
        } else if self.order.is_none() && self.leaders.len() >= self.costs.0 {
            self.order = Some(Order::of(&self.rows, self.n_dims));
        }
        while let Some(last) = self.settled.pop_if(|last| last.len() < 2 * rows.len()) {
            rows.extend(last.rows());
        }
        let order = self.order.as_ref();
        self.settled.push(Layout::of(&self.rows, order, self.costs.0, self.threshold, rows, cancelled)?);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates rows of unit length that are mostly zeros, some of them near-duplicates.
    fn rows() -> impl Strategy<Value = Vec<Vec<f32>>> {
        let values = prop::sample::select(vec![0.0_f32, 0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 1.5, -2.0]);
        let row = move |n_dims: usize| prop::collection::vec(values.clone(), n_dims);
        let changes = prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), -2_i8..3),
            0..80,
        );
        (prop::sample::select(vec![5_usize, 40, 300])).prop_flat_map(move |n_dims| {
            (prop::collection::vec(row(n_dims), 1..60), changes.clone()).prop_map(|(mut rows, changes)| {
                for (of, at, value) in changes {
                    let mut copy = of.get(&rows).clone();
                    let at = at.index(copy.len());
                    copy[at] = value.into();
                    rows.push(copy);
                }
                for row in &mut rows {
                    let norm = dot(row, row).sqrt();
                    row.iter_mut().filter(|_| norm > 0.0).for_each(|value| *value /= norm);
                }
                rows
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_best_leader_equals_comparing_all(
            rows in rows(), percent in 0_u32..=100, n_leaders in any::<prop::sample::Index>(), settle_every in 1_usize..90,
            costs in prop::sample::select(vec![(MIN_LISTED, POSTING_COST), (1, 0), (8, 1)])
        ) {
            let threshold = f64::from(percent) / 100.0;
            let (leaders, items) = rows.split_at(n_leaders.index(rows.len()));
            let mut sparse = SparseLeaders { costs, ..SparseLeaders::new(threshold) };
            for (at, leader) in leaders.iter().enumerate() {
                let probe = Probe::new(leader, sparse.order.as_ref(), threshold).unwrap();
                sparse.push(at, &probe);
                if at % settle_every == 0 {
                    sparse.settle(&|| false).unwrap();
                }
            }
            let items: Vec<&[f32]> = items.iter().map(Vec::as_slice).collect();
            let probes = sparse.probes(&items, &|| false).unwrap();
            for (item, mut probe) in items.iter().zip(probes.into_iter().flatten()) {
                let mut expected: Option<Merge> = None;
                for (leader, row) in leaders.iter().enumerate() {
                    let score = f64::from(dot(item, row));
                    if score >= threshold && expected.is_none_or(|best| score > best.score) {
                        expected = Some(Merge { leader, score });
                    }
                }
                prop_assert_eq!(sparse.best(&mut probe), expected);
            }
        }
    }

    #[test]
    fn rows_that_share_little_are_never_compared() {
        let unit = |from: usize| {
            let mut row = vec![0.0_f32; 256];
            row[from..from + 25].fill(0.2);
            row
        };
        let bound = Bound::of(&unit(0), 0.8);
        // At a cosine of 0.8, 20 of 25 elements are shared, so each row has five that the other lacks.
        assert_eq!(bound.most_lacking(bound, 0.8), Some(10));
        let mut longer = vec![0.0_f32; 256];
        longer[..100].fill(0.1);
        assert_eq!(bound.most_lacking(Bound::of(&longer, 0.8), 0.8), None);
        assert_eq!(bound.most_lacking(Bound::default(), 0.8), None);
    }

    #[test]
    fn a_row_with_nan_matches_nothing_and_a_search_can_be_cancelled() {
        let leader = [1.0, 0.0, 0.0];
        let mut leaders = SparseLeaders::new(0.5);
        leaders.push(7, &Probe::new(&leader, None, 0.5).unwrap());
        leaders.settle(&|| false).unwrap();
        let found = leaders.probes(&[&leader, &[f32::NAN, 1.0, 0.0]], &|| false).unwrap();
        let best: Vec<_> = found.iter().map(|probe| probe.as_ref().map(|probe| probe.best)).collect();
        assert_eq!(best, [Some(Some(Merge { leader: 7, score: 1.0 })), None]);
        assert!(leaders.probes(&[&leader], &|| true).is_none());
    }
}
