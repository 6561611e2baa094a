//! The form of the query: its length, and whether it is a question, an order, a greeting or chat.
//!
//! The number of previous turns is not a feature, because the labelled data has too few
//! conversations to learn from.

use super::query::PreparedQuery;
use super::words::log_count;
use callsieve_text::words::is_unspaced;

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
/// Words that begin a sentence about the user.
const SELF: &[&str] = &["i", "i'm", "im", "my", "we"];
/// Signs of pasted code, prompts and docs.
const MARKUP: &[&str] = &["<<", "[{", "{\"", "](", "```"];

/// Upper limit of the length feature, as the logarithm of a number of words.
const LONG: f64 = 3.0;
/// The usual length of a query, as the logarithm of a number of words.
const USUAL: f64 = 2.8;
/// The length from which a query is unusually long, as the logarithm of a number of words.
const TOO_LONG: f64 = 3.6;

/// Returns the features in the order of [`NAMES`]; lengths are logarithms of numbers of words.
pub(super) fn features(query: &PreparedQuery) -> Vec<f64> {
    let length = log_count(n_words(query));
    let first = query.plain_words.first().map_or("", String::as_str);
    let second = query.plain_words.get(1).map_or("", String::as_str);
    let says_you = query.plain_words.iter().any(|word| ["you", "your", "yourself"].contains(&word.as_str()));
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
        yes(query.text.contains(['?', '？'])),
        yes(query.text.trim_end().ends_with('.')),
        yes(query.text.trim_start().starts_with(char::is_lowercase)),
        yes(MARKUP.iter().any(|sign| query.text.contains(sign))),
    ]
}

/// Returns the number of words; in scripts without spaces between words, two characters are about one.
fn n_words(query: &PreparedQuery) -> usize {
    let n_unspaced = query.plain_words.iter().filter(|word| word.starts_with(is_unspaced)).count();
    query.plain_words.len() - n_unspaced / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_sorted() {
        assert!(ORDERS.is_sorted());
    }
}
