//! What a quote inside a string means.
//!
//! Between two letters it is an apostrophe and nothing else; elsewhere it most likely belongs to the text, and surely
//! where the string holds JSON.

use super::Reader;
use super::ends::{Place, can_end};
use crate::notation::json::strict;

/// The quotes that a string was found to hold.
#[derive(Default)]
pub(super) struct Inner {
    /// Where the last of them stands.
    last: Option<usize>,
    /// Whether one of them is no apostrophe.
    has_other: bool,
}

impl Inner {
    /// Takes note of a quote between what the string holds so far and what follows.
    pub(super) fn note(&mut self, at: usize, quote: char, before: &str, after: &str) {
        let is_apostrophe =
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphabetic) && quote != '"';
        self.last = Some(at);
        self.has_other |= !is_apostrophe;
    }
}

impl Reader<'_> {
    /// Takes JSON whose own quotes are not escaped in the quotes around it: `"{"city": "Oslo"}"`.
    pub(super) fn json_with_bare_quotes(&mut self, quote: char, place: Place) -> Option<String> {
        let rest = self.rest();
        if quote != '"' || !rest.starts_with(['{', '[']) || self.looked_bytes > self.text.len() {
            return None;
        }
        let first = rest.find(['"', '\\']).filter(|at| rest[*at..].starts_with('"'))?;
        if can_end(&rest[first + 1..], place) {
            return None;
        }
        let length = strict::prefix_len(rest);
        self.looked_bytes += length.unwrap_or_else(|stopped| stopped);
        let length = length.ok()?;
        let after = rest[length..].strip_prefix('"')?;
        if !can_end(after, place) {
            return None;
        }
        self.slip();
        self.at += length + 1;
        Some(rest[..length].to_owned())
    }

    /// How sure it is that quotes inside a string belong to it.
    pub(super) fn judge_inner(&mut self, inner: &Inner, text: &str) {
        let Some(at) = inner.last else { return };
        let holds_json = text.starts_with(['{', '[']) && strict::read(text).is_ok();
        let is_sure = !inner.has_other || holds_json;
        let noted = if is_sure { &mut self.notes.slip } else { &mut self.notes.likely };
        noted.get_or_insert(at);
    }
}
