//! Whether the query contains values for the parameters of the most similar function.

use super::closeness::{cosine, mean};
use super::docs::{PreparedDocs, PreparedFunction};
use super::query::PreparedQuery;
use super::words::{count_held, log_count, ratio, share_held};
use callsieve_docs::signature::{Parameter, ValueKind};

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &[
    "required",
    "required_filled",
    "parameters_filled",
    "required_named",
    "choices_named",
    "numbers_missing",
    "texts_missing",
];

/// Substrings in the names of parameters for a time.
const ABOUT_TIME: &[&str] = &["date", "time", "day", "year", "month"];

/// Upper limit of the count of missing values.
const MAX_MISSING: f64 = 3.0;

/// Estimated probabilities that the query contains the value of a parameter that cannot be searched for.
mod guess {
    /// For a flag, which often has no word of its own.
    pub(super) const FLAG: f64 = 0.7;
    /// For text, if the query has more words than the name of the function.
    pub(super) const TEXT: f64 = 0.6;
    /// For an enum, if the query shares a word with one of the values.
    pub(super) const CHOICE: f64 = 0.5;
}

/// Returns the number of required parameters, the share of them that the query could fill, the same share for all
/// parameters, the share of required ones that it names, how many enum values it names, and how many numbers and texts
/// are missing.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs) -> Vec<f64> {
    let Some(function) = best_function(query, docs) else { return vec![0.0; NAMES.len()] };
    let parameters = &function.signature.parameters;
    let filled: Vec<f64> = (0..parameters.len()).map(|at| filled(query, function, at)).collect();
    let required: Vec<usize> = (0..parameters.len()).filter(|&at| parameters[at].is_required).collect();
    let required_filled: Vec<f64> = required.iter().map(|&at| filled[at]).collect();
    let n_named =
        required.iter().filter(|&&at| count_held(&function.name_words_of[at], &query.words) > 0).count();
    let n_choices = (0..parameters.len()).filter(|&at| names_a_choice(query, function, at)).count();
    let n_wanted =
        |wanted: &dyn Fn(&Parameter) -> bool| required.iter().filter(|&&at| wanted(&parameters[at])).count();
    let n_numbers = n_wanted(&|parameter| parameter.kind == ValueKind::Number);
    let n_texts = n_wanted(&|parameter| parameter.kind == ValueKind::Text && parameter.choices.is_empty());
    let n_found = query.values.capitals + query.values.quoted + query.values.codes;
    vec![
        log_count(required.len()),
        if required.is_empty() { 1.0 } else { mean(&required_filled) },
        mean(&filled),
        ratio(n_named, required.len()),
        ratio(n_choices.min(2), 1),
        ratio(n_numbers.saturating_sub(query.values.numbers), 1).min(MAX_MISSING),
        ratio(n_texts.saturating_sub(n_found), 1).min(MAX_MISSING),
    ]
}

/// Returns the function most similar to the query by vectors and name; the first on a tie.
fn best_function<'o>(query: &PreparedQuery, docs: &'o PreparedDocs) -> Option<&'o PreparedFunction> {
    let score = |function: &PreparedFunction| {
        cosine(&query.vector, &function.text_vector)
            + cosine(&query.vector, &function.name_vector)
            + share_held(&function.name_words, &query.words)
    };
    let mut best: Option<(f64, &PreparedFunction)> = None;
    for function in &docs.functions {
        let score = score(function);
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, function));
        }
    }
    best.map(|(_, function)| function)
}

/// Returns the share of a function's required parameters that the query could fill, from 0 to 1; 1 if there are none.
pub(super) fn required_filled(query: &PreparedQuery, function: &PreparedFunction) -> f64 {
    let parameters = &function.signature.parameters;
    let required = (0..parameters.len()).filter(|&at| parameters[at].is_required);
    let filled: Vec<f64> = required.map(|at| filled(query, function, at)).collect();
    if filled.is_empty() { 1.0 } else { mean(&filled) }
}

/// Estimates the probability that the query contains a value for a parameter, from 0 to 1.
fn filled(query: &PreparedQuery, function: &PreparedFunction, at: usize) -> f64 {
    let parameter = &function.signature.parameters[at];
    let values = &query.values;
    let sure = |is_there: bool| f64::from(u8::from(is_there));
    if names_a_choice(query, function, at) {
        return 1.0;
    }
    let name = parameter.name.to_lowercase();
    match parameter.kind {
        ValueKind::Flag => guess::FLAG,
        ValueKind::Number => sure(values.numbers > 0),
        _ if ABOUT_TIME.iter().any(|part| name.contains(part)) => sure(values.dates + values.numbers > 0),
        _ if !parameter.choices.is_empty() => {
            guess::CHOICE * sure(count_held(&query.words, &function.choice_words) > 0)
        }
        _ if values.has_text() => 1.0,
        _ => guess::TEXT * sure(count_held(&query.words, &function.name_words) < query.words.len()),
    }
}

/// Returns whether the query contains an allowed value of the parameter, word for word.
fn names_a_choice(query: &PreparedQuery, function: &PreparedFunction, at: usize) -> bool {
    function.choices_of[at].iter().any(|choice| has_phrase(&query.normal, choice))
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, found)| {
        let is_inside_a_word = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
        !is_inside_a_word(text[..at].chars().next_back())
            && !is_inside_a_word(text[at + found.len()..].chars().next())
    })
}
