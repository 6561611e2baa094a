//! The words that two long messages have in common and in order, found through what they share and only once have.
//!
//! The table of two texts of 40,000 words takes seconds to fill. Where a stretch of both is too large for it, runs of words that
//! are once in each are put in order, the longest chain of them is kept (as in a patience diff), and the stretches between them
//! are looked at in the same way. Stretches without such a run, which repeat themselves, are compared by their differences
//! (Myers 1986) if these are few, or else are split at their longest common run. So the words that are found are in order on both
//! sides, and nearly as many as possible; never more. The work is bounded.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::super::words::UNKNOWN;
use super::measures::{f1_of, runs_of_long};

/// The most cells of a table of two stretches.
const MOST_CELLS: usize = 1 << 16;
/// Lengths of runs that are looked for, the surest first.
const ANCHORS: [usize; 3] = [8, 3, 1];
/// The most words that are looked at, as a multiple of those of both texts.
const MOST_WORK: usize = 64;

/// Returns pairs of places with the same word, ascending on both sides.
pub(super) fn aligned(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut work = MOST_WORK * (a.len() + b.len());
    let mut stretches = vec![(0..a.len(), 0..b.len())];
    while let Some((mut of_a, mut of_b)) = stretches.pop() {
        pair_ends(a, b, &mut of_a, &mut of_b, &mut pairs);
        let (own, other) = (&a[of_a.clone()], &b[of_b.clone()]);
        if own.is_empty() || other.is_empty() {
            continue;
        }
        if own.len() * other.len() <= MOST_CELLS {
            pairs.extend(by_table(own, other).into_iter().map(|(at, of)| (of_a.start + at, of_b.start + of)));
            continue;
        }
        let Some(left) = work.checked_sub(own.len() + other.len()) else { continue };
        work = left;
        let chain = ANCHORS.iter().map(|length| chain(own, other, *length)).find(|chain| !chain.is_empty());
        if chain.is_none()
            && let Some(found) = by_differences(own, other)
        {
            pairs.extend(found.into_iter().map(|(at, of)| (of_a.start + at, of_b.start + of)));
            continue;
        }
        let chain = chain.unwrap_or_else(|| {
            let (at, of, length) = runs_of_long(own, other).longest;
            if length > 0 { vec![(at, of)] } else { Vec::new() }
        });
        let (mut from_a, mut from_b) = (of_a.start, of_b.start);
        if chain.is_empty() {
            continue;
        }
        for (at, of) in chain {
            let (at, of) = (of_a.start + at, of_b.start + of);
            stretches.push((from_a..at, from_b..of));
            (from_a, from_b) = (at, of);
        }
        stretches.push((from_a..of_a.end, from_b..of_b.end));
    }
    pairs.sort_unstable();
    pairs
}

/// Pairs the equal words at both ends of a stretch.
fn pair_ends(
    a: &[u32],
    b: &[u32],
    of_a: &mut Range<usize>,
    of_b: &mut Range<usize>,
    pairs: &mut Vec<(usize, usize)>,
) {
    let is_same = |at: usize, of: usize| a[at] == b[of] && a[at] != UNKNOWN;
    while !(*of_a).is_empty() && !(*of_b).is_empty() && is_same(of_a.start, of_b.start) {
        pairs.push((of_a.start, of_b.start));
        (of_a.start, of_b.start) = (of_a.start + 1, of_b.start + 1);
    }
    while !(*of_a).is_empty() && !(*of_b).is_empty() && is_same(of_a.end - 1, of_b.end - 1) {
        (of_a.end, of_b.end) = (of_a.end - 1, of_b.end - 1);
        pairs.push((of_a.end, of_b.end));
    }
}

/// Returns as many pairs as possible, by the classic table.
fn by_table(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut table = vec![0_u16; (a.len() + 1) * width];
    for at in (0..a.len()).rev() {
        for of in (0..b.len()).rev() {
            table[at * width + of] = if a[at] == b[of] && a[at] != UNKNOWN {
                table[(at + 1) * width + of + 1] + 1
            } else {
                table[(at + 1) * width + of].max(table[at * width + of + 1])
            };
        }
    }
    let (mut at, mut of, mut pairs) = (0, 0, Vec::new());
    while at < a.len() && of < b.len() {
        if a[at] == b[of] && a[at] != UNKNOWN {
            pairs.push((at, of));
            (at, of) = (at + 1, of + 1);
        } else if table[(at + 1) * width + of] >= table[at * width + of + 1] {
            at += 1;
        } else {
            of += 1;
        }
    }
    pairs
}

/// The most words of both sides that are not paired, where the words are paired by their differences.
const MOST_DIFFERENCES: usize = 1024;

