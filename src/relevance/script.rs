//! In what script and how English the query is, beside the docs.

use super::asked::Asked;
use super::offer::Offer;
use super::words::ratio;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &["other_script", "english"];

/// Words that stand in most English sentences.
const ENGLISH: &[&str] = &[
    "a", "and", "at", "can", "for", "i", "in", "is", "me", "my", "of", "on", "please", "the", "to", "with",
    "you",
];

/// The share of letters in the query that are not ASCII, where the docs have none; the share of its words that
/// are the commonest of English.
pub(super) fn features(asked: &Asked, offer: &Offer) -> Vec<f64> {
    let (other, all) = letters(&asked.text);
    let docs: Vec<(usize, usize)> =
        offer.functions.iter().map(|function| letters(&function.signature.description)).collect();
    let docs_share = ratio(docs.iter().map(|(other, _)| other).sum(), docs.iter().map(|(_, all)| all).sum());
    let n_english = asked.plain_words.iter().filter(|word| ENGLISH.contains(&word.as_str())).count();
    vec![(ratio(other, all) - docs_share).max(0.0), ratio(n_english, asked.plain_words.len())]
}

/// Most letters of the query are of another script than the words the model was fitted on, so it read next to nothing.
pub fn is_unread(asked: &Asked) -> bool {
    let (other, all) = letters(&asked.text);
    2 * other > all
}

/// Letters that are not ASCII, and all.
fn letters(text: &str) -> (usize, usize) {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    letters.fold((0, 0), |(other, all), c| (other + usize::from(!c.is_ascii()), all + 1))
}
