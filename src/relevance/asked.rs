//! What a request asks, prepared once: the last user message as words, values and a vector.

use super::values::Values;
use super::words::{content_set, plain_words};
use crate::similarity::embed::Embedder;
use crate::text::normal::normalise;

/// A query, ready to be held against docs.
pub struct Asked {
    /// The last user message as sent; empty where there is none.
    pub(super) text: String,
    /// Its normal form.
    pub(super) normal: String,
    /// Its words in lower case, in order.
    pub(super) plain_words: Vec<String>,
    /// Its content words, sorted.
    pub(super) words: Vec<String>,
    /// What in it looks like a value for a parameter.
    pub(super) values: Values,
    /// Its vector.
    pub(super) vector: Vec<f32>,
    /// User messages up to it.
    pub(super) n_turns: usize,
}

impl Asked {
    /// Reads the last user message of a conversation with so many of them.
    pub fn new(query: &str, n_turns: usize, embedder: &dyn Embedder) -> Self {
        Self {
            normal: normalise(query),
            plain_words: plain_words(query),
            words: content_set(query),
            values: Values::of(query),
            vector: embedder.embed(&[query]),
            n_turns,
            text: query.to_owned(),
        }
    }
}
