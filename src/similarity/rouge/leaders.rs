//! Merges token sequences into leaders by ROUGE-L.
//!
//! Items are taken in blocks: a block is held against the leaders before it on all threads,
//! then against its own new leaders in order. An item is only ever compared with leaders, so
//! a clump of copies costs one comparison each. The same search serves a join with a fixed
//! collection, [`best_of`].

use rayon::prelude::*;

use super::bitmap::CHUNK_LEN;
use super::index::{Index, Prepared, Row, row};
use super::spaces::{Kind, Layout, Spaces};
use super::texts::Texts;
use crate::similarity::Merge;
use crate::text::lcs::LcsScratch;
use crate::text::rouge::{Threshold, f1};

/// Items held against the settled leaders at a time. Larger blocks keep more threads busy but leave more to
/// the part that runs in order.
const BLOCK_LEN: usize = 1_024;

/// Merges each text into the earlier leader with the highest ROUGE-L F1 above the threshold, the earliest one
/// at a tie; a text without any becomes a leader and stays (`None`).
///
/// The result has one entry a text. Gives nothing when `cancelled` says so, which is asked again and again.
pub fn merge_into_leaders(
    texts: &Texts,
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    merge_in_blocks(texts, threshold, BLOCK_LEN, cancelled)
}

pub(super) fn merge_in_blocks(
    texts: &Texts,
    threshold: Threshold,
    block_len: usize,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    let spaces = Spaces::new(texts, threshold);
    let mut settled = Leaders::default();
    let mut merges = Vec::with_capacity(texts.len());
    let mut scratch = LcsScratch::new();
    let rows: Vec<Row> = (0..texts.len()).map(row).collect();
    for block in rows.chunks(block_len) {
        let found = best_of_each(&spaces, block, &settled.layouts, cancelled)?;
        let mut fresh = Layout::of(&spaces, &[]);
        for (&item, mut best) in block.iter().zip(found) {
            for index in fresh.indexes(spaces.kind(item)) {
                improve_each(std::slice::from_mut(&mut best), &[item], index, &mut scratch);
            }
            if best.is_none() {
                fresh.push(item);
            }
            merges.push(best.map(Found::merge));
        }
        settled.add(&spaces, &fresh);
    }
    Some(merges)
}

/// Finds for each text behind the first `n_fixed` the one of those with the highest ROUGE-L F1 above the threshold,
/// the first one at a tie.
///
/// Gives nothing when `cancelled` says so, which is asked again and again.
///
/// # Panics
/// Where `n_fixed` is more than there are texts.
pub fn best_of(
    texts: &Texts,
    n_fixed: usize,
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    let spaces = Spaces::new(texts, threshold);
    let rows: Vec<Row> = (0..texts.len()).map(row).collect();
    let (fixed, items) = rows.split_at(n_fixed);
    let found = best_of_each(&spaces, items, &[Layout::of(&spaces, fixed)], cancelled)?;
    Some(found.into_iter().map(|best| best.map(Found::merge)).collect())
}

/// The best leader of each item, on all threads; items of like length go together.
fn best_of_each(
    spaces: &Spaces<'_>,
    items: &[Row],
    leaders: &[Layout<'_>],
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Found>>> {
    let mut best = vec![None; items.len()];
    for kind in Kind::ALL {
        let mut places = spaces.of_kind(kind, items);
        places.sort_by_key(|&at| spaces.n_tokens(items[at]));
        let tiles = places.par_chunks(CHUNK_LEN).map_init(LcsScratch::new, |scratch, tile| {
            if cancelled() {
                return None;
            }
            let probes: Vec<Row> = tile.iter().map(|&at| items[at]).collect();
            let mut best = vec![None; probes.len()];
            for index in leaders.iter().flat_map(|leaders| leaders.indexes(kind)) {
                improve_each(&mut best, &probes, index, scratch);
            }
            Some(best)
        });
        let found = tiles.collect::<Option<Vec<_>>>()?;
        places.into_iter().zip(found.into_iter().flatten()).for_each(|(at, found)| best[at] = found);
    }
    Some(best)
}

/// Takes for each item the best of some more leaders.
fn improve_each(best: &mut [Option<Found>], items: &[Row], leaders: &Index<'_>, scratch: &mut LcsScratch) {
    let prepared = leaders.prepared();
    leaders.candidates(items, |at, leader| prepared.improve(&mut best[at], items[at], leader, scratch));
}

impl Prepared<'_> {
    /// Takes a leader if it is above the threshold and better than the best so far.
    fn improve(&self, best: &mut Option<Found>, item: Row, leader: Row, scratch: &mut LcsScratch) {
        let (m, n) = (self.n_tokens(item), self.n_tokens(leader));
        let min_lcs = self.threshold.min_lcs(m, n);
        let min_lcs = best.map_or(min_lcs, |best| min_lcs.max(best.min_lcs_of_better(m + n)));
        if let Some(lcs) = self.common_at_least(item, leader, min_lcs, scratch) {
            let other = Found { leader, lcs, m, n };
            if best.is_none_or(|best| other.is_better_than(best)) {
                *best = Some(other);
            }
        }
    }
}

/// Leaders in few layouts, each at least twice as large as the one behind it: texts are laid out anew only when as
/// many have come.
#[derive(Default)]
struct Leaders<'s> {
    layouts: Vec<Layout<'s>>,
}

impl<'s> Leaders<'s> {
    fn add(&mut self, spaces: &'s Spaces<'s>, fresh: &Layout<'s>) {
        let mut rows: Vec<Row> = fresh.rows().collect();
        while let Some(last) = self.layouts.pop_if(|last| last.len() < 2 * rows.len()) {
            rows.extend(last.rows());
        }
        if !rows.is_empty() {
            self.layouts.push(Layout::of(spaces, &rows));
        }
    }
}

/// A leader above the threshold.
#[derive(Clone, Copy)]
struct Found {
    leader: Row,
    lcs: usize,
    /// The item's number of tokens, in the space of this comparison.
    m: usize,
    /// The leader's.
    n: usize,
}

impl Found {
    fn merge(self) -> Merge {
        Merge { leader: self.leader as usize, score: f1(self.lcs, self.m, self.n) }
    }

    /// Whether this is the better leader: the higher F1, or the earlier at a tie.
    fn is_better_than(self, other: Self) -> bool {
        // F1 is 2·lcs / (m + n); fractions compare by their cross products.
        let ours = self.lcs as u128 * (other.m + other.n) as u128;
        let theirs = other.lcs as u128 * (self.m + self.n) as u128;
        ours > theirs || (ours == theirs && self.leader < other.leader)
    }

    /// The least common subsequence with which a leader may be better, with so many tokens in both.
    fn min_lcs_of_better(self, n_tokens: usize) -> usize {
        let lcs = (self.lcs as u128 * n_tokens as u128).div_ceil((self.m + self.n) as u128);
        usize::try_from(lcs).unwrap_or(usize::MAX)
    }
}
