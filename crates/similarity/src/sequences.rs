//! Token sequences of a collection, in contiguous memory.

use rayon::prelude::*;

use callsieve_system::Cancelled;
use callsieve_text::tokens::Tokenizer;
use callsieve_text::vocabulary::Vocabulary;

/// Minimum number of texts in a part with its own vocabulary; the vocabularies of all parts are merged.
const MIN_PART_LEN: usize = 64;
/// Maximum number of parts of a collection.
const MAX_PARTS: usize = 64;

/// Token sequences, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequences {
    tokens: Vec<u32>,
    ends: Vec<usize>,
}

impl Sequences {
    /// Encodes texts on all threads; tokens are numbered in the order of their first occurrence.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode<T: AsRef<str> + Sync>(texts: &[T], tokenizer: Tokenizer) -> Self {
        Self::encode_unless(texts, tokenizer, &|| false).expect("it is never cancelled")
    }

    /// Encodes texts like [`encode`](Self::encode); returns `None` if cancelled.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode_unless<T: AsRef<str> + Sync>(
        texts: &[T],
        tokenizer: Tokenizer,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        let part_len = texts.len().div_ceil(MAX_PARTS).max(MIN_PART_LEN);
        let parts = texts.par_chunks(part_len).map(|texts| {
            let (mut vocabulary, mut sequences) = (Vocabulary::new(), Self::default());
            for text in texts {
                if cancelled() {
                    return None;
                }
                vocabulary.for_each_number(tokenizer, text.as_ref(), |number| sequences.tokens.push(number));
                sequences.ends.push(sequences.tokens.len());
            }
            Some((vocabulary.into_tokens(), sequences))
        });
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let (vocabularies, mut parts): (Vec<_>, Vec<Self>) = parts.into_iter().unzip();
        let mut vocabulary = Vocabulary::new();
        // Merging the parts in order results in the numbers that a single vocabulary would assign.
        let numbers: Vec<Vec<u32>> = vocabularies
            .iter()
            .map(|tokens| {
                (!cancelled()).then(|| tokens.iter().map(|token| vocabulary.number(token)).collect())
            })
            .collect::<Option<_>>()?;
        parts.par_iter_mut().zip(&numbers).for_each(|(part, numbers)| {
            part.tokens.iter_mut().for_each(|token| *token = numbers[*token as usize]);
        });
        Some(Self::joined(parts))
    }

    /// Returns some of the sequences, in the order of `rows`.
    ///
    /// # Panics
    /// If an index is out of range.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let mut selected = Self::default();
        for &row in rows {
            selected.push(self.get(row).iter().copied());
        }
        selected
    }

    /// Concatenates collections.
    fn joined(parts: Vec<Self>) -> Self {
        let n_tokens = parts.iter().map(|part| part.tokens.len()).sum();
        let n_sequences = parts.iter().map(Self::len).sum();
        let mut all = Self { tokens: Vec::with_capacity(n_tokens), ends: Vec::with_capacity(n_sequences) };
        for part in parts {
            let n_before = all.tokens.len();
            all.tokens.extend_from_slice(&part.tokens);
            all.ends.extend(part.ends.iter().map(|end| n_before + end));
        }
        all
    }

    /// Appends a sequence.
    pub fn push(&mut self, tokens: impl IntoIterator<Item = u32>) {
        self.tokens.extend(tokens);
        self.ends.push(self.tokens.len());
    }

    /// Returns the number of sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the total number of tokens.
    pub fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the tokens of a sequence.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn get(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.tokens[start..self.ends[at]]
    }

    /// Iterates over the sequences.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Returns mutable slices of all sequences.
    pub(super) fn slices_mut(&mut self) -> Vec<&mut [u32]> {
        let mut rest = &mut self.tokens[..];
        let mut n_taken = 0;
        let slices = self.ends.iter().map(|&end| {
            let (slice, after) = std::mem::take(&mut rest).split_at_mut(end - n_taken);
            (rest, n_taken) = (after, end);
            slice
        });
        slices.collect()
    }
}

impl<S: AsRef<[u32]>> FromIterator<S> for Sequences {
    fn from_iter<I: IntoIterator<Item = S>>(sequences: I) -> Self {
        let mut all = Self::default();
        for sequence in sequences {
            all.push(sequence.as_ref().iter().copied());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_have_the_numbers_of_a_single_vocabulary(
            texts in prop::collection::vec("[a-f]{1,2}( [a-f]{1,2}){0,3}", 0..300)
        ) {
            let mut vocabulary = Vocabulary::new();
            let expected: Sequences =
                texts.iter().map(|text| vocabulary.encode(Tokenizer::Rouge, text)).collect();
            prop_assert_eq!(Sequences::encode(&texts, Tokenizer::Rouge), expected);
        }
    }
}
