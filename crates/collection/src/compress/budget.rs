//! Sizes of values: of their JSON text without blanks.

use std::fmt;

use serde_json::Value;

/// Counts the characters or tokens of a text.
type Counter<'c> = Box<dyn Fn(&str) -> usize + 'c>;

/// The most characters or tokens of a response.
pub struct Budget<'c> {
    limit: usize,
    count: Counter<'c>,
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// The characters of a token of text in Latin letters.
const CHARS_PER_TOKEN: usize = 4;

impl<'c> Budget<'c> {
    /// Creates a budget of characters. ToolBench's "1024 tokens" are 1,024 characters.
    pub fn chars(limit: usize) -> Self {
        Self { limit, count: Box::new(|text| text.chars().count()) }
    }

    /// Creates a budget of tokens, counted by the tokenizer of a model. A part of a text should have no more tokens than
    /// the text; otherwise some responses are cut more than necessary.
    pub fn tokens(limit: usize, count: impl Fn(&str) -> usize + 'c) -> Self {
        Self { limit, count: Box::new(count) }
    }

    /// Creates a budget of tokens that are estimated: one for four ASCII characters, one for any other character.
    pub fn estimated_tokens(limit: usize) -> Self {
        let count = |text: &str| {
            let n_ascii = text.bytes().filter(u8::is_ascii).count();
            n_ascii.div_ceil(CHARS_PER_TOKEN) + text.chars().filter(|c| !c.is_ascii()).count()
        };
        Self { limit, count: Box::new(count) }
    }

    /// Returns the size of a value.
    pub fn size(&self, value: &Value) -> usize {
        (self.count)(&value.to_string())
    }

    /// Returns true if a value is within the budget.
    pub fn fits(&self, value: &Value) -> bool {
        self.size(value) <= self.limit
    }
}
