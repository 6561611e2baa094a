//! Counts of hashed character n-grams as vectors: no model, no download, the same bits on every machine.
//!
//! The vectors capture spelling, not meaning. Measured on the 2,251 queries of BFCL's Live set against the 492 pairs
//! that all-MiniLM-L6-v2 puts above 0.9: at cosine 0.85, `V2` has recall 0.74 and precision 0.93 (on the 169 pairs
//! that are not equal, 0.31 and 0.77), and `V1` has 0.71 and 0.94 (0.23 and 0.77). Words, word pairs, other
//! dimensions, other weights of counts and lighter stop words were not better. `examples/embedder_table.rs` measures
//! this.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{EmbedError, Embedder};
use callsieve_engine::context::Cancelled;
use callsieve_similarity::vectors::{Vectors, dot};
use callsieve_text::normal::normalise;

/// An embedder that counts hashed character n-grams.
///
/// The text is [normalised](normalise), each word gets a blank on both sides, and every n-gram within a word adds or
/// subtracts one in the dimension of its hash. Taking square roots of the counts limits the weight of frequent n-grams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hashed {
    name: &'static str,
    /// Lengths of the n-grams in characters, the shortest first.
    gram_lens: [usize; 3],
}

const N_DIMS: usize = 1024;

/// The seed of the hashes. A change of this or of the numbers above needs a new id.
const SEED: u64 = 0;

impl Hashed {
    /// N-grams of 3 to 5 characters; the weights of `relevance` are fitted in this space.
    pub const V1: Self = Self { name: "hashed-char-3-5-1024-v1", gram_lens: [3, 4, 5] };
    /// N-grams of 2 to 4 characters.
    pub const V2: Self = Self { name: "hashed-char-2-4-1024-v2", gram_lens: [2, 3, 4] };

    /// Returns the id of this vector space.
    pub fn id(self) -> &'static str {
        self.name
    }

    /// Returns the vectors of some texts; cannot fail.
    pub fn vectors(self, texts: &[&str]) -> Vectors {
        let mut values = vec![0.0; texts.len() * N_DIMS];
        values.par_chunks_mut(N_DIMS).zip(texts).for_each(|(row, text)| self.embed_into(row, text));
        Vectors::new(N_DIMS, values)
    }

    fn embed_into(self, row: &mut [f32], text: &str) {
        let mut padded = String::new();
        for word in normalise(text).split(' ').filter(|word| !word.is_empty()) {
            padded.clear();
            padded.extend([" ", word, " "]);
            self.for_each_gram(&padded, |gram| {
                let hash = xxh3_64_with_seed(gram.as_bytes(), SEED);
                let place = usize::try_from(hash % N_DIMS as u64).expect("below the number of dimensions");
                // The sign comes from another bit of the hash, so two n-grams in one dimension cancel as often as add.
                row[place] += if hash >> 63 == 0 { 1.0 } else { -1.0 };
            });
        }
        for x in &mut *row {
            *x = x.abs().sqrt().copysign(*x);
        }
        let norm = dot(row, row).sqrt();
        if norm > 0.0 {
            for x in row {
                *x /= norm;
            }
        }
    }

    fn for_each_gram(self, padded: &str, mut f: impl FnMut(&str)) {
        for (start, _) in padded.char_indices() {
            let rest = &padded[start..];
            let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            let mut n_before = 0;
            for len in self.gram_lens {
                let Some(end) = ends.nth(len - n_before - 1) else { break };
                f(&rest[..end]);
                n_before = len;
            }
        }
    }
}

impl Embedder for Hashed {
    fn id(&self) -> String {
        self.name.to_owned()
    }

    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        if cancelled() { Err(EmbedError::Interrupted) } else { Ok(self.vectors(texts)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let vectors = Hashed::V1.vectors(&[a, b]);
        dot(vectors.get(0), vectors.get(1))
    }

    #[test]
    fn n_grams_are_within_a_word_and_its_blanks() {
        let mut grams = Vec::new();
        Hashed::V1.for_each_gram(" été ", |gram| grams.push(gram.to_owned()));
        assert_eq!(grams, [" ét", " été", " été ", "été", "été ", "té "]);
        let mut grams = Vec::new();
        Hashed::V2.for_each_gram(" ab ", |gram| grams.push(gram.to_owned()));
        assert_eq!(grams, [" a", " ab", " ab ", "ab", "ab ", "b "]);
        let mut grams = Vec::new();
        Hashed::V1.for_each_gram(" a ", |gram| grams.push(gram.to_owned()));
        assert_eq!(grams, [" a "]);
    }

    #[test]
    fn the_vector_of_a_known_text_never_changes() {
        let vectors = Hashed::V1.vectors(&["a"]);
        let places: Vec<_> = vectors.get(0).iter().enumerate().filter(|(_, x)| **x != 0.0).collect();
        assert_eq!(places, [(936, &1.0)]);
        let vectors = Hashed::V1.vectors(&["What's the weather in Zürich?"]);
        let bytes: Vec<u8> = vectors.get(0).iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(xxh3_64_with_seed(&bytes, 0), 10_216_028_175_585_186_097);
        let vectors = Hashed::V2.vectors(&["What's the weather in Zürich?"]);
        let bytes: Vec<u8> = vectors.get(0).iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(xxh3_64_with_seed(&bytes, 0), 9_521_779_196_258_849_669);
    }

    #[test]
    fn texts_that_share_words_are_closer_than_others() {
        let near = cosine("What is the weather in Oslo today?", "what's the weather in  OSLO");
        let far = cosine("What is the weather in Oslo today?", "Transfer 50 euros to Anna");
        assert!(near > 0.7, "{near}");
        assert!(far < 0.2, "{far}");
    }

    #[test]
    fn an_empty_text_is_all_zero() {
        assert_eq!(Hashed::V1.vectors(&["", " \n"]), Vectors::new(N_DIMS, vec![0.0; 2 * N_DIMS]));
        assert!(Hashed::V1.vectors(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn a_row_has_unit_length_and_depends_on_its_text_alone(texts in prop::collection::vec("\\PC{0,30}", 1..8)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            for hashed in [Hashed::V1, Hashed::V2] {
                let vectors = hashed.vectors(&texts);
                for (text, row) in texts.iter().zip(vectors.iter()) {
                    let alone = hashed.vectors(&[text]);
                    prop_assert_eq!(row, alone.get(0));
                    let norm = dot(row, row);
                    prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-5, "{}", norm);
                }
            }
        }
    }
}
