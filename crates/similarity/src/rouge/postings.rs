//! Postings: for each rare token, the short sequences that have it.
//!
//! If two bags share enough elements to be above the threshold, their first common element, in an order that is the
//! same for all bags, is near the start of both, because the elements before it are missing in the other bag. With
//! the rarest tokens first, these starts are rare, too (prefix and position filters: Chaudhuri, Ganti and Kaushik
//! 2006; Bayardo, Ma and Srikant 2007; Xiao, Wang, Lin and Yu 2008). If tokens are so frequent that the lists are as
//! long as the collection, comparing all bitmaps is faster; [`index`](super::index) does that.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::prepared::Prepared;
use super::widths::Row;
use callsieve_system::Cancelled;
use callsieve_text::rouge::Threshold;

/// Maximum number of tokens of a sequence in the lists.
pub(super) const MAX_LEN: usize = 64;

/// Minimum number of sequences for lists; comparing fewer one by one is faster.
const MIN_ROWS: usize = 512;

/// The cost of a posting, relative to comparing the bitmap of a sequence.
const POSTING_COST: usize = 6;

/// Necessary conditions for two short sequences above the threshold.
struct Bounds {
    /// For each number of tokens: the minimum and maximum number of tokens of a matching sequence.
    partners: [(usize, usize); MAX_LEN + 1],
    /// For each two numbers of tokens: the minimum number of common tokens.
    common: Vec<[u8; MAX_LEN + 1]>,
}

impl Bounds {
    fn new(threshold: Threshold) -> Self {
        let byte = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
        let common = |m: usize| std::array::from_fn(|n| byte(threshold.min_lcs(m, n)));
        // One more than the maximum in lists, if there is no upper limit.
        let longest = |m: usize| (m..=MAX_LEN + 1).rev().find(|&n| threshold.shortest(n) <= m).unwrap_or(m);
        Self {
            partners: std::array::from_fn(|m| (threshold.shortest(m), longest(m))),
            common: (0..=MAX_LEN).map(common).collect(),
        }
    }

    /// Returns the number of a sequence's rarest tokens of which a matching sequence must share one.
    fn n_rare(&self, n_tokens: usize) -> usize {
        let (shortest, _) = self.partners[n_tokens];
        let common = self.common[n_tokens].get(shortest).map_or(usize::MAX, |&common| usize::from(common));
        (n_tokens + 1).saturating_sub(common)
    }
}

/// A sequence with a token.
struct Posting {
    row: Row,
    n_tokens: u8,
    /// The index of the token in its bag, the rarest first.
    at: u8,
    sketch: u64,
}

/// The postings of all rare tokens.
pub(super) struct Postings {
    bounds: Bounds,
    /// The range of the postings of each token.
    lists: FxHashMap<u32, (u32, u32)>,
    /// All postings, sorted by token, number of tokens in the sequence, and index in its bag.
    all: Vec<Posting>,
    /// For each length, the number of shorter sequences.
    n_shorter: [usize; MAX_LEN + 2],
    /// [`POSTING_COST`].
    posting_cost: usize,
}

impl Postings {
    /// Builds the lists of the sequences with up to [`MAX_LEN`] tokens; returns `None` if there are too few of them,
    /// or if cancelled.
    pub(super) fn of(prepared: &Prepared<'_>, rows: &[Row], cancelled: Cancelled<'_>) -> Option<Self> {
        Self::with_cost(prepared, rows, (MIN_ROWS, POSTING_COST), cancelled)
    }

