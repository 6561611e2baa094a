//! The query of a request, preprocessed: its words, values and vector.
//!
//! In a conversation the query includes the last few user messages, because the last one may
//! depend on the others ("and tomorrow?").

use super::SPACE;
use super::language_group::LanguageGroup;
use super::topics::Topics;
use super::values::Values;
use super::words::{content_set, plain_words};
use callsieve_text::normal::normalise;

/// Maximum number of user messages in one query.
const MAX_MESSAGES: usize = 3;

/// A preprocessed query, ready for the comparison with docs.
pub struct PreparedQuery {
    /// The last user message as sent; empty if there is none.
    pub(super) last: String,
    /// Whether it is the only one.
    pub(super) is_alone: bool,
    /// Whether other messages are before it, such as instructions, which may hold values.
    pub(super) has_context: bool,
    /// The last user messages as one text.
    pub(super) text: String,
    /// Its normal form.
    pub(super) normal: String,
    /// Its words in lower case, in order.
    pub(super) plain_words: Vec<String>,
    /// Its content words, sorted.
    pub(super) words: Vec<String>,
    /// Its topics.
    pub(super) topics: Topics,
    /// The parts of it that look like parameter values.
    pub(super) values: Values,
    /// Its vector.
    pub(super) vector: Vec<f32>,
    /// Its languages.
    languages: LanguageGroup,
}

impl PreparedQuery {
    /// Preprocesses the user messages of a conversation; the last one is the question.
    pub fn new(queries: &[&str]) -> Self {
        let text = queries[queries.len().saturating_sub(MAX_MESSAGES)..].join("\n");
        Self {
            last: queries.last().copied().unwrap_or_default().to_owned(),
            is_alone: queries.len() <= 1,
            has_context: false,
            normal: normalise(&text),
            plain_words: plain_words(&text),
            words: content_set(&text),
            topics: Topics::of(&text),
            values: Values::of(&text),
            vector: SPACE.vectors(&[&text]).get(0).to_vec(),
            languages: LanguageGroup::of(&text),
            text,
        }
    }

    /// Returns its group of languages.
    pub fn languages(&self) -> LanguageGroup {
        self.languages
    }

    /// Sets whether there are messages of others before the question.
    #[must_use]
    pub fn with_context(self, has_context: bool) -> Self {
        Self { has_context, ..self }
    }
}
