//! How the query is put: its length, whether it asks, orders, greets or chats.
//!
//! How many turns came before is no feature: the few labelled conversations say nothing
//! about those of a log.

use super::asked::Asked;
use super::words::log_count;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &[
    "length",
    "too_short",
    "too_long",
    "asks_what",
    "orders",
    "greets",
    "says_i",
    "says_you",
    "question_mark",
    "full_stop",
    "small_start",
    "markup",
];

/// Words that begin a question.
const QUESTIONS: &[&str] =
    &["how", "what", "what's", "whats", "when", "where", "which", "who", "who's", "why"];
/// Words that begin an order; sorted.
const ORDERS: &[&str] = &[
    "add",
    "analyze",
    "book",
    "buy",
    "calculate",
    "change",
    "check",
    "classify",
    "compute",
    "convert",
    "create",
    "delete",
    "fetch",
    "find",
    "generate",
    "get",
    "give",
    "list",
    "make",
    "open",
    "order",
    "play",
    "read",
    "reserve",
    "retrieve",
    "run",
    "schedule",
    "search",
    "send",
    "set",
    "show",
    "start",
    "summarize",
    "translate",
    "turn",
    "update",
    "write",
];
/// Words that begin small talk.
const GREETINGS: &[&str] = &["bye", "good", "hello", "hey", "hi", "no", "ok", "thank", "thanks", "yes"];
/// Words by which the asker speaks of itself.
const SELF: &[&str] = &["i", "i'm", "im", "my", "we"];
/// Signs of pasted code, prompts and docs.
const MARKUP: &[&str] = &["<<", "[{", "{\"", "](", "```"];

/// From so many words on, as a logarithm, more of them change nothing.
const LONG: f64 = 3.0;
/// The logarithm of the length around which most requests to functions lie.
const USUAL: f64 = 2.8;
/// The logarithm from which on a query is unusually long.
const TOO_LONG: f64 = 3.6;

/// See the names; lengths are logarithms of words.
pub(super) fn features(asked: &Asked) -> Vec<f64> {
    let length = log_count(asked.plain_words.len());
    let first = asked.plain_words.first().map_or("", String::as_str);
    let second = asked.plain_words.get(1).map_or("", String::as_str);
    let says_you = asked.plain_words.iter().any(|word| ["you", "your", "yourself"].contains(&word.as_str()));
    let asks_politely = ["can", "could", "would", "will"].contains(&first) && second == "you";
    let yes = |is_so: bool| f64::from(u8::from(is_so));
    vec![
        length.min(LONG),
        (USUAL - length).max(0.0).powi(2),
        (length - TOO_LONG).max(0.0),
        yes(QUESTIONS.contains(&first)),
        yes(ORDERS.binary_search(&first).is_ok()),
        yes(GREETINGS.contains(&first)),
        yes(SELF.contains(&first)),
        yes(says_you && !asks_politely),
        yes(asked.text.contains(['?', '？'])),
        yes(asked.text.trim_end().ends_with('.')),
        yes(asked.text.trim_start().starts_with(char::is_lowercase)),
        yes(MARKUP.iter().any(|sign| asked.text.contains(sign))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_can_be_searched() {
        assert!(ORDERS.is_sorted());
    }
}
