//! The script of the query, compared with the docs, and its share of English words.

use super::docs::PreparedDocs;
use super::query::PreparedQuery;
use super::words::ratio;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &["other_script", "english"];

/// The most common English words.
const ENGLISH: &[&str] = &[
    "a", "and", "at", "can", "for", "i", "in", "is", "me", "my", "of", "on", "please", "the", "to", "with",
    "you",
];

/// Returns the share of non-ASCII letters in the query, minus that in the docs, and the share of its words that are
/// common English words.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs) -> Vec<f64> {
    let (other, all) = letters(&query.text);
    let docs: Vec<(usize, usize)> =
        docs.functions.iter().map(|function| letters(&function.signature.description)).collect();
    let docs_share = ratio(docs.iter().map(|(other, _)| other).sum(), docs.iter().map(|(_, all)| all).sum());
    let n_english = query.plain_words.iter().filter(|word| ENGLISH.contains(&word.as_str())).count();
    vec![(ratio(other, all) - docs_share).max(0.0), ratio(n_english, query.plain_words.len())]
}

/// Returns whether most letters of the query are in a script that the model was not fitted on, so that its features are
/// nearly empty.
pub fn is_unread(query: &PreparedQuery) -> bool {
    let (other, all) = letters(&query.text);
    2 * other > all
}

/// Returns the number of non-ASCII letters and of all letters.
fn letters(text: &str) -> (usize, usize) {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    letters.fold((0, 0), |(other, all), c| (other + usize::from(!c.is_ascii()), all + 1))
}
