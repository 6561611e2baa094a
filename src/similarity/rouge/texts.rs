//! Texts as the joins compare them.
//!
//! Under most profiles a collection is one set of token sequences. Under
//! [`Profile::Auto`] it may be two: each text has a sequence by Google's tokenizer and one
//! by the Unicode tokenizer, and two texts are compared by the latter where either needs
//! it. Where no text needs it, it is not made.

use rayon::prelude::*;

use super::widths;
use crate::engine::context::Cancelled;
use crate::similarity::sequences::Sequences;
use crate::text::profile::{Profile, needs_unicode};
use crate::text::rouge::Threshold;
use crate::text::tokens::Tokenizer;

/// Texts of one collection, or of two one after the other, as they are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    pub(super) first: Tokens,
    pub(super) unicode: Option<Unicode>,
}

/// Texts as one tokenizer cuts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    pub(super) sequences: Sequences,
    /// For each text how many tokens each of its lines has, where they are compared by lines.
    pub(super) lines: Option<Sequences>,
}

/// The same texts by the Unicode tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unicode {
    pub(super) tokens: Tokens,
    /// For each text whether it is to be compared by these alone.
    pub(super) is_needed: Vec<bool>,
}

/// What of two texts is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// The longest common subsequence of all their tokens (`rougeL`).
    #[default]
    Whole,
    /// Those of their lines, put together (`rougeLsum`); of a pair the earlier text is the target.
    Lines,
}

impl Tokens {
    fn encode<T: AsRef<str> + Sync>(
        texts: &[T],
        tokenizer: Tokenizer,
        measure: Measure,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        match measure {
            Measure::Whole => {
                let sequences = Sequences::encode_unless(texts, tokenizer, cancelled)?;
                Some(Self { tokenizer, sequences, lines: None })
            }
            Measure::Lines => Some(Self::by_lines(texts, tokenizer)),
        }
    }

    /// A line end parts tokens under every tokenizer, so the tokens of a text are those of its lines.
    fn by_lines<T: AsRef<str>>(texts: &[T], tokenizer: Tokenizer) -> Self {
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.as_ref().split('\n')).collect();
        let lines = Sequences::encode(&lines, tokenizer);
        let mut of_lines = lines.iter();
        let mut tokens = Self { tokenizer, sequences: Sequences::default(), lines: None };
        let mut lengths = Sequences::default();
        for text in texts {
            let lines: Vec<&[u32]> = of_lines.by_ref().take(text.as_ref().split('\n').count()).collect();
            lengths.push(lines.iter().map(|line| u32::try_from(line.len()).unwrap_or(u32::MAX)));
            tokens.sequences.push(lines.concat());
        }
        Self { lines: Some(lengths), ..tokens }
    }
}

impl Texts {
    /// Cuts texts into tokens, on all threads.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode<T: AsRef<str> + Sync>(texts: &[T], profile: Profile) -> Self {
        Self::encode_for(Measure::Whole, texts, profile)
    }

    /// The same; nothing where `cancelled` says so, which is asked again and again.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode_unless<T: AsRef<str> + Sync>(
        texts: &[T],
        profile: Profile,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        Self::encoded(Measure::Whole, texts, profile, cancelled)
    }

    /// The same for another measure.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens, or a line of so many.
    pub fn encode_for<T: AsRef<str> + Sync>(measure: Measure, texts: &[T], profile: Profile) -> Self {
        Self::encoded(measure, texts, profile, &|| false).expect("nobody calls it off")
    }

    fn encoded<T: AsRef<str> + Sync>(
        measure: Measure,
        texts: &[T],
        profile: Profile,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        let first = Tokens::encode(texts, profile.first(), measure, cancelled)?;
        let is_needed: Vec<bool> = match profile {
            Profile::Auto => texts.par_iter().map(|text| needs_unicode(text.as_ref())).collect(),
            Profile::Always(_) => Vec::new(),
        };
        let unicode = if is_needed.contains(&true) {
            let tokens = Tokens::encode(texts, Tokenizer::Unicode, measure, cancelled)?;
            Some(Unicode { tokens, is_needed })
        } else {
            None
        };
        Some(Self { first, unicode })
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.first.sequences.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.first.sequences.is_empty()
    }

    /// How many tokens all texts have together, in each space.
    pub fn n_tokens_of_all(&self) -> usize {
        self.spaces().map(Sequences::n_tokens).sum()
    }

    /// How many bytes a join of these texts takes besides them, while it runs; the pairs found come on top.
    pub fn join_bytes(&self, threshold: Threshold) -> usize {
        self.spaces().map(|sequences| widths::bytes(sequences, threshold)).sum()
    }

    fn spaces(&self) -> impl Iterator<Item = &Sequences> {
        let unicode = self.unicode.as_ref().map(|unicode| &unicode.tokens);
        std::iter::once(&self.first).chain(unicode).map(|tokens| &tokens.sequences)
    }

    /// The tokens by which some texts are compared: those that one of them needs.
    fn tokens_of(&self, rows: &[usize]) -> &Tokens {
        match &self.unicode {
            Some(unicode) if rows.iter().any(|&row| unicode.is_needed[row]) => &unicode.tokens,
            _ => &self.first,
        }
    }

    /// How many tokens a text has, by the tokenizer that it needs.
    ///
    /// # Panics
    /// If there are not that many texts.
    pub fn n_tokens(&self, at: usize) -> usize {
        self.tokens_of(&[at]).sequences.get(at).len()
    }

    /// The tokens by which two texts are compared.
    ///
    /// # Panics
    /// If there are not that many texts.
    pub fn pair(&self, a: usize, b: usize) -> (&[u32], &[u32]) {
        let Tokens { sequences, .. } = self.tokens_of(&[a, b]);
        (sequences.get(a), sequences.get(b))
    }

    /// The tokenizer by which two texts are compared.
    ///
    /// # Panics
    /// If there are not that many texts.
    pub fn tokenizer_of(&self, a: usize, b: usize) -> Tokenizer {
        self.tokens_of(&[a, b]).tokenizer
    }
}

/// No texts.
impl Default for Texts {
    fn default() -> Self {
        Self::from(Sequences::default())
    }
}

/// Token sequences that compare with one another, wherever they come from.
impl From<Sequences> for Texts {
    fn from(sequences: Sequences) -> Self {
        Self { first: Tokens { tokenizer: Tokenizer::Rouge, sequences, lines: None }, unicode: None }
    }
}
