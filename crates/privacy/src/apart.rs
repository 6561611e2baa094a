//! Spans of a text that do not overlap.

use std::collections::BTreeMap;

use super::FoundValue;

/// The spans taken in a text, so that a further value is only accepted apart from them.
#[derive(Debug, Default)]
pub(super) struct Spans(BTreeMap<usize, usize>);

impl Spans {
    /// Returns the spans of values without overlaps.
    pub(super) fn of(found: &[FoundValue]) -> Self {
        Self(found.iter().map(|value| (value.start, value.end)).collect())
    }

    /// Returns true if a span overlaps with one that is taken.
    pub(super) fn meets(&self, start: usize, end: usize) -> bool {
        self.0.range(..end).next_back().is_some_and(|(_, &other)| start < other)
    }

    /// Takes a span if it is free.
    pub(super) fn add(&mut self, start: usize, end: usize) -> bool {
        let is_free = !self.meets(start, end);
        if is_free {
            self.0.insert(start, end);
        }
        is_free
    }

    /// Adds a value to `more` if its span is free, and takes the span.
    pub(super) fn push(&mut self, value: FoundValue, more: &mut Vec<FoundValue>) {
        if self.add(value.start, value.end) {
            more.push(value);
        }
    }
}
