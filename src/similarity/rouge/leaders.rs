//! Merges token sequences into leaders by ROUGE-L.
//!
//! Items are taken in blocks: a block is held against the leaders before it on all threads,
//! then against its own new leaders in order. An item is only ever compared with leaders, so
//! a clump of copies costs one comparison each. The same search serves a join with a fixed
//! collection, [`best_of`], and the merging of queries, which has a second measure.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::bitmap::CHUNK_LEN;
use super::index::Index;
use super::prepared::Prepared;
use super::spaces::{Kind, Layout, Spaces};
use super::texts::Texts;
use super::widths::{Row, row};
use crate::engine::context::Cancelled;
use crate::similarity::Merge;
use crate::text::lcs::LcsScratch;
use crate::text::rouge::{Threshold, f1};

/// Items held against the settled leaders at a time. Larger blocks keep more threads busy but leave more to
/// the part that runs in order.
pub(in crate::similarity) const BLOCK_LEN: usize = 1_024;

/// Merges each text into the earlier leader with the highest ROUGE-L F1 above the threshold, the earliest one
/// at a tie; a text without any becomes a leader and stays (`None`).
///
/// The result has one entry a text. Gives nothing when `cancelled` says so, which is asked again and again.
pub fn merge_into_leaders(
    texts: &Texts,
    threshold: Threshold,
    cancelled: Cancelled<'_>,
) -> Option<Vec<Option<Merge>>> {
    merge_in_blocks(texts, threshold, BLOCK_LEN, cancelled)
}

pub(super) fn merge_in_blocks(
    texts: &Texts,
    threshold: Threshold,
    block_len: usize,
    cancelled: Cancelled<'_>,
) -> Option<Vec<Option<Merge>>> {
    let spaces = Spaces::new(texts, threshold, cancelled)?;
    let mut leaders = Leaders::new(&spaces, Ties::Exact);
    let mut merges = Vec::with_capacity(texts.len());
    let rows: Vec<Row> = (0..texts.len()).map(row).collect();
    for block in rows.chunks(block_len) {
        let found = leaders.best_settled(block, cancelled)?;
        for (&item, settled) in block.iter().zip(found) {
            let best = leaders.best(item, settled, cancelled)?;
            if best.is_none() {
                leaders.push(item);
            }
            merges.push(best.map(Found::merge));
        }
        if merges.len() < rows.len() {
            leaders.settle(cancelled)?;
        }
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
    cancelled: Cancelled<'_>,
) -> Option<Vec<Option<Merge>>> {
    let spaces = Spaces::new(texts, threshold, cancelled)?;
    let rows: Vec<Row> = (0..texts.len()).map(row).collect();
    let (fixed, items) = rows.split_at(n_fixed);
    let leaders = Leaders::fixed(&spaces, Ties::Exact, fixed, cancelled)?;
    let found = leaders.best_settled(items, cancelled)?;
    Some(found.into_iter().map(|best| best.map(Found::merge)).collect())
}

/// By what the better of two leaders is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::similarity) enum Ties {
    /// By the fractions: two that are equal are a tie, and the earlier leader wins.
    Exact,
    /// By the scores as floats, of which one may be the higher where the fractions are equal.
    Floats,
}

/// The leaders so far.
pub(in crate::similarity) struct Leaders<'s> {
    spaces: &'s Spaces<'s>,
    ties: Ties,
    /// Each layout at least twice as large as the one behind it: texts are laid out anew only when as many have come.
    settled: Vec<Layout<'s>>,
    /// Those that came since.
    fresh: Layout<'s>,
    scratch: LcsScratch,
}

impl<'s> Leaders<'s> {
    pub(in crate::similarity) fn new(spaces: &'s Spaces<'s>, ties: Ties) -> Self {
        let fresh = Layout::new(spaces);
        Self { spaces, ties, settled: Vec::new(), fresh, scratch: LcsScratch::new() }
    }

    /// Some texts that are leaders from the start; nothing where it was called off.
    pub(in crate::similarity) fn fixed(
        spaces: &'s Spaces<'s>,
        ties: Ties,
        rows: &[Row],
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        let mut leaders = Self::new(spaces, ties);
        if !rows.is_empty() {
            leaders.settled.push(Layout::of(spaces, rows, cancelled)?);
        }
        Some(leaders)
    }

    /// The best settled leader of each item, on all threads; items of like length go together. Nothing where it was
    /// called off.
    pub(in crate::similarity) fn best_settled(
        &self,
        items: &[Row],
        cancelled: Cancelled<'_>,
    ) -> Option<Vec<Option<Found>>> {
        let mut best = vec![None; items.len()];
        if self.settled.is_empty() {
            return Some(best);
        }
        for kind in Kind::ALL {
            let mut places = self.spaces.of_kind(kind, items);
            places.sort_by_key(|&at| self.spaces.n_tokens(items[at]));
            let tiles = places.par_chunks(CHUNK_LEN).map_init(LcsScratch::new, |scratch, tile| {
                if cancelled() {
                    return None;
                }
                let probes: Vec<Row> = tile.iter().map(|&at| items[at]).collect();
                let mut best = vec![None; probes.len()];
                for index in self.settled.iter().flat_map(|layout| layout.indexes(kind)) {
                    improve_each(&mut best, &probes, index, self.ties, scratch, cancelled)?;
                }
                Some(best)
            });
            let found = tiles.collect::<Option<Vec<_>>>()?;
            places.into_iter().zip(found.into_iter().flatten()).for_each(|(at, found)| best[at] = found);
        }
        Some(best)
    }

