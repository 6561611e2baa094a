//! Tests against a reference implementation that compares every query with every leader.

use proptest::prelude::*;

use super::*;
use crate::embed::hashed::Hashed;
use crate::similarity::vectors::{Vectors, dot};
use crate::text::lcs::LcsScratch;
use crate::text::rouge::f1;

/// The reference implementation, one query after the other.
fn merged_by_hand(queries: &[&str], vectors: &[&[f32]], gates: Gates) -> Vec<Option<QueryMatch>> {
    let texts = Texts::encode(queries, Profile::Auto);
    let mut merges: Vec<Option<QueryMatch>> = Vec::new();
    for at in 0..queries.len() {
        let leaders: Vec<usize> = (0..at).filter(|&leader| merges[leader].is_none()).collect();
        merges.push(nearest_by_hand(&texts, vectors, gates, at, &leaders));
    }
    merges
}

/// Returns the leader that a query joins: by its words, else by its vector.
fn nearest_by_hand(
    texts: &Texts,
    vectors: &[&[f32]],
    gates: Gates,
    at: usize,
    leaders: &[usize],
) -> Option<QueryMatch> {
    let mut scratch = LcsScratch::new();
    let by_words = gates.rouge_l.and_then(|threshold| {
        let (leader, score) = best(leaders, |leader| {
            let (a, b) = texts.pair(at, leader);
            let lcs = scratch.lcs_at_least(a, b, threshold.min_lcs(a.len(), b.len()))?;
            Some(f1(lcs, a.len(), b.len()))
        })?;
        Some(QueryMatch { leader, by: MatchMethod::Words(texts.tokenizer_of(at, leader)), score })
    });
    by_words.or_else(|| {
        let threshold = gates.cosine?;
        let cosine = |leader: usize| f64::from(dot(vectors[at], vectors[leader]));
        let (leader, score) =
            best(leaders, |leader| Some(cosine(leader)).filter(|&score| score >= threshold))?;
        Some(QueryMatch { leader, by: MatchMethod::Vectors, score })
    })
}

/// Returns the leader with the highest score; the earliest on a tie.
fn best(leaders: &[usize], mut score: impl FnMut(usize) -> Option<f64>) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for &leader in leaders {
        if let Some(score) = score(leader)
            && best.is_none_or(|(_, best)| score > best)
        {
            best = Some((leader, score));
        }
    }
    best
}

/// Generates queries of a log: templates with slots, copies with a changed word or another word order, two scripts.
fn log() -> impl Strategy<Value = Vec<String>> {
    let query = prop_oneof![
        3 => (0_u32..2_000).prop_map(|n| format!("order {n}")),
        3 => ("[a-d]{1,2}", 0_u32..40, "[a-d]{1,2}").prop_map(|(city, day, unit)| {
            format!("what is the weather in {city} on day {day} in {unit} please")
        }),
        4 => "[a-c]{1,2}( [a-c]{1,2}){0,5}",
        1 => "(a b |b a |c ){5,12}",
        1 => "([ab] |天|气|ж ){1,6}",
        1 => "([a-e]{1,3} ){60,90}",
    ];
    prop::collection::vec(query, 0..160)
}

fn percent() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![1 => Just(None), 4 => (30_u32..=100).prop_map(|percent| Some(f64::from(percent) / 100.0))]
}

/// Returns a dense vector for each query.
fn dense(queries: &[&str]) -> Vectors {
    let hashed = Hashed::V2.vectors(queries);
    let mut dense = Vectors::default();
    for row in hashed.iter() {
        let mut sums: Vec<f32> =
            (0..24).map(|at| 0.01 + row.iter().skip(at).step_by(24).sum::<f32>()).collect();
        let norm = dot(&sums, &sums).sqrt();
        for value in &mut sums {
            *value /= norm;
        }
        dense.push(&sums);
    }
    dense
}

fn gates(rouge_l: Option<f64>, cosine: Option<f64>) -> Gates {
    Gates { rouge_l: rouge_l.map(|threshold| Threshold::try_from(threshold).unwrap()), cosine }
}

fn merged(queries: &[&str], gates: Gates) -> Vec<Option<QueryMatch>> {
    let vectors = Hashed::V1.vectors(queries);
    let vectors: Vec<&[f32]> = vectors.iter().collect();
    merge_queries(queries, &mut ScopeVectors::computed(&vectors), gates, &|| false).unwrap()
}

#[test]
fn words_take_precedence_over_vectors_and_either_can_be_off() {
    let queries =
        ["close the north gate now please", "close the north gate now", "north gate: please now close the"];
    let found = |gates| merged(&queries, gates);
    let both = found(gates(Some(0.8), Some(0.6)));
    assert_eq!(
        both.iter().map(|near| near.map(|near| (near.leader, near.by))).collect::<Vec<_>>(),
        [None, Some((0, MatchMethod::Words(Tokenizer::Rouge))), Some((0, MatchMethod::Vectors))]
    );
    assert_eq!(found(gates(Some(0.8), None))[2], None);
    assert_eq!(found(gates(None, Some(0.6)))[1].map(|near| near.by), Some(MatchMethod::Vectors));
    assert_eq!(found(gates(None, None)), [None; 3]);
}

