//! Merges token sequences by ROUGE-L.
//!
//! Nearly all pairs are refused by two lower bounds on how much two sequences
//! differ, first their lengths and then a sketch of their tokens; what remains
//! is compared exactly. Items are taken in blocks: a block is held against the
//! leaders before it on all threads, then against its own new leaders in order.
//! The same bounds serve a join with a fixed collection, [`best_of`].

use rayon::prelude::*;

use super::Merge;
use crate::text::lcs::LcsScratch;
use crate::text::rouge::{Threshold, f1};

/// Items held against the settled leaders at a time. Larger blocks keep more threads busy but leave more to
/// the part that runs in order.
const BLOCK_LEN: usize = 512;

/// Merges each item into the earlier leader with the highest ROUGE-L F1 above the threshold, the earliest one
/// at a tie; an item without any becomes a leader and stays (`None`).
///
/// Items are token numbers of one `Vocabulary`; the result has one entry an item. Gives nothing when `cancelled`
/// says so, which is asked before each item.
pub fn merge_into_leaders(
    items: &[Vec<u32>],
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    merge_in_blocks(items, threshold, BLOCK_LEN, cancelled)
}

fn merge_in_blocks(
    items: &[Vec<u32>],
    threshold: Threshold,
    block_len: usize,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    let mut settled = Leaders::new(threshold);
    let mut merges = Vec::with_capacity(items.len());
    let mut scratch = LcsScratch::new();
    for block in items.chunks(block_len) {
        let candidates = block.par_iter().map_init(LcsScratch::new, |scratch, tokens| {
            if cancelled() {
                return None;
            }
            let candidate = Candidate { tokens, sketch: Sketch::new(tokens) };
            let found = settled.best(&candidate, None, items, scratch);
            Some((candidate, found))
        });
        let candidates: Vec<_> = candidates.collect::<Option<_>>()?;
        let mut fresh = Leaders::new(threshold);
        for (candidate, found) in candidates {
            if cancelled() {
                return None;
            }
            let found = fresh.best(&candidate, found, items, &mut scratch);
            if found.is_none() {
                fresh.add(&candidate, merges.len());
            }
            merges.push(
                found.map(|found| Merge { leader: found.leader, score: found.score(candidate.tokens) }),
            );
        }
        settled.absorb(fresh);
    }
    Some(merges)
}

/// Finds for each item the one of some fixed sequences with the highest ROUGE-L F1 above the threshold, the first
/// one at a tie; `leader` is its index there.
///
/// Both sides are token numbers of one `Vocabulary`. Gives nothing when `cancelled` says so, which is asked before
/// each item.
pub fn best_of(
    fixed: &[Vec<u32>],
    items: &[Vec<u32>],
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<Merge>>> {
    let mut leaders = Leaders::new(threshold);
    let entry =
        |(leader, tokens): (usize, &Vec<u32>)| Entry { n: tokens.len(), leader, sketch: Sketch::new(tokens) };
    leaders.entries.extend(fixed.iter().enumerate().map(entry));
    leaders.entries.sort_by_key(|entry| entry.n);
    let found = items.par_iter().map_init(LcsScratch::new, |scratch, tokens| {
        if cancelled() {
            return None;
        }
        let candidate = Candidate { tokens, sketch: Sketch::new(tokens) };
        let found = leaders.best(&candidate, None, fixed, scratch);
        Some(found.map(|found| Merge { leader: found.leader, score: found.score(tokens) }))
    });
    found.collect()
}

/// An item on its way to a leader.
struct Candidate<'a> {
    tokens: &'a [u32],
    sketch: Sketch,
}

/// A leader above the threshold.
#[derive(Clone, Copy)]
struct Found {
    leader: usize,
    lcs: usize,
    /// The leader's number of tokens.
    n: usize,
}