    /// The best leader of all of an item, where `settled` is the best of the settled ones. Nothing where it was called
    /// off.
    #[allow(clippy::option_option)] // Nothing where it was called off, else the best or none.
    pub(in crate::similarity) fn best(
        &mut self,
        item: Row,
        settled: Option<Found>,
        cancelled: Cancelled<'_>,
    ) -> Option<Option<Found>> {
        let mut best = settled;
        for index in self.fresh.indexes(self.spaces.kind(item)) {
            let best = std::slice::from_mut(&mut best);
            improve_each(best, &[item], index, self.ties, &mut self.scratch, cancelled)?;
        }
        Some(best)
    }

    /// Adds a leader.
    pub(in crate::similarity) fn push(&mut self, item: Row) {
        self.fresh.push(item);
    }

    /// Lays out the leaders that came, for all threads to look at; nothing where it was called off.
    pub(in crate::similarity) fn settle(&mut self, cancelled: Cancelled<'_>) -> Option<()> {
        let mut rows: Vec<Row> = self.fresh.rows().collect();
        if rows.is_empty() {
            return Some(());
        }
        while let Some(last) = self.settled.pop_if(|last| last.len() < 2 * rows.len()) {
            rows.extend(last.rows());
        }
        self.settled.push(Layout::of(self.spaces, &rows, cancelled)?);
        self.fresh = Layout::new(self.spaces);
        Some(())
    }
}

/// Takes for each item the best of some more leaders; nothing where it was called off.
fn improve_each(
    best: &mut [Option<Found>],
    items: &[Row],
    leaders: &Index<'_>,
    ties: Ties,
    scratch: &mut LcsScratch,
    cancelled: Cancelled<'_>,
) -> Option<()> {
    let prepared = leaders.prepared();
    let all = leaders.candidates(items, |at, leader| {
        prepared.improve(&mut best[at], items[at], leader, ties, scratch, cancelled);
        if cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    all.is_continue().then_some(())
}

impl Prepared<'_> {
    /// Takes a leader if it is above the threshold and better than the best so far.
    fn improve(
        &self,
        best: &mut Option<Found>,
        item: Row,
        leader: Row,
        ties: Ties,
        scratch: &mut LcsScratch,
        cancelled: Cancelled<'_>,
    ) {
        let (m, n) = (self.n_tokens(item), self.n_tokens(leader));
        let min_lcs = self.threshold.min_lcs(m, n);
        let min_lcs = best.map_or(min_lcs, |best| min_lcs.max(best.min_lcs_of_better(m + n)));
        if let Some(lcs) = self.common_at_least(item, leader, min_lcs, scratch, cancelled) {
            let other = Found { leader, lcs, m, n };
            if best.is_none_or(|best| other.is_better_than(best, ties)) {
                *best = Some(other);
            }
        }
    }
}

/// A leader above the threshold.
#[derive(Debug, Clone, Copy)]
pub(in crate::similarity) struct Found {
    leader: Row,
    lcs: usize,
    /// The item's number of tokens, in the space of this comparison.
    m: usize,
    /// The leader's.
    n: usize,
}

impl Found {
    pub(in crate::similarity) fn merge(self) -> Merge {
        Merge { leader: self.leader as usize, score: self.score() }
    }

    fn score(self) -> f64 {
        f1(self.lcs, self.m, self.n)
    }

    /// Whether this is the better leader: the higher F1, or the earlier at a tie.
    fn is_better_than(self, other: Self, ties: Ties) -> bool {
        let order = match ties {
            Ties::Floats => self.score().total_cmp(&other.score()),
            // F1 is 2·lcs / (m + n); fractions compare by their cross products.
            Ties::Exact => {
                let ours = self.lcs as u128 * (other.m + other.n) as u128;
                ours.cmp(&(other.lcs as u128 * (self.m + self.n) as u128))
            }
        };
        order.then(other.leader.cmp(&self.leader)).is_gt()
    }

    /// The least common subsequence with which a leader may be better, with so many tokens in both: one of the same
    /// fraction may be the earlier one, or the higher float.
    fn min_lcs_of_better(self, n_tokens: usize) -> usize {
        let lcs = (self.lcs as u128 * n_tokens as u128).div_ceil((self.m + self.n) as u128);
        usize::try_from(lcs).unwrap_or(usize::MAX)
    }
}