/// Returns as many pairs as possible, if only a few words have none.
fn by_differences(a: &[u32], b: &[u32]) -> Option<Vec<(usize, usize)>> {
    let most = MOST_DIFFERENCES.min(a.len() + b.len());
    // How far the words of `a` are read on each diagonal, shifted so that none is negative; and the same before each step.
    let middle = most + 1;
    let mut reach = vec![0_usize; 2 * most + 3];
    let mut steps: Vec<Vec<usize>> = Vec::new();
    // The word of `b` on a diagonal; none before its first.
    let other = |at: usize, diagonal: usize| (at + middle).checked_sub(diagonal);
    let from = |reach: &[usize], diagonal: usize, n: usize| {
        let (below, above) = (reach[diagonal - 1], reach[diagonal + 1]);
        let is_down = diagonal == middle - n || (diagonal != middle + n && below < above);
        if is_down { (diagonal + 1, above) } else { (diagonal - 1, below + 1) }
    };
    for n in 0..=most {
        steps.push(reach[middle - n..=middle + n].to_vec());
        for diagonal in (middle - n..=middle + n).step_by(2) {
            let mut at = if n == 0 { 0 } else { from(&reach, diagonal, n).1 };
            let is_same = |at: usize| {
                let of = other(at, diagonal).and_then(|of| b.get(of));
                a.get(at).is_some_and(|word| *word != UNKNOWN && Some(word) == of)
            };
            while is_same(at) {
                at += 1;
            }
            reach[diagonal] = at;
            if at >= a.len() && other(at, diagonal).is_some_and(|of| of >= b.len()) {
                return Some(walked_back(a.len(), b.len(), middle, &steps, from));
            }
        }
    }
    None
}

/// Returns the pairs of the way to the ends of both sides; `steps` are the diagonals around the middle before each step.
fn walked_back(
    n_a: usize,
    n_b: usize,
    middle: usize,
    steps: &[Vec<usize>],
    from: impl Fn(&[usize], usize, usize) -> (usize, usize),
) -> Vec<(usize, usize)> {
    let (mut at, mut of, mut pairs) = (n_a, n_b, Vec::new());
    for n in (0..steps.len()).rev() {
        let diagonal = at + middle - of;
        let mut reach = vec![0; 2 * middle + 1];
        reach[middle - n..=middle + n].copy_from_slice(&steps[n]);
        // The first word after the step, on this diagonal.
        let (before, start) = if n == 0 { (diagonal, 0) } else { from(&reach, diagonal, n) };
        while at > start && of > 0 {
            (at, of) = (at - 1, of - 1);
            pairs.push((at, of));
        }
        if n > 0 {
            // A step down reads a word of `b`, another one a word of `a`.
            if before > diagonal { of = of.saturating_sub(1) } else { at = at.saturating_sub(1) }
        }
    }
    pairs.reverse();
    pairs
}

/// Returns the longest chain of places at which both have a run of words that each of them has once.
fn chain(a: &[u32], b: &[u32], length: usize) -> Vec<(usize, usize)> {
    // The place in each, or none if there are several.
    let mut places: FxHashMap<&[u32], [Place; 2]> = FxHashMap::default();
    for (side, words) in [a, b].into_iter().enumerate() {
        for (at, run) in words.windows(length).enumerate() {
            if run.contains(&UNKNOWN) {
                continue;
            }
            if side == 0 {
                let place = &mut places.entry(run).or_insert([Place::Nowhere; 2])[0];
                *place = place.and(at);
            } else if let Some(known) = places.get_mut(run) {
                known[1] = known[1].and(at);
            }
        }
    }
    let once = |(at, run): (usize, &[u32])| match places.get(run)? {
        [Place::Once(_), Place::Once(of)] => Some((at, *of)),
        _ => None,
    };
    increasing(&a.windows(length).enumerate().filter_map(once).collect::<Vec<_>>())
}

/// Where a text has a run.
#[derive(Debug, Clone, Copy)]
enum Place {
    Nowhere,
    Once(usize),
    Often,
}

impl Place {
    fn and(self, at: usize) -> Self {
        if matches!(self, Self::Nowhere) { Self::Once(at) } else { Self::Often }
    }
}

/// Returns the longest part of pairs, ascending by the first, that ascends by the second, too.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair with the lowest end, and for each pair the one before it.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) =
        (Vec::new(), Vec::with_capacity(pairs.len()));
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut chain: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |at| before[*at]).map(|at| pairs[at]).collect();
    chain.reverse();
    chain
}

