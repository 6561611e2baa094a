//! The names that are known in one request only: those of one word.
//!
//! A single word may be a plain word elsewhere (`Will`, `Rose`), so it is found again only with the capitals in which it was
//! written, or as a whole text, such as an argument. A word of a longer name is found as a whole text.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::{Person, Place, is_known_everywhere, normal};
use crate::PrivacyKind;
use crate::names::is_joined;

/// Minimum length in bytes of a word of a longer name.
const LEAST_PART: usize = 3;

/// The names of a request.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OwnPeople {
    /// Names of one word, as written.
    written: BTreeSet<String>,
    /// These names, and the words of longer ones, in their normal form.
    whole: FxHashSet<String>,
}

impl OwnPeople {
    /// Returns the names of a request.
    pub fn of<'p>(people: impl IntoIterator<Item = &'p Person>) -> Self {
        let mut own = Self::default();
        let is_marked = |person: &&Person| person.kind == PrivacyKind::Name && !person.is_repeated;
        for person in people.into_iter().filter(is_marked) {
            let parts = person.value.split(' ').filter(|part| part.len() >= LEAST_PART);
            own.whole.extend(parts.map(str::to_owned));
            if !is_known_everywhere(person) {
                own.whole.insert(person.value.clone());
                if !person.written.starts_with(char::is_lowercase) {
                    own.written.insert(person.written.clone());
                }
            }
        }
        own
    }

    /// Adds the names of an earlier pass.
    #[must_use]
    pub fn with(mut self, earlier: Option<&Self>) -> Self {
        if let Some(earlier) = earlier {
            self.written.extend(earlier.written.iter().cloned());
            self.whole.extend(earlier.whole.iter().cloned());
        }
        self
    }

    /// Returns the places of the names, in order.
    pub(super) fn find(&self, text: &str) -> Vec<Place> {
        let place = |start, end| Place { kind: PrivacyKind::Name, start, end };
        let trimmed = text.trim();
        if !trimmed.is_empty() && self.whole.contains(&normal(trimmed)) {
            let start = text.len() - text.trim_start().len();
            return vec![place(start, start + trimmed.len())];
        }
        let mut found: Vec<Place> = self
            .written
            .iter()
            .flat_map(|written| text.match_indices(written.as_str()))
            .map(|(start, written)| place(start, start + written.len()))
            .filter(|place| !is_joined(text, place.start, place.end))
            .collect();
        // Of two names at a place, the longer one.
        found.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        found
    }
}
