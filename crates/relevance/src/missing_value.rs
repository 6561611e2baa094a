//! Whether a request names only what it wants, and no value that a fitting function requires: “book a ferry”.
//!
//! Without the value no call is right, so BFCL counts such a prompt as irrelevance. The rule is certain only about short
//! English questions, all of whose words are those of the function itself: any other word may be the value.

use super::docs::{PreparedDocs, PreparedFunction};
use super::query::PreparedQuery;
use super::words::{content_set, count_held, distinct, holds};
use callsieve_docs::signature::{Parameter, ValueKind};

/// Most content words of a query; in more of them, one may be a value that the docs mention, too.
const MAX_WORDS: usize = 3;
/// The last character of the Latin scripts.
const LAST_LATIN: char = '\u{24f}';

/// Returns whether a query lacks the values of each function that it may be about. Queries in a conversation, or with
/// anything that looks like a value, lack none.
pub(super) fn is_missing_value(query: &PreparedQuery, docs: &PreparedDocs) -> bool {
    let values = &query.values;
    let n_values = values.numbers + values.dates + values.quoted + values.capitals + values.codes;
    if !query.is_alone || query.has_context || n_values > 0 {
        return false;
    }
    let words = &query.words;
    if words.is_empty() || words.len() > MAX_WORDS || query.last.chars().any(|c| c > LAST_LATIN) {
        return false;
    }
    let lacking = |function: &&PreparedFunction| is_lacking(words, function);
    let is_about_other = |function: &PreparedFunction| {
        count_held(words, &function.name_words) > 0 && !is_lacking(words, function)
    };
    docs.functions.iter().any(|function| lacking(&function)) && !docs.functions.iter().any(is_about_other)
}

/// Whether a function requires a text or a number, and the words are only those of the function and its parameters' names.
fn is_lacking(words: &[String], function: &PreparedFunction) -> bool {
    let required = |parameter: &&Parameter| {
        parameter.is_required
            && parameter.choices.is_empty()
            && matches!(parameter.kind, ValueKind::Text | ValueKind::Number)
    };
    let needed: Vec<&Parameter> = function.signature.parameters.iter().filter(required).collect();
    if needed.is_empty() {
        return false;
    }
    let mut known = [function.name_words.clone(), function.description_words.clone()].concat();
    known.extend(function.name_words_of.iter().flatten().cloned());
    let known = distinct(known);
    // A word in the description of a value may be one of its values.
    let about = distinct(needed.iter().flat_map(|parameter| content_set(&parameter.description)).collect());
    words.iter().all(|word| holds(&known, word))
        && !words.iter().any(|word| holds(&about, word) && !holds(&function.name_words, word))
}