/// Returns the highest ROUGE-L F1 of a text of `n` words with a stretch of the other side, by these pairs.
///
/// By Dinkelbach's method, as the exact measure: the stretch that gains most above the best F1 so far is the next, until none gains.
pub(super) fn best_stretch(n: usize, pairs: &[(usize, usize)]) -> f64 {
    let signed = |n: usize| i64::try_from(n).expect("counts of words");
    let (Some(first), Some(last)) = (pairs.first(), pairs.last()) else { return 0.0 };
    let mut best = (2 * signed(pairs.len()), signed(n + last.1 + 1 - first.1));
    loop {
        let (above, below) = best;
        // The most that a stretch from an earlier pair on gains, and that pair.
        let (mut start, mut found) = ((i64::MIN, 0), (0, best));
        for (at, &(_, of)) in pairs.iter().enumerate() {
            start = start.max((above * signed(of) - 2 * below * signed(at), at));
            let gain = start.0 + 2 * below * signed(at + 1) - above * signed(n + of + 1);
            if gain > found.0 {
                found = (gain, (2 * signed(at + 1 - start.1), signed(n + of + 1 - pairs[start.1].1)));
            }
        }
        if found.0 <= 0 {
            return f1_of((best.0.unsigned_abs(), best.1.unsigned_abs()));
        }
        best = found.1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::measures::best_rouge;
    use super::*;
    use callsieve_text::lcs::lcs;

    /// Long texts of some words, one with changes.
    fn near_copies() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        let changes = prop::collection::vec((any::<prop::sample::Index>(), 0_u32..400), 0..40);
        (prop::collection::vec(0_u32..400, 500..1200), changes).prop_map(|(text, changes)| {
            let mut other = text.clone();
            for (at, word) in changes {
                let at = at.index(other.len());
                if word % 3 == 0 {
                    other.insert(at, word);
                } else if word % 3 == 1 {
                    other[at] = word;
                } else {
                    other.remove(at);
                }
            }
            (text, other)
        })
    }

    fn check(text: &[u32], other: &[u32]) -> usize {
        let pairs = aligned(text, other);
        assert!(pairs.iter().all(|&(at, of)| text[at] == other[of]));
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        pairs.len()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn nearly_all_common_words_of_near_copies_are_found((text, other) in near_copies()) {
            let (found, most) = (check(&text, &other), lcs(&text, &other));
            prop_assert!(found <= most && 100 * found >= 99 * most, "{found} of {most}");
            let (by_pairs, best) = (best_stretch(text.len(), &aligned(&text, &other)), best_rouge(&text, &other, 0.0));
            prop_assert!(by_pairs <= best + 1e-12 && by_pairs > best - 0.01, "{by_pairs} {best}");
        }

        #[test]
        fn words_of_any_two_texts_are_in_order(
            text in prop::collection::vec(0_u32..3, 0..600), other in prop::collection::vec(0_u32..3, 0..600),
        ) {
            prop_assert!(check(&text, &other) <= lcs(&text, &other));
        }

        #[test]
        fn pairs_by_differences_are_as_many_as_possible(
            text in prop::collection::vec(0_u32..4, 0..40), other in prop::collection::vec(0_u32..4, 0..40),
        ) {
            let pairs = by_differences(&text, &other).unwrap();
            prop_assert!(pairs.iter().all(|&(at, of)| text[at] == other[of]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            prop_assert_eq!(pairs.len(), lcs(&text, &other));
        }
    }

    #[test]
    fn texts_that_repeat_themselves_are_compared_by_their_differences() {
        let text: Vec<u32> = (0..9000).map(|at| at * at % 499).collect();
        let mut other = text.clone();
        other.iter_mut().step_by(50).for_each(|word| *word = 1000);
        other.insert(4000, 7);
        assert_eq!(check(&text, &other), lcs(&text, &other));
        for (one, other) in
            [(&[1, 2, 3, 4][..], &[2, 3, 9, 4, 4][..]), (&[1, 1, 2], &[1, 2, 2]), (&[], &[1]), (&[5], &[6])]
        {
            assert_eq!(by_differences(one, other).unwrap().len(), lcs(one, other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn repeated_words_and_an_unknown_word_end_the_search() {
        let same = vec![1; 5000];
        let mut other = same.clone();
        other[2000] = 2;
        assert_eq!(check(&same, &other), 4999);
        let blocks: Vec<u32> = (0..6000).map(|at| at / 2000).collect();
        let turned: Vec<u32> = blocks.iter().rev().copied().collect();
        assert_eq!(check(&blocks, &turned), 2000);
        assert_eq!(check(&[UNKNOWN; 3], &[UNKNOWN; 3]), 0);
    }
}
