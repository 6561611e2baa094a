//! Finds the values that are known in the whole run, in any case and with any spaces and signs between their words.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};

use super::Place;
use super::plain::Plain;
use crate::PrivacyKind;
use crate::names::is_joined;

/// The known values.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    automaton: Option<AhoCorasick>,
    kinds: Vec<PrivacyKind>,
}

impl Matcher {
    /// Creates a matcher of values in their normal form.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn new(values: &BTreeSet<(PrivacyKind, String)>) -> Result<Self, String> {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(values.iter().map(|(_, value)| value))
            .map_err(|error| error.to_string())?;
        Ok(Self { automaton: Some(automaton), kinds: values.iter().map(|(kind, _)| *kind).collect() })
    }

    /// Returns the places of the values, in order.
    pub(super) fn find(&self, text: &str) -> Vec<Place> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let plain = Plain::of(text);
        let mut found = Vec::new();
        let mut from = 0;
        // A match inside a longer word is skipped, and the search goes on behind its first character.
        while let Some(hit) = automaton.find(aho_corasick::Input::new(&plain.text).range(from..)) {
            let place = plain.back(text, hit.start(), hit.end());
            let whole = place.filter(|&(start, end)| !is_joined(text, start, end));
            if let Some((start, end)) = whole {
                found.push(Place { kind: self.kinds[hit.pattern().as_usize()], start, end });
                from = hit.end();
            } else {
                let first = plain.text[hit.start()..].chars().next().map_or(1, char::len_utf8);
                from = hit.start() + first;
            }
        }
        found
    }
}
