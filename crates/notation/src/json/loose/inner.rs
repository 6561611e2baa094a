//! The meaning of quotes inside a string.
//!
//! A quote between two letters is an apostrophe; any other is probably part of the text, and certainly if the string
//! contains JSON.

use super::LooseReader;
use super::ends::{StringPlace, can_end};
use crate::json::strict;

/// The quotes found inside a string.
#[derive(Default)]
pub(super) struct Inner {
    /// The place of the last one.
    last: Option<usize>,
    /// Whether one of them is not an apostrophe.
    has_other: bool,
}

impl Inner {
    /// Records a quote between the content read so far and the following text.
    pub(super) fn note(&mut self, at: usize, quote: char, before: &str, after: &str) {
        let is_apostrophe =
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphabetic) && quote != '"';
        self.last = Some(at);
        self.has_other |= !is_apostrophe;
    }
}

impl LooseReader<'_> {
    /// Reads JSON with unescaped quotes inside quotes: `"{"city": "Oslo"}"`.
    pub(super) fn json_with_bare_quotes(&mut self, quote: char, place: StringPlace) -> Option<String> {
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

    /// Records how certain it is that quotes inside a string are part of it.
    pub(super) fn judge_inner(&mut self, inner: &Inner, text: &str) {
        let Some(at) = inner.last else { return };
        let holds_json = text.starts_with(['{', '[']) && strict::read(text).is_ok();
        let is_sure = !inner.has_other || holds_json;
        let noted = if is_sure { &mut self.notes.slip } else { &mut self.notes.likely };
        noted.get_or_insert(at);
    }
}
