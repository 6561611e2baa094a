//! The form in which names and addresses are compared: lower case, accents as separate characters, one space between words.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A text as words, with the place of each byte in the text as written.
pub(super) struct Plain {
    pub(super) text: String,
    places: Vec<usize>,
}

impl Plain {
    /// Returns the words of a text. A line break stays one, so that no value goes over it.
    pub(super) fn of(written: &str) -> Self {
        let mut plain = Self { text: String::with_capacity(written.len()), places: Vec::new() };
        for (at, c) in written.char_indices() {
            if c.is_ascii_alphanumeric() {
                plain.text.push(c.to_ascii_lowercase());
            } else if c.is_alphanumeric() || is_combining_mark(c) {
                plain.text.extend(c.to_lowercase().nfd());
            } else if c == '\n' {
                plain.text.push(c);
            } else if !plain.text.ends_with([' ', '\n']) {
                plain.text.push(' ');
            }
            plain.places.resize(plain.text.len(), at);
        }
        plain
    }

    /// Returns the words with one space between them.
    pub(super) fn words(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the bytes of `written`, the text as written, for these bytes, if characters begin and end there.
    pub(super) fn back(&self, written: &str, start: usize, end: usize) -> Option<(usize, usize)> {
        let first = *self.places.get(start)?;
        if start > 0 && self.places[start - 1] == first {
            return None;
        }
        let last = *self.places.get(end.checked_sub(1)?)?;
        if self.places.get(end) == Some(&last) {
            return None;
        }
        let length = written[last..].chars().next().map_or(0, char::len_utf8);
        Some((first, last + length))
    }
}
