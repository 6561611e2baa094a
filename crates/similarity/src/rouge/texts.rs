//! Tokenised texts for the joins.
//!
//! Under most profiles a collection is one set of token sequences. Under
//! [`Profile::Auto`] it may be two: each text has a sequence by Google's tokenizer and one
//! by the Unicode tokenizer, and two texts are compared by the latter if either of them needs it.
//! The second set is only computed if a text needs it.

use rayon::prelude::*;

use super::widths;
use crate::sequences::Sequences;
use callsieve_system::Cancelled;
use callsieve_text::profile::{Profile, needs_unicode};
use callsieve_text::rouge::Threshold;
use callsieve_text::tokens::Tokenizer;

/// The tokenised texts of a collection, or of two collections one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    pub(super) first: Tokens,
    pub(super) unicode: Option<Unicode>,
}

/// Texts, tokenised by one tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    pub(super) sequences: Sequences,
    /// For each text the number of tokens in each of its lines, if texts are compared by lines.
    pub(super) lines: Option<Sequences>,
}

/// The same texts, tokenised by the Unicode tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unicode {
    pub(super) tokens: Tokens,
    /// For each text whether it needs the Unicode tokenizer.
    pub(super) is_needed: Vec<bool>,
}

/// The measure by which two texts are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// The longest common subsequence of all tokens (`rougeL`).
    #[default]
    Whole,
    /// The union of the longest common subsequences of the lines (`rougeLsum`); the earlier text is the target.
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

    /// Tokenises texts by lines. All tokenizers split tokens at line ends, so the tokens of a text are those of its
    /// lines.
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

impl Tokens {
    fn select(&self, rows: &[usize]) -> Self {
        Self {
            tokenizer: self.tokenizer,
            sequences: self.sequences.select(rows),
            lines: self.lines.as_ref().map(|lines| lines.select(rows)),
        }
    }
}

impl Texts {
    /// Tokenises texts on all threads.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode<T: AsRef<str> + Sync>(texts: &[T], profile: Profile) -> Self {
        Self::encode_for(Measure::Whole, texts, profile)
    }

    /// Tokenises texts like [`encode`](Self::encode); returns `None` if cancelled.
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

    /// Tokenises texts for a measure.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens, or a line of more tokens.
    pub fn encode_for<T: AsRef<str> + Sync>(measure: Measure, texts: &[T], profile: Profile) -> Self {
        Self::encoded(measure, texts, profile, &|| false).expect("it is never cancelled")
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

    /// Returns some of the texts, in the order of `rows`, with the same results of comparisons.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let unicode = self.unicode.as_ref().filter(|unicode| rows.iter().any(|&row| unicode.is_needed[row]));
        Self {
            first: self.first.select(rows),
            unicode: unicode.map(|unicode| Unicode {
                tokens: unicode.tokens.select(rows),
                is_needed: rows.iter().map(|&row| unicode.is_needed[row]).collect(),
            }),
        }
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.first.sequences.len()
    }

    /// Returns whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.first.sequences.is_empty()
    }

    /// Returns the total number of tokens, in all spaces.
    pub fn n_tokens_of_all(&self) -> usize {
        self.spaces().map(Sequences::n_tokens).sum()
    }

    /// Returns the memory in bytes that a join of these texts needs in addition to them, without the pairs.
    pub fn join_bytes(&self, threshold: Threshold) -> usize {
        self.spaces().map(|sequences| widths::bytes(sequences, threshold)).sum()
    }

    fn spaces(&self) -> impl Iterator<Item = &Sequences> {
        let unicode = self.unicode.as_ref().map(|unicode| &unicode.tokens);
        std::iter::once(&self.first).chain(unicode).map(|tokens| &tokens.sequences)
    }

    /// Returns the tokens for the comparison of some texts: Unicode tokens if one of them needs these.
    fn tokens_of(&self, rows: &[usize]) -> &Tokens {
        match &self.unicode {
            Some(unicode) if rows.iter().any(|&row| unicode.is_needed[row]) => &unicode.tokens,
            _ => &self.first,
        }
    }

    /// Returns the number of tokens of a text, by the tokenizer that it needs.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn n_tokens(&self, at: usize) -> usize {
        self.tokens_of(&[at]).sequences.get(at).len()
    }

    /// Returns the tokens for the comparison of two texts.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn pair(&self, a: usize, b: usize) -> (&[u32], &[u32]) {
        let Tokens { sequences, .. } = self.tokens_of(&[a, b]);
        (sequences.get(a), sequences.get(b))
    }

    /// Returns the tokenizer for the comparison of two texts.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn tokenizer_of(&self, a: usize, b: usize) -> Tokenizer {
        self.tokens_of(&[a, b]).tokenizer
    }
}

/// An empty collection.
impl Default for Texts {
    fn default() -> Self {
        Self::from(Sequences::default())
    }
}

/// Token sequences from any source that can be compared with each other.
impl From<Sequences> for Texts {
    fn from(sequences: Sequences) -> Self {
        Self { first: Tokens { tokenizer: Tokenizer::Rouge, sequences, lines: None }, unicode: None }
    }
}
