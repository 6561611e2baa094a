//! Content words of queries and docs, in a form in which the two can be compared.
//!
//! Names are split into words (`getUserName`, `get_user_name`), grammatical endings are removed,
//! and stop words are excluded. The stop words are English; other languages keep all words. In
//! scripts without spaces between words, each pair of adjacent characters is a word: single
//! characters are shared by texts about anything.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use callsieve_text::words::{for_each_word, is_unspaced};

/// English stop words; sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "d", "did", "do", "does", "for", "from", "give", "given", "had", "has", "have", "hello",
    "help", "her", "hi", "him", "how", "i", "if", "in", "into", "is", "it", "its", "just", "know", "let",
    "like", "ll", "m", "may", "me", "my", "need", "no", "not", "of", "ok", "on", "one", "or", "our", "out",
    "please", "re", "s", "shall", "should", "so", "some", "t", "tell", "than", "thank", "thanks", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "up", "us", "use", "ve",
    "via", "want", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with",
    "would", "you", "your",
];

/// Minimum length of a stem.
const MIN_STEM: usize = 3;

/// Returns the content words of a text, in order, with repetitions.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    // A character that waits for the next one, and whether it is in the pair before.
    let mut waiting: Option<(String, bool)> = None;
    for_each_word(&cut_names(text), |token| {
        let before = waiting.take();
        if token.starts_with(is_unspaced) {
            if let Some((first, _)) = &before {
                words.push(format!("{first}{token}"));
            }
            waiting = Some((token.to_owned(), before.is_some()));
            return;
        }
        words.extend(lone(before));
        let parts = token.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        words.extend(parts.filter(|part| !is_stop_word(part)).map(stem));
    });
    words.extend(lone(waiting));
    words
}

/// Returns a character without neighbours, which is a word of its own.
fn lone(waiting: Option<(String, bool)>) -> Option<String> {
    waiting.filter(|(_, is_in_a_pair)| !is_in_a_pair).map(|(character, _)| character)
}

/// Returns the content words of a text with each character of scripts without spaces, sorted: a value may be a single one.
pub(super) fn value_words(text: &str) -> Vec<String> {
    let mut words = content_words(text);
    for_each_word(text, |token| {
        if token.starts_with(is_unspaced) {
            words.push(token.to_owned());
        }
    });
    distinct(words)
}

fn is_stop_word(word: &str) -> bool {
    static SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| STOP_WORDS.iter().copied().collect());
    SET.contains(word)
}

/// Returns the distinct content words of a text, sorted.
pub(super) fn content_set(text: &str) -> Vec<String> {
    distinct(content_words(text))
}

/// Sorts words and removes duplicates.
pub(super) fn distinct(mut words: Vec<String>) -> Vec<String> {
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns all words of a text in lower case, with their endings.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |token| words.push(token.to_owned()));
    words
}

/// Returns whether a sorted set contains a word.
pub(super) fn holds(set: &[String], word: &str) -> bool {
    set.binary_search_by(|held| held.as_str().cmp(word)).is_ok()
}

/// Returns how many of some words a sorted set contains.
pub(super) fn count_held(words: &[String], set: &[String]) -> usize {
    words.iter().filter(|word| holds(set, word)).count()
}

/// Returns the share of some words that a sorted set contains, from 0 to 1; 0 for no words.
pub(super) fn share_held(words: &[String], set: &[String]) -> f64 {
    ratio(count_held(words, set), words.len())
}

/// Returns `part / whole`; 0 if `whole` is 0.
#[allow(clippy::cast_precision_loss)] // Counts of words.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns `ln(1 + count)`, so that the step from 0 to 1 is larger than that from 10 to 11.
#[allow(clippy::cast_precision_loss)] // Counts of words.
pub(super) fn log_count(count: usize) -> f64 {
    (count as f64).ln_1p()
}

/// Replaces underscores by blanks, and inserts a blank between a lower-case and an upper-case letter.
pub(super) fn cut_names(text: &str) -> String {
    let mut cut = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            cut.push(' ');
        }
        cut.push(if c == '_' { ' ' } else { c });
        before = c;
    }
    cut
}

/// Removes the endings of plural, `-ing` and `-ed`: coarse, but the same for queries and docs.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() <= MIN_STEM {
        return word.to_owned();
    }
    for (ending, instead) in [("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")] {
        match word.strip_suffix(ending) {
            Some(rest) if rest.len() >= MIN_STEM && !(ending == "s" && rest.ends_with('s')) => {
                return format!("{rest}{instead}").trim_end_matches('e').to_owned();
            }
            _ => {}
        }
    }
    word.trim_end_matches('e').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_and_a_name_have_the_same_stems() {
        assert_eq!(content_words("Please list all my hosted files"), ["list", "host", "fil"]);
        assert_eq!(content_words("listHostedFile"), ["list", "host", "fil"]);
        assert_eq!(content_set("queries, query and cities/city"), ["city", "query"]);
        assert_eq!(content_words("weather.get_forecast"), ["weather", "get", "forecast"]);
    }

    #[test]
    fn other_scripts_keep_all_words() {
        assert_eq!(content_words("天気は"), ["天気", "気は"]);
        assert_eq!(content_words("ABC 京 tide 潮汐"), ["abc", "京", "tid", "潮汐"]);
        assert_eq!(value_words("潮汐 tide"), ["tid", "汐", "潮", "潮汐"]);
        assert_eq!(content_words("Wetter in Köln"), ["wetter", "köln"]);
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn the_share_of_no_words_is_zero() {
        assert!(share_held(&[], &["a".to_owned()]).abs() < f64::EPSILON);
    }
}
