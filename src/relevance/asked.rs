//! What a request asks, prepared once: the last user message as words, values and a vector.
//!
//! In a conversation the messages before it count too ("and tomorrow?"), the nearest few.

use super::SPACE;
use super::topics::Topics;
use super::values::Values;
use super::words::{content_set, plain_words};
use crate::text::normal::normalise;

/// So many user messages are read as one query.
const MAX_MESSAGES: usize = 3;

/// A query, ready to be held against docs.
pub struct Asked {
    /// The last user message as sent; empty where there is none.
    pub(super) last: String,
    /// It is the only one.
    pub(super) is_alone: bool,
    /// The last user messages as one text.
    pub(super) text: String,
    /// Its normal form.
    pub(super) normal: String,
    /// Its words in lower case, in order.
    pub(super) plain_words: Vec<String>,
    /// Its content words, sorted.
    pub(super) words: Vec<String>,
    /// What it is about.
    pub(super) topics: Topics,
    /// What in it looks like a value for a parameter.
    pub(super) values: Values,
    /// Its vector.
    pub(super) vector: Vec<f32>,
}

impl Asked {
    /// Reads the user messages of a conversation, the last of which asks.
    pub fn new(queries: &[&str]) -> Self {
        let text = queries[queries.len().saturating_sub(MAX_MESSAGES)..].join("\n");
        Self {
            last: queries.last().copied().unwrap_or_default().to_owned(),
            is_alone: queries.len() <= 1,
            normal: normalise(&text),
            plain_words: plain_words(&text),
            words: content_set(&text),
            topics: Topics::of(&text),
            values: Values::of(&text),
            vector: SPACE.vectors(&[&text]).get(0).to_vec(),
            text,
        }
    }
}
