//! Merges token sequences into leaders by ROUGE-L.
//!
//! Items are processed in blocks: a block is compared with the leaders before it on all threads,
//! then with its own new leaders in order. An item is only compared with leaders, so each item in
//! a cluster of copies needs one comparison. A join with a fixed collection, [`best_of`], and the
//! merging of queries, which has a second measure, use the same search.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::bitmap::CHUNK_LEN;
use super::index::Index;
use super::prepared::Prepared;
use super::spaces::{Layout, Spaces, TextKind};
use super::texts::Texts;
use super::widths::{Row, row};
use crate::Merge;
use callsieve_system::Cancelled;
use callsieve_text::lcs::LcsScratch;
use callsieve_text::rouge::{Threshold, f1};

/// Number of items compared with the settled leaders at a time. Larger blocks keep more threads busy but leave more
/// work for the sequential part.
pub const BLOCK_LEN: usize = 1_024;

/// Merges each text into the earlier leader with the highest ROUGE-L F1 above the threshold, the earliest one on a
/// tie; a text without one becomes a leader (`None`).
///
/// Returns one entry per text, or `None` if cancelled.
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
            merges.push(best.map(LeaderMatch::merge));
        }
        if merges.len() < rows.len() {
            leaders.settle(cancelled)?;
        }
    }
    Some(merges)
}

/// Finds, for each text after the first `n_fixed`, the one of those with the highest ROUGE-L F1 above the threshold,
/// the first one on a tie.
///
/// Returns `None` if cancelled.
///
/// # Panics
/// If `n_fixed` is more than the number of texts.
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
    Some(found.into_iter().map(|best| best.map(LeaderMatch::merge)).collect())
}

/// The rule for the better of two leaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// Compare fractions: equal ones are a tie, and the earlier leader wins.
    Exact,
    /// Compare scores as floats, which may differ for equal fractions.
    Floats,
}

/// The leaders so far.
pub struct Leaders<'s> {
    spaces: &'s Spaces<'s>,
    ties: Ties,
    /// The indexed leaders. Each layout is at least twice as large as the next, so texts are indexed again only when as
    /// many new ones are added.
    settled: Vec<Layout<'s>>,
    /// The new leaders.
    fresh: Layout<'s>,
    scratch: LcsScratch,
}

impl<'s> Leaders<'s> {
    pub(crate) fn new(spaces: &'s Spaces<'s>, ties: Ties) -> Self {
        let fresh = Layout::new(spaces);
        Self { spaces, ties, settled: Vec::new(), fresh, scratch: LcsScratch::new() }
    }

    /// Starts with some texts as leaders; returns `None` if cancelled.
    pub fn fixed(spaces: &'s Spaces<'s>, ties: Ties, rows: &[Row], cancelled: Cancelled<'_>) -> Option<Self> {
        let mut leaders = Self::new(spaces, ties);
        if !rows.is_empty() {
            leaders.settled.push(Layout::of(spaces, rows, cancelled)?);
        }
        Some(leaders)
    }

    /// Finds the best settled leader of each item, on all threads; items of similar length are processed together.
    /// Returns `None` if cancelled.
    pub fn best_settled(&self, items: &[Row], cancelled: Cancelled<'_>) -> Option<Vec<Option<LeaderMatch>>> {
        let mut best = vec![None; items.len()];
        if self.settled.is_empty() {
            return Some(best);
        }
        for kind in TextKind::ALL {
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

    /// Finds the best leader of an item, where `settled` is the best of the settled ones. Returns `None` if cancelled.
    #[allow(clippy::option_option)] // The outer `None` means cancelled, the inner one means no leader.
    pub fn best(
        &mut self,
        item: Row,
        settled: Option<LeaderMatch>,
        cancelled: Cancelled<'_>,
    ) -> Option<Option<LeaderMatch>> {
        let mut best = settled;
        for index in self.fresh.indexes(self.spaces.kind(item)) {
            let best = std::slice::from_mut(&mut best);
            improve_each(best, &[item], index, self.ties, &mut self.scratch, cancelled)?;
        }
        Some(best)
    }

    /// Adds a leader.
    pub fn push(&mut self, item: Row) {
        self.fresh.push(item);
    }

    /// Indexes the new leaders, for the search on all threads; returns `None` if cancelled.
    pub fn settle(&mut self, cancelled: Cancelled<'_>) -> Option<()> {
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

/// Updates the best leader of each item with more leaders; returns `None` if cancelled.
fn improve_each(
    best: &mut [Option<LeaderMatch>],
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
    /// Updates the best leader if this one is above the threshold and better.
    fn improve(
        &self,
        best: &mut Option<LeaderMatch>,
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
            let other = LeaderMatch { leader, lcs, m, n };
            if best.is_none_or(|best| other.is_better_than(best, ties)) {
                *best = Some(other);
            }
        }
    }
}

/// A leader above the threshold.
#[derive(Debug, Clone, Copy)]
pub struct LeaderMatch {
    leader: Row,
    lcs: usize,
    /// The number of tokens of the item, in the space of this comparison.
    m: usize,
    /// The number of tokens of the leader.
    n: usize,
}

impl LeaderMatch {
    /// Returns the merge into this leader.
    pub fn merge(self) -> Merge {
        Merge { leader: self.leader as usize, score: self.score() }
    }

    fn score(self) -> f64 {
        f1(self.lcs, self.m, self.n)
    }

    /// Returns whether this is the better leader: the higher F1, or the earlier one on a tie.
    fn is_better_than(self, other: Self, ties: Ties) -> bool {
        let order = match ties {
            Ties::Floats => self.score().total_cmp(&other.score()),
            // F1 is 2·lcs / (m + n); fractions are compared by their cross products.
            Ties::Exact => {
                let ours = self.lcs as u128 * (other.m + other.n) as u128;
                ours.cmp(&(other.lcs as u128 * (self.m + self.n) as u128))
            }
        };
        order.then(other.leader.cmp(&self.leader)).is_gt()
    }

    /// Returns the minimum length of a common subsequence with which another leader may be better, for this total
    /// number of tokens. A leader with the same fraction may be earlier, or have the higher float.
    fn min_lcs_of_better(self, n_tokens: usize) -> usize {
        let lcs = (self.lcs as u128 * n_tokens as u128).div_ceil((self.m + self.n) as u128);
        usize::try_from(lcs).unwrap_or(usize::MAX)
    }
}