    fn with_cost(
        prepared: &Prepared<'_>,
        rows: &[Row],
        (min_rows, posting_cost): (usize, usize),
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        let n_tokens = |row: Row| prepared.n_tokens(row);
        let is_short = |&row: &Row| (1..=MAX_LEN).contains(&n_tokens(row));
        let short: Vec<Row> = rows.iter().copied().filter(is_short).collect();
        if short.len() < min_rows {
            return None;
        }
        let bounds = Bounds::new(prepared.threshold);
        let mut n_shorter = [0; MAX_LEN + 2];
        let mut all: Vec<(u32, Posting)> = Vec::new();
        for row in short {
            if cancelled() {
                return None;
            }
            let (len, sketch) = (n_tokens(row), prepared.sketch(row));
            n_shorter[len + 1] += 1;
            for (at, token) in firsts(prepared.bag(row)).take_while(|&(at, _)| at < bounds.n_rare(len)) {
                let [n_tokens, at] = [len, at].map(|n| u8::try_from(n).expect("a short sequence"));
                all.push((token, Posting { row, n_tokens, at, sketch }));
            }
        }
        (1..n_shorter.len()).for_each(|n| n_shorter[n] += n_shorter[n - 1]);
        all.par_sort_unstable_by_key(|(token, posting)| (*token, posting.n_tokens, posting.at, posting.row));
        let mut lists = FxHashMap::default();
        let place = |at: usize| u32::try_from(at).expect("no machine holds 2³² postings");
        let mut start = 0;
        for list in all.chunk_by(|(x, _), (y, _)| x == y) {
            if cancelled() {
                return None;
            }
            lists.insert(list[0].0, (place(start), place(start + list.len())));
            start += list.len();
        }
        let all = all.into_iter().map(|(_, posting)| posting).collect();
        Some(Self { bounds, lists, all, n_shorter, posting_cost })
    }

    /// Adds the listed sequences that a probe may match to `found`, without duplicates, in no order.
    ///
    /// Returns `None` if the lists do not have all such sequences, or comparing all bitmaps is faster.
    pub(super) fn candidates(&self, prepared: &Prepared<'_>, probe: Row, found: &mut Vec<Row>) -> Option<()> {
        let bag = prepared.bag(probe);
        let m = bag.len();
        let &(shortest, longest) = self.bounds.partners.get(m)?;
        if longest > MAX_LEN {
            return None;
        }
        let n_rare = self.bounds.n_rare(m);
        let lists = || {
            let rare = firsts(bag).take_while(move |&(at, _)| at < n_rare);
            rare.filter_map(|(at, token)| {
                let &(start, end) = self.lists.get(&token)?;
                Some((at, &self.all[start as usize..end as usize]))
            })
        };
        let n_postings: usize = lists().map(|(_, list)| list.len()).sum();
        let n_partners = self.n_shorter[longest + 1] - self.n_shorter[shortest.min(longest)];
        if n_postings > MIN_ROWS && n_postings * self.posting_cost > n_partners {
            return None;
        }
        let sketch = prepared.sketch(probe);
        for (at, list) in lists() {
            self.add_matches(m, (shortest, longest), at, sketch, list, found);
        }
        found.sort_unstable();
        found.dedup();
        Some(())
    }

    /// Adds the sequences of one list that the bounds do not reject.
    fn add_matches(
        &self,
        m: usize,
        (shortest, longest): (usize, usize),
        at: usize,
        sketch: u64,
        list: &[Posting],
        found: &mut Vec<Row>,
    ) {
        let mut next = list.partition_point(|posting| usize::from(posting.n_tokens) < shortest);
        while let Some(first) = list.get(next) {
            let n = usize::from(first.n_tokens);
            if n > longest {
                break;
            }
            let of_len = &list[next..];
            let of_len = &of_len[..of_len.partition_point(|posting| usize::from(posting.n_tokens) == n)];
            next += of_len.len();
            let common = usize::from(self.bounds.common[m][n]);
            // Tokens before the first common token are not common.
            if at + common > m || common > n {
                continue;
            }
            let most = m + n - 2 * common;
            let early = of_len.iter().take_while(|posting| usize::from(posting.at) + common <= n);
            let near = early.filter(|posting| (posting.sketch ^ sketch).count_ones() as usize <= most);
            found.extend(near.map(|posting| posting.row));
        }
    }
}

