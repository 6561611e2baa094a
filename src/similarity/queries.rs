//! Merges short texts by their words, else by their vectors.
//!
//! The same leader rule as in `rouge::leaders`, with two measures: a query joins the leader with
//! the highest ROUGE-L above its threshold, else the one with the highest cosine from its
//! threshold on, else it becomes a leader. One pass serves both, so that no leader is
//! merged away later. Every query is held against every leader: use it for one scope.
//! Vectors come from the caller, one a query; where cosine is off there need be none.

use super::cosine::dot;
use super::rouge::texts::Texts;
use crate::text::lcs::LcsScratch;
use crate::text::profile::Profile;
use crate::text::rouge::{Threshold, f1};
use crate::text::tokens::Tokenizer;

/// From where on two queries are one; `None` turns a measure off.
#[derive(Debug, Clone, Copy)]
pub struct Gates {
    /// ROUGE-L F1 above this.
    pub rouge_l: Option<Threshold>,
    /// Cosine of at least this.
    pub cosine: Option<f64>,
}

/// By what two queries are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Their words, in order, as this tokenizer cuts them.
    Words(Tokenizer),
    /// Their vectors.
    Vectors,
}

/// Where a query went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The index of the query that stays, always an earlier one.
    pub leader: usize,
    /// By what.
    pub by: By,
    /// Its own score with that one.
    pub score: f64,
}

/// Merges each query into an earlier one, or keeps it (`None`); one entry a query.
///
/// `queries` should be in their normal form already, so that equal ones have equal scores.
pub fn merge_queries(queries: &[&str], vectors: &[&[f32]], gates: Gates) -> Vec<Option<Near>> {
    let measured = Measured::new(queries, vectors, gates);
    let mut scratch = LcsScratch::new();
    let mut leaders: Vec<usize> = Vec::new();
    let mut merges = Vec::with_capacity(queries.len());
    for at in 0..queries.len() {
        let near = measured.nearest(at, &leaders, &mut scratch);
        if near.is_none() {
            leaders.push(at);
        }
        merges.push(near);
    }
    merges
}

/// For each query behind the first `n_settled` the nearest of those, by the same measures; the others are not held
/// against one another.
pub fn nearest_of_first(
    n_settled: usize,
    queries: &[&str],
    vectors: &[&[f32]],
    gates: Gates,
) -> Vec<Option<Near>> {
    let measured = Measured::new(queries, vectors, gates);
    let leaders: Vec<usize> = (0..n_settled).collect();
    let mut scratch = LcsScratch::new();
    (n_settled..queries.len()).map(|at| measured.nearest(at, &leaders, &mut scratch)).collect()
}

/// Queries in the forms they are compared in.
struct Measured<'a> {
    gates: Gates,
    texts: Texts,
    vectors: &'a [&'a [f32]],
}

impl<'a> Measured<'a> {
    fn new(queries: &[&str], vectors: &'a [&'a [f32]], gates: Gates) -> Self {
        Self { gates, texts: Texts::encode(queries, Profile::Auto), vectors }
    }

    /// The leader that a query joins: by its words, else by its vector.
    fn nearest(&self, at: usize, leaders: &[usize], scratch: &mut LcsScratch) -> Option<Near> {
        let by_words = self.gates.rouge_l.and_then(|threshold| {
            let (leader, score) = best(leaders, |leader| {
                let (a, b) = self.texts.pair(at, leader);
                let lcs = scratch.lcs_at_least(a, b, threshold.min_lcs(a.len(), b.len()))?;
                Some(f1(lcs, a.len(), b.len()))
            })?;
            Some(Near { leader, by: By::Words(self.texts.tokenizer_of(at, leader)), score })
        });
        by_words.or_else(|| {
            let threshold = self.gates.cosine?;
            let cosine = |leader| f64::from(dot(self.vectors[at], self.vectors[leader]));
            let (leader, score) =
                best(leaders, |leader| Some(cosine(leader)).filter(|&score| score >= threshold))?;
            Some(Near { leader, by: By::Vectors, score })
        })
    }
}

/// The leader with the highest score; the earliest at a tie.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::similarity::embed::hashed::Hashed;

    fn gates(rouge_l: Option<f64>, cosine: Option<f64>) -> Gates {
        Gates { rouge_l: rouge_l.map(|threshold| Threshold::try_from(threshold).unwrap()), cosine }
    }

    fn merged(queries: &[&str], gates: Gates) -> Vec<Option<Near>> {
        let vectors = Hashed::V1.vectors(queries);
        merge_queries(queries, &vectors.iter().collect::<Vec<_>>(), gates)
    }

    #[test]
    fn words_come_before_vectors_and_either_can_be_off() {
        let queries = [
            "close the north gate now please",
            "close the north gate now",
            "north gate: please now close the",
        ];
        let found = |gates| merged(&queries, gates);
        let both = found(gates(Some(0.8), Some(0.6)));
        assert_eq!(
            both.iter().map(|near| near.map(|near| (near.leader, near.by))).collect::<Vec<_>>(),
            [None, Some((0, By::Words(Tokenizer::Rouge))), Some((0, By::Vectors))]
        );
        assert_eq!(found(gates(Some(0.8), None))[2], None);
        assert_eq!(found(gates(None, Some(0.6)))[1].map(|near| near.by), Some(By::Vectors));
        assert_eq!(found(gates(None, None)), [None; 3]);
    }

    proptest! {
        #[test]
        fn the_nearest_of_others_is_the_one_that_a_merge_would_find(
            settled in prop::collection::vec("[a-c]{1,2}( [a-c]{1,2}){0,5}", 0..9), query in "[a-c]{1,2}( [a-c]{1,2}){0,5}"
        ) {
            let gates = gates(Some(0.6), Some(0.7));
            let settled: Vec<&str> = settled.iter().map(String::as_str).collect();
            let mut all = settled.clone();
            all.extend([query.as_str(); 2]);
            let vectors = Hashed::V1.vectors(&all);
            let vectors: Vec<&[f32]> = vectors.iter().collect();
            let found = nearest_of_first(settled.len(), &all, &vectors, gates);
            let pairs: Vec<Option<Near>> =
                settled.iter().map(|other| merged(&[other, &query], gates)[1]).collect();
            let is_by = |by| pairs.iter().flatten().any(|near| near.by == by);
            let words = By::Words(Tokenizer::Rouge);
            let by = if is_by(words) { words } else { By::Vectors };
            let mut expected: Option<Near> = None;
            for (leader, near) in pairs.iter().enumerate().filter_map(|(at, near)| Some((at, near.as_ref()?))) {
                if near.by == by && expected.is_none_or(|best| near.score > best.score) {
                    expected = Some(Near { leader, ..*near });
                }
            }
            prop_assert_eq!(found, vec![expected; 2]);
        }

        #[test]
        fn merged_queries_reach_a_leader_directly_and_no_two_leaders_are_one(
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
    }
}