#[test]
fn a_cancelled_merge_is_an_error() {
    let gates = gates(Some(0.8), Some(0.85));
    let queries = vec!["ring the bell"; 40];
    let vectors = Hashed::V1.vectors(&queries);
    let vectors: Vec<&[f32]> = vectors.iter().collect();
    for n_answers in 0..4 {
        let n_asked = std::sync::atomic::AtomicUsize::new(0);
        let cancelled = || n_asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= n_answers;
        let stopped = merge_queries(&queries, &mut ScopeVectors::computed(&vectors), gates, &cancelled);
        assert!(matches!(stopped, Err(EmbedError::Interrupted)), "{n_answers}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_best_match_of_fixed_queries_is_the_one_that_a_merge_finds(
        settled in prop::collection::vec("[a-c]{1,2}( [a-c]{1,2}){0,5}", 0..9), query in "[a-c]{1,2}( [a-c]{1,2}){0,5}"
    ) {
        let gates = gates(Some(0.6), Some(0.7));
        let settled: Vec<&str> = settled.iter().map(String::as_str).collect();
        let mut all = settled.clone();
        all.extend([query.as_str(); 2]);
        let vectors = Hashed::V1.vectors(&all);
        let vectors: Vec<&[f32]> = vectors.iter().collect();
        let found = nearest_of_first(settled.len(), &all, &mut ScopeVectors::computed(&vectors), gates, &|| false).unwrap();
        let pairs: Vec<Option<QueryMatch>> =
            settled.iter().map(|other| merged(&[other, &query], gates)[1]).collect();
        let is_by = |by| pairs.iter().flatten().any(|near| near.by == by);
        let words = MatchMethod::Words(Tokenizer::Rouge);
        let by = if is_by(words) { words } else { MatchMethod::Vectors };
        let mut expected: Option<QueryMatch> = None;
        for (leader, near) in pairs.iter().enumerate().filter_map(|(at, near)| Some((at, near.as_ref()?))) {
            if near.by == by && expected.is_none_or(|best| near.score > best.score) {
                expected = Some(QueryMatch { leader, ..*near });
            }
        }
        prop_assert_eq!(found, vec![expected; 2]);
    }

    #[test]
    fn merged_queries_match_their_leader_and_no_two_leaders_match(
        queries in prop::collection::vec("[a-c]{1,2}( [a-c]{1,2}){0,5}", 0..25), threshold in 0.3_f64..0.95
    ) {
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        let threshold = (threshold * 100.0).round() / 100.0;
        let gates = gates(Some(threshold), Some(threshold));
        let merges = merged(&queries, gates);
        let pair = |a: usize, b: usize| merged(&[queries[a], queries[b]], gates)[1];
        for (at, near) in merges.iter().enumerate() {
            match near {
                Some(near) => {
                    prop_assert!(near.leader < at && merges[near.leader].is_none());
                    let direct = pair(near.leader, at);
                    prop_assert_eq!(direct.map(|direct| (direct.by, direct.score)), Some((near.by, near.score)));
                }
                None => {
                    for leader in (0..at).filter(|&leader| merges[leader].is_none()) {
                        prop_assert_eq!(pair(leader, at), None);
                    }
                }
            }
        }
    }

    #[test]
    fn merging_in_blocks_equals_the_reference_implementation(
        queries in log(), rouge_l in percent(), cosine in percent(), block_len in 1_usize..60,
        is_dense in any::<bool>(), n_threads in 1_usize..4
    ) {
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        let vectors = if is_dense { dense(&queries) } else { Hashed::V2.vectors(&queries) };
        let vectors: Vec<&[f32]> = vectors.iter().collect();
        let gates = gates(rouge_l, cosine);
        let task = Task { queries: &queries, n_fixed: None, gates, block_len };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let found = pool.install(|| in_blocks(&task, &mut ScopeVectors::computed(&vectors), &|| false).unwrap());
        prop_assert_eq!(found, merged_by_hand(&queries, &vectors, gates));
    }

    #[test]
    fn the_best_match_of_fixed_queries_equals_the_reference_implementation(
        queries in log(), n_fixed in any::<prop::sample::Index>(), rouge_l in percent(), cosine in percent(),
        block_len in 1_usize..60
    ) {
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        let vectors = Hashed::V2.vectors(&queries);
        let vectors: Vec<&[f32]> = vectors.iter().collect();
        let (gates, n_fixed) = (gates(rouge_l, cosine), n_fixed.index(queries.len() + 1));
        let texts = Texts::encode(&queries, Profile::Auto);
        let fixed: Vec<usize> = (0..n_fixed).collect();
        let by_hand = |at| nearest_by_hand(&texts, &vectors, gates, at, &fixed);
        let expected: Vec<Option<QueryMatch>> = (n_fixed..queries.len()).map(by_hand).collect();
        let task = Task { queries: &queries, n_fixed: Some(n_fixed), gates, block_len };
        let found = in_blocks(&task, &mut ScopeVectors::computed(&vectors), &|| false).unwrap();
        prop_assert_eq!(found, expected);
    }
}
