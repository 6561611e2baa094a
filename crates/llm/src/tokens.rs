//! Counts the tokens of requests before they are sent, or estimates them from their bytes.
//!
//! OpenAI's vocabularies are built in. For other models the newest of them gives an estimate; what a request cost is always
//! taken from the reply.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use tiktoken_rs::{CoreBPE, bpe_for_model, o200k_base_singleton};

use callsieve_text::content_hash::content_hash;

/// Tokens that a chat adds to each message, and once to the reply.
const PER_MESSAGE: u64 = 4;

/// Bytes of a request for each token, by which servers estimate before they count.
const BYTES_PER_TOKEN: u64 = 4;

/// The same for limits on costs, which a low estimate would pass.
const FEWEST_BYTES_PER_TOKEN: u64 = 3;

/// Bytes of a text that are tokenised at once: the time for a word without spaces grows faster than its length.
const PIECE: usize = 4096;

/// Estimates the tokens of a request of so many bytes, as servers do before they count.
pub(super) fn estimated(n_bytes: usize) -> u64 {
    n_bytes as u64 / BYTES_PER_TOKEN
}

/// Estimates the tokens of a request of so many bytes from above, for limits on costs.
pub fn at_most(n_bytes: usize) -> u64 {
    n_bytes as u64 / FEWEST_BYTES_PER_TOKEN
}

/// Most texts whose tokens are remembered.
const MOST_KNOWN: usize = 1 << 16;

/// Shortest text whose tokens are remembered, in bytes.
const MIN_KNOWN: usize = 256;

/// Counts tokens, those of a text that many requests share only once: prompts, docs of functions, forms of answers.
#[derive(Debug, Default)]
pub(super) struct TokenCounter {
    /// By vocabulary and hash of the text.
    known: Mutex<FxHashMap<(usize, u128), u64>>,
}

impl TokenCounter {
    /// Returns the tokens of the texts of a chat request: messages, tools and the form of the answer.
    pub(super) fn of_request(&self, model: &str, body: &Map<String, Value>) -> u64 {
        let vocabulary = vocabulary(model);
        let count = |text: &str| self.n_tokens(vocabulary, text);
        let mut n = 0;
        for (key, value) in body {
            match (key.as_str(), value) {
                ("messages", Value::Array(messages)) => {
                    for message in messages {
                        n += PER_MESSAGE;
                        n += match &message["content"] {
                            Value::String(text) => count(text),
                            Value::Null => 0,
                            parts => count(&parts.to_string()),
                        };
                    }
                }
                ("tools" | "response_format", value) => n += count(&value.to_string()),
                _ => {}
            }
        }
        n
    }

    fn n_tokens(&self, vocabulary: &'static CoreBPE, text: &str) -> u64 {
        let (mut n, mut rest) = (0, text);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(end_of_piece(rest));
            n += self.of_piece(vocabulary, piece);
            rest = after;
        }
        n
    }

    fn of_piece(&self, vocabulary: &'static CoreBPE, piece: &str) -> u64 {
        let counted = || vocabulary.encode_ordinary(piece).len() as u64;
        if piece.len() < MIN_KNOWN {
            return counted();
        }
        let key = (std::ptr::from_ref(vocabulary).addr(), content_hash(piece));
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&n) = known().get(&key) {
            return n;
        }
        let n = counted();
        let mut known = known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, n);
        n
    }
}

/// Returns where a piece of a text ends: after a line, so that requests that differ in their last lines share the pieces before. No token
/// goes on after a line end, unless white space or a slash follows.
fn end_of_piece(text: &str) -> usize {
    let most = text.floor_char_boundary(PIECE.min(text.len()));
    let bytes = &text.as_bytes()[..most];
    let is_end = |&at: &usize| {
        bytes[at - 1] == b'\n'
            && bytes[at].is_ascii()
            && !bytes[at].is_ascii_whitespace()
            && bytes[at] != b'/'
    };
    (MIN_KNOWN..most).find(is_end).unwrap_or(most)
}

/// Returns whether the vocabulary of a model is built in, so that its tokens are counted and not estimated.
pub(super) fn is_counted(model: &str) -> bool {
    bpe_for_model(without_provider(model)).is_ok()
}

fn vocabulary(model: &str) -> &'static CoreBPE {
    bpe_for_model(without_provider(model)).unwrap_or_else(|_| o200k_base_singleton())
}

fn without_provider(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_a_request_are_counted_and_settings_are_not() {
        let counter = TokenCounter::default();
        let of = |model: &str, body: Value| counter.of_request(model, body.as_object().unwrap());
        let messages = json!([{"role": "user", "content": "The quick brown fox"}]);
        assert_eq!(of("gpt-4o", json!({"messages": messages, "temperature": 0.001})), 4 + PER_MESSAGE);
        // As an unknown model, and behind the name of a provider.
        assert_eq!(of("some-model", json!({"messages": messages})), 4 + PER_MESSAGE);
        assert_eq!(of("openai/gpt-4o", json!({"messages": messages})), 4 + PER_MESSAGE);
        assert!(of("gpt-4o", json!({"messages": [], "tools": [{"name": "f"}]})) > 3);
        assert_eq!(of("gpt-4o", json!({"messages": [{"content": null}]})), PER_MESSAGE);
        assert!(is_counted("openai/gpt-4o") && !is_counted("some-model"));
    }

    #[test]
    fn long_texts_are_counted_in_pieces_of_whole_characters() {
        let long = "日本語".repeat(20_000);
        let (counter, vocabulary) = (TokenCounter::default(), vocabulary("gpt-4o"));
        let n = counter.n_tokens(vocabulary, &long);
        assert!((20_000..200_000).contains(&n), "{n}");
        assert_eq!(counter.n_tokens(vocabulary, &long), n);
        assert_eq!(counter.known.lock().unwrap().len(), 2);
    }

    #[test]
    fn pieces_that_end_with_a_line_have_the_tokens_of_the_whole() {
        let (counter, vocabulary) = (TokenCounter::default(), vocabulary("gpt-4o"));
        let lines =
            "Ring the bell, please.\n\n- twice:\n/ and \\ then\n  so\n{\"a\": [1]}\r\nEnd\n[user] Ring it.\n";
        let text = lines.repeat(30);
        assert!(end_of_piece(&text) < text.len());
        let whole = vocabulary.encode_ordinary(&text).len() as u64;
        assert_eq!(counter.n_tokens(vocabulary, &text), whole);
        // What follows does not change the pieces before.
        let known = || counter.known.lock().unwrap().len();
        let before = known();
        counter.n_tokens(vocabulary, &(text + "More."));
        assert!(known() <= before + 1);
    }
}
