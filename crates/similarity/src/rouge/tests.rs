//! Tests against reference implementations that compare all pairs.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use rougers::{RougeScorer, RougeType};

use super::join::{join, self_join};
use super::leaders::{best_of, merge_in_blocks, merge_into_leaders};
use super::texts::{Measure, Texts};
use crate::sequences::Sequences;
use crate::{Merge, Pair, Stopped};
use callsieve_text::lcs::lcs;
use callsieve_text::profile::Profile;
use callsieve_text::rouge::{Comparison, Threshold, f1};
use callsieve_text::vocabulary::Vocabulary;

fn threshold(text: &str) -> Threshold {
    text.parse().unwrap()
}

fn texts<'i>(items: impl IntoIterator<Item = &'i Vec<u32>>) -> Texts {
    Texts::from(items.into_iter().collect::<Sequences>())
}

fn merge(items: &[Vec<u32>], text: &str) -> Vec<Option<Merge>> {
    merge_into_leaders(&texts(items), threshold(text), &|| false).unwrap()
}

fn nearest(fixed: &[Vec<u32>], items: &[Vec<u32>], threshold: Threshold) -> Vec<Option<Merge>> {
    best_of(&texts(fixed.iter().chain(items)), fixed.len(), threshold, &|| false).unwrap()
}

fn pairs(items: &[Vec<u32>], threshold: Threshold) -> Vec<Pair> {
    let mut pairs = Vec::new();
    self_join::<()>(&texts(items), threshold, &|| false, |some| {
        pairs.extend(some);
        Ok(())
    })
    .unwrap();
    pairs
}

fn pairs_of_two(a: &[Vec<u32>], b: &[Vec<u32>], threshold: Threshold) -> Vec<Pair> {
    let mut pairs = Vec::new();
    join::<()>(&texts(a.iter().chain(b)), a.len(), threshold, &|| false, |some| {
        pairs.extend(some);
        Ok(())
    })
    .unwrap();
    pairs
}

/// The reference implementation of the best match: the highest F1 above the threshold, the first on a tie.
fn best_by_hand<'i>(
    others: impl Iterator<Item = (usize, &'i Vec<u32>)>,
    item: &[u32],
    threshold: Threshold,
) -> Option<Merge> {
    let mut best: Option<(usize, usize, usize)> = None;
    for (leader, tokens) in others {
        let (n, lcs) = (tokens.len(), lcs(item, tokens));
        let is_higher = |(_, best_lcs, best_n)| lcs * (item.len() + best_n) > best_lcs * (item.len() + n);
        if threshold.is_above(lcs, item.len(), n) && best.is_none_or(is_higher) {
            best = Some((leader, lcs, n));
        }
    }
    best.map(|(leader, lcs, n)| Merge { leader, score: f1(lcs, item.len(), n) })
}

/// The reference implementation of merging, one item after the other.
fn merged_by_hand(items: &[Vec<u32>], threshold: Threshold) -> Vec<Option<Merge>> {
    let mut merges: Vec<Option<Merge>> = Vec::new();
    for item in items {
        let leaders = items.iter().enumerate().take(merges.len()).filter(|(at, _)| merges[*at].is_none());
        let best = best_by_hand(leaders, item, threshold);
        merges.push(best);
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
fn the_best_of_a_fixed_collection_does_not_depend_on_the_other_items() {
    let settled = [vec![1, 2, 3, 4, 5], vec![7, 8, 9, 10, 11]];
    let items = [vec![7, 8, 9, 10, 12], vec![7, 8, 9, 10, 12], vec![20, 21], vec![1, 2, 3, 4, 5]];
    let near = |leader, lcs| Some(Merge { leader, score: f1(lcs, 5, 5) });
    assert_eq!(nearest(&settled, &items, threshold("0.7")), [near(1, 4), near(1, 4), None, near(0, 5)]);
}

#[test]
fn on_a_tie_the_earliest_leader_wins() {
    // 2·5 / (6 + 9) and 2·4 / (6 + 6) are equal; the shorter leader is compared first.
    let longer = vec![1, 2, 3, 4, 5, 20, 21, 22, 23];
    let shorter = vec![3, 4, 5, 6, 30, 31];
    let item = vec![1, 2, 3, 4, 5, 6];
    let merges = merge(&[longer, shorter, item], "0.6");
    assert_eq!(merges[2].map(|merge| merge.leader), Some(0));
}

#[test]
fn a_copy_of_a_copy_is_kept_if_its_leader_is_below_the_threshold() {
    let items = [vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 6], vec![1, 2, 3, 7, 6]];
    let merges = merge(&items, "0.7");
    assert_eq!(merges, [None, Some(Merge { leader: 0, score: f1(4, 5, 5) }), None]);
    let found: Vec<(u32, u32)> =
        pairs(&items, threshold("0.7")).iter().map(|pair| (pair.a, pair.b)).collect();
    assert_eq!(found, [(0, 1), (1, 2)]);
}

#[test]
fn a_score_equal_to_the_threshold_is_not_above_it() {
    let items = [vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 6]];
    assert_eq!(merge(&items, "0.8"), [None, None]);
    assert_eq!(pairs(&items, threshold("0.8")), []);
}

