//! ROUGE-L by lines (`rougeLsum` of Google's `rouge-score` 0.1.2).
//!
//! Each line of the target is compared with every line of the prediction; a token that is in a longest common
//! subsequence with any of them is a hit, at most as often as both texts have the token. The score is that of
//! [`f1`](super::rouge::f1) with hits as the common subsequence. Swapping the two texts may change it.

use rustc_hash::FxHashMap;

/// Returns the hits of a target in a prediction, both given as the tokens of their lines.
pub fn hits(target: &[&[u32]], prediction: &[&[u32]]) -> usize {
    let mut left = [counts(target), counts(prediction)];
    let mut table = Table::default();
    let mut n_hits = 0;
    for line in target {
        let mut is_common = vec![false; line.len()];
        for other in prediction {
            table.mark_common(line, other, &mut is_common);
        }
        for (token, _) in line.iter().zip(&is_common).filter(|(_, is_common)| **is_common) {
            let mut both = left.each_mut().map(|counts| counts.get_mut(token));
            if let [Some(a), Some(b)] = &mut both
                && **a > 0
                && **b > 0
            {
                **a -= 1;
                **b -= 1;
                n_hits += 1;
            }
        }
    }
    n_hits
}

fn counts(lines: &[&[u32]]) -> FxHashMap<u32, usize> {
    let mut counts = FxHashMap::default();
    for &token in lines.iter().copied().flatten() {
        *counts.entry(token).or_default() += 1;
    }
    counts
}

/// The table of lengths of common subsequences, reused for many pairs of lines.
#[derive(Default)]
struct Table {
    lengths: Vec<u32>,
}

impl Table {
    /// Marks the tokens of `line` in its longest common subsequence with `other`: of several subsequences, the one to
    /// which `rouge-score` backtracks.
    fn mark_common(&mut self, line: &[u32], other: &[u32], is_common: &mut [bool]) {
        let width = other.len() + 1;
        self.lengths.clear();
        self.lengths.resize((line.len() + 1) * width, 0);
        for (i, token) in line.iter().enumerate() {
            for (j, other) in other.iter().enumerate() {
                let length = if token == other {
                    self.lengths[i * width + j] + 1
                } else {
                    self.lengths[i * width + j + 1].max(self.lengths[(i + 1) * width + j])
                };
                self.lengths[(i + 1) * width + j + 1] = length;
            }
        }
        let (mut i, mut j) = (line.len(), other.len());
        while i > 0 && j > 0 {
            if line[i - 1] == other[j - 1] {
                (i, j) = (i - 1, j - 1);
                is_common[i] = true;
            } else if self.lengths[i * width + j - 1] > self.lengths[(i - 1) * width + j] {
                j -= 1;
            } else {
                i -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rougers::{RougeScorer, RougeType};

    use super::*;
    use crate::rouge::f1;
    use crate::tokens::Tokenizer;
    use crate::vocabulary::Vocabulary;

    fn score(target: &str, prediction: &str) -> f64 {
        let mut vocabulary = Vocabulary::new();
        let mut lines = |text: &str| -> Vec<Vec<u32>> {
            text.split('\n').map(|line| vocabulary.encode(Tokenizer::Rouge, line)).collect()
        };
        let (target, prediction) = (lines(target), lines(prediction));
        let n_tokens = |lines: &[Vec<u32>]| lines.iter().map(Vec::len).sum();
        let [a, b] = [&target, &prediction].map(|lines| lines.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let hits = hits(&a, &b);
        f1(hits, n_tokens(&target), n_tokens(&prediction))
    }

    #[test]
    fn scores_are_equal_to_those_of_google() {
        // Computed with rouge-score 0.1.2: rougeLsum, fmeasure.
        for (target, prediction, expected) in REFERENCE {
            assert_eq!(
                score(target, prediction).to_bits(),
                f64::to_bits(expected),
                "{target:?} {prediction:?}"
            );
        }
    }

    const REFERENCE: [(&str, &str, f64); 5] = [
        ("ring the bell\nat noon", "at noon ring\nthe old bell", 0.909_090_909_090_909_1),
        ("a b c d\ne f", "a c e\nb d f", 1.0),
        ("a a a\nb", "a b\na", 0.857_142_857_142_857_1),
        ("", "a", 0.0),
        ("one line only", "one line\nonly", 1.0),
    ];

    proptest! {
        #[test]
        fn the_score_has_the_bits_of_an_independent_implementation(
            target in "([a-d] |[a-d]\n){0,25}", prediction in "([a-d] |[a-d]\n){0,25}"
        ) {
            let scorer = RougeScorer::new(["rougeLsum"], false).unwrap();
            let expected = scorer.score(&target, &prediction).get(RougeType::LSum).unwrap().fmeasure;
            prop_assert_eq!(score(&target, &prediction).to_bits(), expected.to_bits());
        }
    }
}
