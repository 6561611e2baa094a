//! The words that the query shares with the docs.

use super::docs::{PreparedDocs, PreparedFunction};
use super::query::PreparedQuery;
use super::words::{count_held, holds, log_count, ratio, share_held};

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &[
    "words_in_docs",
    "words_in_docs_share",
    "words_in_best",
    "words_in_description",
    "words_in_parameters",
    "words_in_choices",
    "name_in_query",
    "unexplained",
];

/// Returns how many of the query's content words occur in the docs, in all and in each part of a function; the share
/// of a function's name that occurs in the query; and how many words neither occur in the docs nor look like a value.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs) -> Vec<f64> {
    let words = &query.words;
    let best =
        |score: &dyn Fn(&PreparedFunction) -> f64| docs.functions.iter().map(score).fold(0.0, f64::max);
    let n_known = count_held(words, &docs.words);
    let is_unexplained = |word: &&String| !holds(&docs.words, word) && !holds(&query.values.words, word);
    vec![
        log_count(n_known),
        ratio(n_known, words.len()),
        best(&|function| log_count(count_held(words, &function.words))),
        best(&|function| share_held(words, &function.description_words)),
        best(&|function| share_held(words, &function.parameter_words)),
        best(&|function| f64::from(u8::from(count_held(words, &function.choice_words) > 0))),
        best(&|function| share_held(&function.name_words, words)),
        log_count(words.iter().filter(is_unexplained).count()),
    ]
}