#[test]
fn empty_sequences_match_nothing() {
    assert_eq!(merge(&[vec![], vec![], vec![1]], "0"), [None; 3]);
    assert_eq!(merge(&[], "0.8"), []);
    assert_eq!(pairs(&[vec![], vec![], vec![1]], threshold("0")), []);
    assert_eq!(pairs_of_two(&[], &[vec![1]], threshold("0")), []);
}

#[test]
fn a_cancelled_search_returns_none() {
    let items = texts(&vec![vec![1, 2, 3]; 40]);
    let n_asked = AtomicUsize::new(0);
    let cancelled = || n_asked.fetch_add(1, Ordering::Relaxed) >= 3;
    assert_eq!(merge_in_blocks(&items, threshold("0.8"), 5, &cancelled), None);
    assert_eq!(best_of(&items, 20, threshold("0.8"), &|| true), None);
    let joined = self_join::<()>(&items, threshold("0.8"), &|| true, |_| panic!("pairs came"));
    assert!(matches!(joined, Err(Stopped::Cancelled)));
}

#[test]
fn the_consumer_of_pairs_can_stop_a_join() {
    let items = texts(&vec![vec![1, 2, 3]; 4]);
    let stopped = self_join(&items, threshold("0.8"), &|| false, |pairs| Err(pairs.len()));
    assert!(matches!(stopped, Err(Stopped::Sink(6))));
}

#[test]
fn sequences_with_thousands_of_equal_tokens_match_their_copies() {
    let (few, many) = (vec![3; 2_500], vec![3; 2_600]);
    let near = Some(Merge { leader: 0, score: f1(2_500, 2_500, 2_600) });
    assert_eq!(merge(&[few, many], "0.9"), [None, near]);
}

#[test]
fn texts_of_a_hundred_thousand_tokens_are_joined() {
    let long: Vec<u32> = (0..100_000).map(|n| n * 7 % 5_003).collect();
    let mut near = long.clone();
    near.truncate(90_000);
    let score = f1(90_000, 100_000, 90_000);
    assert_eq!(pairs(&[long, vec![1], near], threshold("0.8")), [Pair { a: 0, b: 2, score }]);
}

#[test]
fn a_cluster_of_copies_merges_into_one() {
    let copy = |n: u32| (0..40).map(|at| if at == n % 40 { 1_000 + n } else { at }).collect();
    let items: Vec<Vec<u32>> = (0..5_000).map(copy).collect();
    let merges = merge(&items, "0.9");
    assert!(
        merges[0].is_none() && merges[1..].iter().all(|merge| merge.is_some_and(|merge| merge.leader == 0))
    );
}

/// Generates a few items, and copies with some changed tokens.
fn items() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let original = || {
        prop_oneof![
            4 => prop::collection::vec(0_u32..8, 0..12),
            1 => prop::collection::vec(0_u32..3, 60..90),
            1 => prop::collection::vec(0_u32..500, 80..200),
        ]
    };
    let change = (any::<prop::sample::Index>(), 0_u32..2_000);
    let copy = (any::<prop::sample::Index>(), prop::collection::vec(change, 0..4));
    (prop::collection::vec(original(), 1..6), prop::collection::vec(copy, 0..90)).prop_map(
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

fn any_threshold() -> impl Strategy<Value = Threshold> {
    (0_u32..=100).prop_map(|percent| Threshold::try_from(f64::from(percent) / 100.0).unwrap())
}

/// Generates texts in two scripts, some of which need the Unicode tokenizer.
fn written() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("([abc] |天|气|ж ){0,6}", 0..40)
}