/// Returns the distinct tokens of a bag, each with its first index.
fn firsts(bag: &[u32]) -> impl Iterator<Item = (usize, u32)> {
    let is_first = |&(at, token): &(usize, u32)| at == 0 || bag[at - 1] != token;
    bag.iter().copied().enumerate().filter(is_first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rouge::texts::Texts;
    use crate::rouge::widths::row;
    use crate::sequences::Sequences;
    use callsieve_text::lcs::lcs;
    use callsieve_text::rouge::Comparison;

    /// Generates short sequences, near-duplicates of some of them, and some that are too long for lists.
    fn items() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let item = prop_oneof![
            6 => prop::collection::vec(0_u32..12, 0..14),
            2 => prop::collection::vec(0_u32..400, 1..40),
            1 => prop::collection::vec(0_u32..400, 55..80),
        ];
        let copy = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_u32..500);
        (prop::collection::vec(item, 1..30), prop::collection::vec(copy, 0..60)).prop_map(
            |(mut items, copies)| {
                for (of, at, token) in copies {
                    let mut item = of.get(&items).clone();
                    let at = at.index(item.len() + 1);
                    match token % 3 {
                        0 => item.insert(at, token),
                        1 => drop(item.splice(at..item.len().min(at + 1), [token % 12])),
                        _ => item.truncate(at),
                    }
                    items.push(item);
                }
                items
            },
        )
    }

    proptest! {
        #[test]
        fn lists_have_every_sequence_above_the_threshold(
            items in items(), percent in 0_u32..=100, by_float in any::<bool>()
        ) {
            let threshold = Threshold::try_from(f64::from(percent) / 100.0).unwrap();
            let comparison = if by_float { Comparison::GoogleFloat } else { Comparison::Exact };
            let threshold = threshold.compared_by(comparison);
            let texts = Texts::from(items.iter().collect::<Sequences>());
            let prepared = Prepared::new(&texts.first, threshold, &|| false).unwrap();
            let rows: Vec<Row> = (0..items.len()).map(row).collect();
            let postings = Postings::with_cost(&prepared, &rows, (0, 0), &|| false).unwrap();
            let mut n_listed = 0;
            for (probe, item) in rows.iter().zip(&items) {
                let mut found = Vec::new();
                let is_listed = postings.candidates(&prepared, *probe, &mut found).is_some();
                // With such a high threshold, only sequences of similar length match.
                prop_assert!(is_listed || item.len() > 30 || percent < 70);
                n_listed += usize::from(is_listed);
                let is_above = |other: &&Row| {
                    let other = &items[**other as usize];
                    threshold.is_above(lcs(item, other), item.len(), other.len())
                };
                let near: Vec<Row> = rows.iter().filter(is_above).copied().collect();
                prop_assert!(!is_listed || near.iter().all(|row| found.contains(row)), "{:?} {:?}", near, found);
            }
            prop_assert!(n_listed > 0 || percent < 70 || items.iter().all(|item| item.len() > 30));
        }
    }

    #[test]
    fn templates_with_a_rare_word_have_no_candidates_and_frequent_words_have_no_lists() {
        let numbered: Vec<Vec<u32>> = (0..3_000).map(|n| vec![0, 1, 10 + 2 * n, 11 + 2 * n]).collect();
        let frequent: Vec<Vec<u32>> = (0..3_000).map(|n| (0..8).map(|at| n >> at & 1).collect()).collect();
        let candidates = |items: &[Vec<u32>]| {
            let texts = Texts::from(items.iter().collect::<Sequences>());
            let prepared = Prepared::new(&texts.first, "0.8".parse().unwrap(), &|| false).unwrap();
            let rows: Vec<Row> = (0..items.len()).map(row).collect();
            let postings = Postings::of(&prepared, &rows, &|| false).unwrap();
            let mut found = Vec::new();
            postings.candidates(&prepared, 7, &mut found).map(|()| found)
        };
        assert_eq!(candidates(&numbered), Some(vec![7]));
        assert_eq!(candidates(&frequent), None);
    }
}
