//! Texts as the joins compare them.
//!
//! Under most profiles a collection is one set of token sequences. Under
//! [`Profile::Auto`] it may be two: each text has a sequence by Google's tokenizer and one
//! by the Unicode tokenizer, and two texts are compared by the latter where either needs
//! it. Where no text needs it, it is not made.

use rayon::prelude::*;

use super::index;
use crate::similarity::sequences::Sequences;
use crate::text::profile::{Profile, needs_unicode};
use crate::text::rouge::Threshold;
use crate::text::tokens::Tokenizer;

/// Texts of one collection, or of two one after the other, as they are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    pub(super) first: Sequences,
    pub(super) unicode: Option<Unicode>,
    tokenizer: Tokenizer,
}

/// The same texts by the Unicode tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unicode {
    pub(super) sequences: Sequences,
    /// For each text whether it is to be compared by these alone.
    pub(super) is_needed: Vec<bool>,
}

impl Texts {
    /// Cuts texts into tokens, on all threads.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode<T: AsRef<str> + Sync>(texts: &[T], profile: Profile) -> Self {
        let tokenizer = profile.first();
        let first = Sequences::encode(texts, tokenizer);
        let is_needed: Vec<bool> = match profile {
            Profile::Auto => texts.par_iter().map(|text| needs_unicode(text.as_ref())).collect(),
            Profile::Always(_) => Vec::new(),
        };
        let unicode = is_needed
            .contains(&true)
            .then(|| Unicode { sequences: Sequences::encode(texts, Tokenizer::Unicode), is_needed });
        Self { first, unicode, tokenizer }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// How many tokens all texts have together, in each space.
    pub fn n_tokens_of_all(&self) -> usize {
        self.spaces().map(Sequences::n_tokens).sum()
    }

    /// How many bytes a join of these texts takes besides them, while it runs; the pairs found come on top.
    pub fn join_bytes(&self, threshold: Threshold) -> usize {
        self.spaces().map(|sequences| index::bytes(sequences, threshold)).sum()
    }

    fn spaces(&self) -> impl Iterator<Item = &Sequences> {
        std::iter::once(&self.first).chain(self.unicode.as_ref().map(|unicode| &unicode.sequences))
    }

    /// How many tokens a text has, by the tokenizer that it needs.
    ///
    /// # Panics
    /// If there are not that many texts.
    pub fn n_tokens(&self, at: usize) -> usize {
        let sequences = match &self.unicode {
            Some(unicode) if unicode.is_needed[at] => &unicode.sequences,
            _ => &self.first,
        };
        sequences.get(at).len()
    }

    /// The tokens by which two texts are compared.
    ///
    /// # Panics
    /// If there are not that many texts.
    pub fn pair(&self, a: usize, b: usize) -> (&[u32], &[u32]) {
        let sequences = match &self.unicode {
            Some(unicode) if unicode.is_needed[a] || unicode.is_needed[b] => &unicode.sequences,
            _ => &self.first,
        };
        (sequences.get(a), sequences.get(b))
    }

    /// The tokenizer by which two texts are compared.
    ///
    /// # Panics
    /// If there are not that many texts.
    pub fn tokenizer_of(&self, a: usize, b: usize) -> Tokenizer {
        match &self.unicode {
            Some(unicode) if unicode.is_needed[a] || unicode.is_needed[b] => Tokenizer::Unicode,
            _ => self.tokenizer,
        }
    }
}

/// Token sequences that compare with one another, wherever they come from.
impl From<Sequences> for Texts {
    fn from(first: Sequences) -> Self {
        Self { first, unicode: None, tokenizer: Tokenizer::Rouge }
    }
}
