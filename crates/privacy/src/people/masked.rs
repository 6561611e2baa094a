//! A text as a recogniser reads it: each value that was found has the placeholder with the number 1.
//!
//! So a text and its redacted form, whose placeholders have other numbers, are read alike.

use crate::{FoundValue, ValueStatus};
use callsieve_text::content_hash::content_hash;

/// The number of all placeholders.
const NUMBER: u64 = 1;

/// A text with neutral placeholders.
pub(super) struct Masked {
    /// The text.
    pub(super) text: String,
    /// The unchanged pieces: first byte in the old and in the new text, and length.
    pieces: Vec<(usize, usize, usize)>,
}

impl Masked {
    /// Replaces the values, which are in order and do not overlap. Placeholders that belong to nobody stay.
    pub(super) fn of(text: &str, found: &[FoundValue]) -> Self {
        let mut masked = Self { text: String::with_capacity(text.len()), pieces: Vec::new() };
        let mut done = 0;
        for value in found.iter().filter(|value| value.status != ValueStatus::Placeholder(None)) {
            masked.copy(text, done, value.start);
            masked.text += &value.stand_in(&text[value.start..value.end], NUMBER);
            done = value.end;
        }
        masked.copy(text, done, text.len());
        masked
    }

    fn copy(&mut self, text: &str, start: usize, end: usize) {
        self.pieces.push((start, self.text.len(), end - start));
        self.text.push_str(&text[start..end]);
    }

    /// Returns true if there are letters besides the placeholders.
    pub(super) fn has_words(&self) -> bool {
        self.pieces
            .iter()
            .any(|&(_, new, length)| self.text[new..new + length].chars().any(char::is_alphabetic))
    }

    /// Returns the key of its reading.
    pub(super) fn key(&self) -> u128 {
        content_hash(&self.text)
    }

    /// Returns the bytes of the old text for these bytes; `None` if they touch a placeholder.
    pub(super) fn back(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let at = self.pieces.partition_point(|&(_, new, _)| new <= start).checked_sub(1)?;
        let (old, new, length) = self.pieces[at];
        (end <= new + length).then(|| (start - new + old, end - new + old))
    }
}
