//! Merges token sequences into leaders by ROUGE-L.
//!
//! Items are taken in blocks: a block is held against the leaders before it on all threads,
//! then against its own new leaders in order. An item is only ever compared with leaders, so
//! a clump of copies costs one comparison each. The same search serves a join with a fixed
//! collection, [`best_of`].

use rayon::prelude::*;

use super::bitmap::CHUNK_LEN;
use super::index::{Index, Prepared, Row, row};
use crate::similarity::Merge;
use crate::similarity::sequences::Sequences;
use crate::text::lcs::LcsScratch;
use crate::text::rouge::{Threshold, f1};

/// Items held against the settled leaders at a time. Larger blocks keep more threads busy but leave more to
/// the part that runs in order.
const BLOCK_LEN: usize = 1_024;

/// Merges each item into the earlier leader with the highest ROUGE-L F1 above the threshold, the earliest one
/// at a tie; an item without any becomes a leader and stays (`None`).
///
/// Items are token numbers of one `Vocabulary`; the result has one entry an item. Gives nothing when `cancelled`
/// says so, which is asked again and again.
pub fn merge_into_leaders(
    items: &Sequences,
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    merge_in_blocks(items, threshold, BLOCK_LEN, cancelled)
}

pub(super) fn merge_in_blocks(
    items: &Sequences,
    threshold: Threshold,
    block_len: usize,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    let prepared = Prepared::new(items, threshold);
    let mut settled = Leaders::default();
    let mut merges = Vec::with_capacity(items.len());
    let mut scratch = LcsScratch::new();
    let rows: Vec<Row> = (0..items.len()).map(row).collect();
    for block in rows.chunks(block_len) {
        let found = best_of_each(&prepared, block, &settled.indexes, cancelled)?;
        let mut fresh = Index::of(&prepared, Vec::new());
        for (&item, mut best) in block.iter().zip(found) {
            prepared.improve(&mut best, item, &fresh, &mut scratch);
            if best.is_none() {
                fresh.push(item);
            }
            merges.push(best.map(|best| best.merge(&prepared, item)));
        }
        settled.add(&prepared, fresh.rows());
    }
    Some(merges)
}

/// Finds for each item the one of some fixed sequences with the highest ROUGE-L F1 above the threshold, the first
/// one at a tie; `leader` is its index there.
///
/// Both sides are token numbers of one `Vocabulary`. Gives nothing when `cancelled` says so, which is asked again
/// and again.
pub fn best_of(
    fixed: &Sequences,
    items: &Sequences,
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    let both: Sequences = fixed.iter().chain(items.iter()).collect();
    let prepared = Prepared::new(&both, threshold);
    let index = [Index::of(&prepared, (0..row(fixed.len())).collect())];
    let items: Vec<Row> = (fixed.len()..both.len()).map(row).collect();
    let found = best_of_each(&prepared, &items, &index, cancelled)?;
    Some(items.iter().zip(found).map(|(&item, best)| best.map(|best| best.merge(&prepared, item))).collect())
}

/// The best leader of each item, on all threads; items of like length go together.
fn best_of_each(
    prepared: &Prepared<'_>,
    items: &[Row],
    leaders: &[Index<'_>],
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Found>>> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&at| prepared.n_tokens(items[at]));
    let tiles = order.par_chunks(CHUNK_LEN).map_init(LcsScratch::new, |scratch, tile| {
        if cancelled() {
            return None;
        }
        let probes: Vec<Row> = tile.iter().map(|&at| items[at]).collect();
        Some(prepared.best_leaders(&probes, leaders, scratch))
    });
    let mut best = vec![None; items.len()];
    let found = tiles.collect::<Option<Vec<_>>>()?;
    order.into_iter().zip(found.into_iter().flatten()).for_each(|(at, found)| best[at] = found);
    Some(best)
}

impl Prepared<'_> {
    fn best_leaders(
        &self,
        probes: &[Row],
        leaders: &[Index<'_>],
        scratch: &mut LcsScratch,
    ) -> Vec<Option<Found>> {
        let mut best: Vec<Option<Found>> = vec![None; probes.len()];
        for index in leaders {
            index.candidates(probes, |at, leader| self.compare(&mut best[at], probes[at], leader, scratch));
        }
        best
    }

    /// Takes the best of some more leaders.
    fn improve(&self, best: &mut Option<Found>, item: Row, leaders: &Index<'_>, scratch: &mut LcsScratch) {
        leaders.candidates(&[item], |_, leader| self.compare(best, item, leader, scratch));
    }

    /// Takes a leader if it is above the threshold and better than the best so far.
    fn compare(&self, best: &mut Option<Found>, item: Row, leader: Row, scratch: &mut LcsScratch) {
        let (m, n) = (self.n_tokens(item), self.n_tokens(leader));
        let min_lcs = self.threshold.min_lcs(m, n);
        let min_lcs = best.map_or(min_lcs, |best| min_lcs.max(best.min_lcs_of_better(m, n)));
        if let Some(lcs) = self.lcs_at_least(item, leader, min_lcs, scratch) {
            let other = Found { leader, lcs, n };
            if best.is_none_or(|best| other.is_better_than(best, m)) {
                *best = Some(other);
            }
        }
    }
}

/// Leaders in few indexes, each at least twice as large as the one behind it: an index is laid out anew only when
/// as many have come.
#[derive(Default)]
struct Leaders<'p> {
    indexes: Vec<Index<'p>>,
}

impl<'p> Leaders<'p> {
    fn add(&mut self, prepared: &'p Prepared<'p>, fresh: &[Row]) {
        let mut rows = fresh.to_vec();
        while let Some(last) = self.indexes.pop_if(|last| last.rows().len() < 2 * rows.len()) {
            rows.extend(last.rows());
        }
        if !rows.is_empty() {
            self.indexes.push(Index::of(prepared, rows));
        }
    }
}

/// A leader above the threshold.
#[derive(Clone, Copy)]
struct Found {
    leader: Row,
    lcs: usize,
    /// The leader's number of tokens.
    n: usize,
}

impl Found {
    fn merge(self, prepared: &Prepared<'_>, item: Row) -> Merge {
        Merge { leader: self.leader as usize, score: f1(self.lcs, prepared.n_tokens(item), self.n) }
    }

    /// Whether this is the better leader for an item of `m` tokens: the higher F1, or the earlier at a tie.
    fn is_better_than(self, other: Self, m: usize) -> bool {
        // F1 is 2·lcs / (m + n); fractions compare by their cross products.
        let ours = self.lcs as u128 * (m + other.n) as u128;
        let theirs = other.lcs as u128 * (m + self.n) as u128;
        ours > theirs || (ours == theirs && self.leader < other.leader)
    }

    /// The least common subsequence with which a leader of `n` tokens may be better.
    fn min_lcs_of_better(self, m: usize, n: usize) -> usize {
        let lcs = (self.lcs as u128 * (m + n) as u128).div_ceil((m + self.n) as u128);
        usize::try_from(lcs).unwrap_or(usize::MAX)
    }
}
