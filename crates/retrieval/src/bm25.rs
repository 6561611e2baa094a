//! Okapi BM25: how well each document of a collection fits a query by its words.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the weight of a word as Lucene has it,
//! ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.

use rustc_hash::FxHashMap;

use crate::words::words;

/// How fast a word that is repeated stops to count.
const K1: f64 = 1.2;
/// How much the length of a document counts.
const B: f64 = 0.75;

/// An index of documents.
#[derive(Debug, Default)]
pub struct Bm25 {
    /// By word: the documents that have it, ascending, each with its score for one such word of a query.
    postings: FxHashMap<String, Vec<(u32, f64)>>,
    n_documents: usize,
}

impl Bm25 {
    /// Indexes documents.
    ///
    /// # Panics
    /// If there are 2^32 documents or more.
    #[allow(clippy::cast_precision_loss)] // Counts of words.
    pub fn new<'t>(documents: impl IntoIterator<Item = &'t str>) -> Self {
        let mut counts: FxHashMap<String, Vec<(u32, f64)>> = FxHashMap::default();
        let mut lengths: Vec<f64> = Vec::new();
        for text in documents {
            let at = u32::try_from(lengths.len()).expect("fewer than 2^32 documents");
            let words = words(text);
            lengths.push(words.len() as f64);
            for word in words {
                let of_word = counts.entry(word).or_default();
                match of_word.last_mut() {
                    Some((last, n)) if *last == at => *n += 1.0,
                    _ => of_word.push((at, 1.0)),
                }
            }
        }
        let n = lengths.len() as f64;
        let mean = if lengths.is_empty() { 1.0 } else { (lengths.iter().sum::<f64>() / n).max(1.0) };
        #[allow(clippy::iter_over_hash_type)] // Each word is weighed by itself.
        for of_word in counts.values_mut() {
            let n_with = of_word.len() as f64;
            let weight = (1.0 + (n - n_with + 0.5) / (n_with + 0.5)).ln();
            for (at, n) in of_word {
                let length = 1.0 - B + B * lengths[*at as usize] / mean;
                *n = weight * *n * (K1 + 1.0) / (*n + K1 * length);
            }
        }
        Self { postings: counts, n_documents: lengths.len() }
    }

    /// Returns the score of each document for a query; a word counts as often as the query has it.
    pub fn scores(&self, query: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.n_documents];
        for word in words(query) {
            for (at, score) in self.postings.get(&word).into_iter().flatten() {
                scores[*at as usize] += score;
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_by_hand() {
        let index = Bm25::new(["ring bell", "ring bell bell tower", "lamp pier"]);
        let scores = index.scores("Ring bells!");
        // Lengths 2, 4, 2 with a mean of 8/3; both words are in two of three documents.
        let weight = (1.0_f64 + 1.5 / 2.5).ln();
        let of = |n: f64, length: f64| weight * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * length / (8.0 / 3.0)));
        assert!((scores[0] - 2.0 * of(1.0, 2.0)).abs() < 1e-12, "{scores:?}");
        assert!((scores[1] - of(1.0, 4.0) - of(2.0, 4.0)).abs() < 1e-12, "{scores:?}");
        assert!(scores[2].abs() < 1e-12);
        assert!(index.scores("nothing of it").iter().all(|score| *score == 0.0));
        assert_eq!(Bm25::new([]).scores("ring"), [0.0; 0]);
    }
}