/// Computes the score of two texts by the profile, if it is above the threshold.
fn score_by_hand(a: &str, b: &str, threshold: Threshold) -> Option<(usize, usize, usize)> {
    let tokenizer = Profile::Auto.of_pair(a, b);
    let mut vocabulary = Vocabulary::new();
    let [a, b] = [a, b].map(|text| vocabulary.encode(tokenizer, text));
    let lcs = lcs(&a, &b);
    threshold.is_above(lcs, a.len(), b.len()).then_some((lcs, a.len(), b.len()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn texts_can_be_joined_by_lines(
        written in prop::collection::vec("([abc] |[ab]\n){0,12}", 0..30), threshold in any_threshold()
    ) {
        let scorer = RougeScorer::new(["rougeLsum"], false).unwrap();
        let score = |a: usize, b: usize| scorer.score(&written[a], &written[b]).get(RougeType::LSum).unwrap().fmeasure;
        let mut expected = Vec::new();
        for (a, b) in (0..written.len()).flat_map(|a| (a + 1..written.len()).map(move |b| (a, b))) {
            if score(a, b) > f64::from(threshold) {
                let [at_a, at_b] = [a, b].map(|at| u32::try_from(at).unwrap());
                expected.push(Pair { a: at_a, b: at_b, score: score(a, b) });
            }
        }
        let texts = Texts::encode_for(Measure::Lines, &written, Profile::Auto);
        let mut found: Vec<Pair> = Vec::new();
        let threshold = threshold.compared_by(Comparison::GoogleFloat);
        self_join::<()>(&texts, threshold, &|| false, |some| { found.extend(some); Ok(()) }).unwrap();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn each_pair_of_texts_is_compared_with_the_tokenizer_that_it_needs(
        written in written(), n_first in any::<prop::sample::Index>(), threshold in any_threshold(), by_float in any::<bool>()
    ) {
        let comparison = if by_float { Comparison::GoogleFloat } else { Comparison::Exact };
        let threshold = threshold.compared_by(comparison);
        let n_first = n_first.index(written.len() + 1);
        let texts = Texts::encode(&written, Profile::Auto);
        let by_hand = |a: usize, b: usize| score_by_hand(&written[a], &written[b], threshold);
        let (mut all, mut of_two) = (Vec::new(), Vec::new());
        for (a, b) in (0..written.len()).flat_map(|a| (a + 1..written.len()).map(move |b| (a, b))) {
            prop_assert_eq!(texts.tokenizer_of(a, b), Profile::Auto.of_pair(&written[a], &written[b]));
            if let Some((lcs, m, n)) = by_hand(a, b) {
                let [a, b, first] = [a, b, n_first].map(|at| u32::try_from(at).unwrap());
                all.push(Pair { a, b, score: f1(lcs, m, n) });
                if a < first && b >= first {
                    of_two.push(Pair { a, b: b - first, score: f1(lcs, m, n) });
                }
            }
        }
        let mut found: Vec<Pair> = Vec::new();
        self_join::<()>(&texts, threshold, &|| false, |some| { found.extend(some); Ok(()) }).unwrap();
        prop_assert_eq!(found, all);
        let mut found: Vec<Pair> = Vec::new();
        join::<()>(&texts, n_first, threshold, &|| false, |some| { found.extend(some); Ok(()) }).unwrap();
        prop_assert_eq!(found, of_two);

        let mut merges: Vec<Option<Merge>> = Vec::new();
        for item in 0..written.len() {
            let mut best: Option<(usize, (usize, usize, usize))> = None;
            for leader in (0..item).filter(|&leader| merges[leader].is_none()) {
                let Some((lcs, m, n)) = by_hand(item, leader) else { continue };
                if best.is_none_or(|(_, (best, x, y))| lcs * (x + y) > best * (m + n)) {
                    best = Some((leader, (lcs, m, n)));
                }
            }
            merges.push(best.map(|(leader, (lcs, m, n))| Merge { leader, score: f1(lcs, m, n) }));
        }
        prop_assert_eq!(merge_in_blocks(&texts, threshold, 7, &|| false), Some(merges));
    }

    #[test]
    fn merging_equals_the_reference_implementation(
        items in items(), threshold in any_threshold(), block_len in 1_usize..40, n_threads in 1_usize..4
    ) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let merges = pool.install(|| merge_in_blocks(&texts(&items), threshold, block_len, &|| false));
        prop_assert_eq!(merges, Some(merged_by_hand(&items, threshold)));
    }

    #[test]
    fn the_best_match_equals_the_reference_implementation(fixed in items(), items in items(), threshold in any_threshold()) {
        let expected: Vec<_> =
            items.iter().map(|item| best_by_hand(fixed.iter().enumerate(), item, threshold)).collect();
        prop_assert_eq!(nearest(&fixed, &items, threshold), expected);
    }

    #[test]
    fn a_join_equals_comparing_all_pairs(a in items(), b in items(), threshold in any_threshold()) {
        let by_hand = |x: &[Vec<u32>], y: &[Vec<u32>], is_wanted: fn(usize, usize) -> bool| {
            let mut pairs = Vec::new();
            for (at_x, x) in x.iter().enumerate() {
                for (at_y, y) in y.iter().enumerate().filter(|(at_y, _)| is_wanted(at_x, *at_y)) {
                    let lcs = lcs(x, y);
                    if threshold.is_above(lcs, x.len(), y.len()) {
                        let [a, b] = [at_x, at_y].map(|at| u32::try_from(at).unwrap());
                        pairs.push(Pair { a, b, score: f1(lcs, x.len(), y.len()) });
                    }
                }
            }
            pairs
        };
        prop_assert_eq!(pairs(&a, threshold), by_hand(&a, &a, |x, y| x < y));
        prop_assert_eq!(pairs_of_two(&a, &b, threshold), by_hand(&a, &b, |_, _| true));
    }
}