impl Found {
    fn score(self, tokens: &[u32]) -> f64 {
        f1(self.lcs, tokens.len(), self.n)
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

/// Leaders in order of their length, so that those of a fitting length stand together.
struct Leaders {
    threshold: Threshold,
    entries: Vec<Entry>,
}

struct Entry {
    n: usize,
    leader: usize,
    sketch: Sketch,
}

impl Leaders {
    fn new(threshold: Threshold) -> Self {
        Self { threshold, entries: Vec::new() }
    }

    fn add(&mut self, candidate: &Candidate<'_>, leader: usize) {
        let n = candidate.tokens.len();
        let at = self.entries.partition_point(|entry| entry.n <= n);
        self.entries.insert(at, Entry { n, leader, sketch: candidate.sketch.clone() });
    }

    fn absorb(&mut self, fresh: Self) {
        self.entries.extend(fresh.entries);
        // Stable and fast on two sorted runs.
        self.entries.sort_by_key(|entry| entry.n);
    }

    /// The best of these leaders and the one `found` elsewhere.
    fn best(
        &self,
        candidate: &Candidate<'_>,
        mut found: Option<Found>,
        items: &[Vec<u32>],
        scratch: &mut LcsScratch,
    ) -> Option<Found> {
        let m = candidate.tokens.len();
        let first = self.entries.partition_point(|entry| entry.n < self.threshold.shortest(m));
        for entry in &self.entries[first..] {
            let n = entry.n;
            if self.threshold.shortest(n) > m {
                break;
            }
            let min_lcs = self.threshold.min_lcs(m, n);
            let min_lcs = found.map_or(min_lcs, |found| min_lcs.max(found.min_lcs_of_better(m, n)));
            if 2 * min_lcs > m + n
                || candidate.sketch.differs_by_more_than(&entry.sketch, m + n - 2 * min_lcs)
            {
                continue;
            }
            if let Some(lcs) = scratch.lcs_at_least(candidate.tokens, &items[entry.leader], min_lcs) {
                let other = Found { leader: entry.leader, lcs, n };
                if found.is_none_or(|found| other.is_better_than(found, m)) {
                    found = Some(other);
                }
            }
        }
        found
    }
}

/// How often the tokens of a sequence fall into each of a few buckets.
///
/// Sequences of `m` and `n` tokens with a common subsequence of `L` have at most `m + n - 2·L` tokens that the
/// other lacks, and each of these moves one bucket by one. So where buckets differ by more, there is no such
/// subsequence. Counts stop at 255, which only makes the difference smaller.
#[derive(Clone)]
struct Sketch {
    counts: [u8; N_BUCKETS],
}

const N_BUCKETS: usize = 512;

/// Buckets compared between two looks at whether the difference is enough already.
const BUCKETS_PER_CHECK: usize = 64;

impl Sketch {
    fn new(tokens: &[u32]) -> Self {
        let mut counts = [0_u8; N_BUCKETS];
        for &token in tokens {
            // Frequent tokens are seen early and so have small numbers, which the remainder spreads evenly.
            let count = &mut counts[token as usize % N_BUCKETS];
            *count = count.saturating_add(1);
        }
        Self { counts }
    }

    fn differs_by_more_than(&self, other: &Self, limit: usize) -> bool {
        let mut difference = 0;
        let chunks = self.counts.chunks(BUCKETS_PER_CHECK).zip(other.counts.chunks(BUCKETS_PER_CHECK));
        for (ours, theirs) in chunks {
            difference +=
                ours.iter().zip(theirs).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>() as usize;
            if difference > limit {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::text::lcs::lcs;

    fn threshold(text: &str) -> Threshold {
        text.parse().unwrap()
    }

    fn merge(items: &[Vec<u32>], text: &str) -> Vec<Option<Merge>> {
        merge_into_leaders(items, threshold(text), &|| false).unwrap()
    }

    /// The definition, one item after the other.
    fn merge_one_by_one(items: &[Vec<u32>], threshold: Threshold) -> Vec<Option<Merge>> {
        let mut merges: Vec<Option<Merge>> = Vec::new();
        for (m, item) in items.iter().map(|item| (item.len(), item)) {
            let mut found: Option<Found> = None;
            for leader in (0..merges.len()).filter(|&leader| merges[leader].is_none()) {
                let n = items[leader].len();
                let other = Found { leader, lcs: lcs(item, &items[leader]), n };
                let is_higher = |found: Found| other.lcs * (m + found.n) > found.lcs * (m + n);
                if threshold.is_above(other.lcs, m, n) && found.is_none_or(is_higher) {
                    found = Some(other);
                }
            }
            merges.push(found.map(|found| Merge { leader: found.leader, score: f1(found.lcs, m, found.n) }));
        }
        merges
    }

    #[test]
    fn an_item_joins_the_best_leader_and_not_the_first() {
        let leader_a = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let leader_b = vec![1, 2, 3, 4, 5, 6, 7, 20, 21, 22];
        let item = vec![1, 2, 3, 4, 5, 6, 7, 20, 21, 10];
        let merges = merge(&[leader_a, leader_b, item], "0.75");
        assert_eq!(merges, [None, None, Some(Merge { leader: 1, score: f1(9, 10, 10) })]);
    }

    #[test]
    fn the_nearest_of_others_is_found_whatever_the_items_are_to_one_another() {
        let settled = [vec![1, 2, 3, 4, 5], vec![7, 8, 9, 10, 11]];
        let items = [vec![7, 8, 9, 10, 12], vec![7, 8, 9, 10, 12], vec![20, 21], vec![1, 2, 3, 4, 5]];
        let nearest = best_of(&settled, &items, threshold("0.7"), &|| false).unwrap();
        let near = |leader, lcs| Some(Merge { leader, score: f1(lcs, 5, 5) });
        assert_eq!(nearest, [near(1, 4), near(1, 4), None, near(0, 5)]);
        assert_eq!(best_of(&settled, &items, threshold("0.7"), &|| true), None);
    }

    #[test]
    fn at_a_tie_the_earliest_leader_wins() {
        // 2·5 / (6 + 9) and 2·4 / (6 + 6) are the same; the shorter leader is looked at first.
        let longer = vec![1, 2, 3, 4, 5, 20, 21, 22, 23];
        let shorter = vec![3, 4, 5, 6, 30, 31];
        let item = vec![1, 2, 3, 4, 5, 6];
        let merges = merge(&[longer, shorter, item], "0.6");
        assert_eq!(merges[2].map(|merge| merge.leader), Some(0));
    }

    #[test]
    fn a_copy_of_a_copy_stays_when_its_leader_is_too_far() {
        let items = [vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 6], vec![1, 2, 3, 7, 6]];
        let merges = merge(&items, "0.7");
        assert_eq!(merges, [None, Some(Merge { leader: 0, score: f1(4, 5, 5) }), None]);
    }

    #[test]
    fn a_score_equal_to_the_threshold_does_not_merge() {
        assert_eq!(merge(&[vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 6]], "0.8"), [None, None]);
    }

    #[test]
    fn empty_items_stay() {
        assert_eq!(merge(&[vec![], vec![], vec![1]], "0"), [None; 3]);
        assert_eq!(merge(&[], "0.8"), []);
    }

    #[test]
    fn a_cancelled_merge_gives_nothing() {
        let items = vec![vec![1, 2, 3]; 40];
        let n_asked = AtomicUsize::new(0);
        let cancelled = || n_asked.fetch_add(1, Ordering::Relaxed) >= 30;
        assert_eq!(merge_into_leaders(&items, threshold("0.8"), &cancelled), None);
        assert!(n_asked.into_inner() >= 31, "asked before each item");
    }

    #[test]
    fn counts_beyond_a_byte_never_refuse_a_copy() {
        let (few, many) = (vec![3; 250], vec![3; 260]);
        assert_eq!(merge(&[few, many], "0.9"), [None, Some(Merge { leader: 0, score: f1(250, 250, 260) })]);
    }

    /// Items that share much: a few originals, and copies with some tokens changed.
    fn items() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let original = || prop::collection::vec(0_u32..8, 0..12);
        let change = (any::<prop::sample::Index>(), 0_u32..2_000);
        let copy = (any::<prop::sample::Index>(), prop::collection::vec(change, 0..4));
        (prop::collection::vec(original(), 1..6), prop::collection::vec(copy, 0..30)).prop_map(
            |(mut items, copies)| {
                for (of, changes) in copies {
                    let mut item = of.get(&items).clone();
                    for (at, token) in changes {
                        item.insert(at.index(item.len() + 1), token % 8 + token / 1_000 * 512);
                        if token % 3 == 0 {
                            item.remove(at.index(item.len()));
                        }
                    }
                    items.push(item);
                }
                items
            },
        )
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_the_definition(
            items in items(), percent in 0_u32..=100, block_len in 1_usize..40, n_threads in 1_usize..4
        ) {
            let threshold = Threshold::try_from(f64::from(percent) / 100.0).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let merges = pool.install(|| merge_in_blocks(&items, threshold, block_len, &|| false));
            prop_assert_eq!(merges, Some(merge_one_by_one(&items, threshold)));
        }

        #[test]
        fn a_join_finds_what_comparing_all_pairs_finds(
            fixed in items(), items in items(), percent in 0_u32..=100
        ) {
            let threshold = Threshold::try_from(f64::from(percent) / 100.0).unwrap();
            let found = best_of(&fixed, &items, threshold, &|| false).unwrap();
            for (item, found) in items.iter().zip(found) {
                let m = item.len();
                let mut best: Option<Found> = None;
                for (leader, tokens) in fixed.iter().enumerate() {
                    let other = Found { leader, lcs: lcs(item, tokens), n: tokens.len() };
                    if threshold.is_above(other.lcs, m, other.n) && best.is_none_or(|best| other.is_better_than(best, m)) {
                        best = Some(other);
                    }
                }
                let best = best.map(|best| Merge { leader: best.leader, score: best.score(item) });
                prop_assert_eq!(found, best);
            }
        }
    }
}
