//! Whether the query holds values for the parameters of the function it fits best.

use super::asked::Asked;
use super::closeness::{cosine, mean};
use super::offer::{Offer, Offered};
use super::words::{count_held, log_count, ratio, share_held};
use crate::docs::signature::{Parameter, ValueKind};

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

/// Parts of the name of a parameter that is about time.
const ABOUT_TIME: &[&str] = &["date", "time", "day", "year", "month"];

/// Missing values are counted up to this: more of them say no more.
const MOST_MISSING: f64 = 3.0;

/// How sure it is that a parameter has its value in the query, where nothing can be looked for.
mod guess {
    /// A flag: often said without a word of its own.
    pub(super) const FLAG: f64 = 0.7;
    /// Text, and the query has more words than the function's name.
    pub(super) const TEXT: f64 = 0.6;
    /// One of some listed values, and the query shares a word with one.
    pub(super) const CHOICE: f64 = 0.5;
}

/// Required parameters, the share of them that the query could fill, the same for all parameters, the share of
/// required ones it names, how many listed values it names, and how many numbers and texts are missing.
pub(super) fn features(asked: &Asked, offer: &Offer) -> Vec<f64> {
    let Some(function) = best_function(asked, offer) else { return vec![0.0; NAMES.len()] };
    let parameters = &function.signature.parameters;
    let filled: Vec<f64> = (0..parameters.len()).map(|at| filled(asked, function, at)).collect();
    let required: Vec<usize> = (0..parameters.len()).filter(|&at| parameters[at].is_required).collect();
    let required_filled: Vec<f64> = required.iter().map(|&at| filled[at]).collect();
    let n_named =
        required.iter().filter(|&&at| count_held(&function.name_words_of[at], &asked.words) > 0).count();
    let n_choices = (0..parameters.len()).filter(|&at| names_a_choice(asked, function, at)).count();
    let n_wanted =
        |wanted: &dyn Fn(&Parameter) -> bool| required.iter().filter(|&&at| wanted(&parameters[at])).count();
    let n_numbers = n_wanted(&|parameter| parameter.kind == ValueKind::Number);
    let n_texts = n_wanted(&|parameter| parameter.kind == ValueKind::Text && parameter.choices.is_empty());
    let n_found = asked.values.capitals + asked.values.quoted + asked.values.codes;
    vec![
        log_count(required.len()),
        if required.is_empty() { 1.0 } else { mean(&required_filled) },
        mean(&filled),
        ratio(n_named, required.len()),
        ratio(n_choices.min(2), 1),
        ratio(n_numbers.saturating_sub(asked.values.numbers), 1).min(MOST_MISSING),
        ratio(n_texts.saturating_sub(n_found), 1).min(MOST_MISSING),
    ]
}

/// The function nearest to the query by vectors and by its name; the first at a tie.
fn best_function<'o>(asked: &Asked, offer: &'o Offer) -> Option<&'o Offered> {
    let score = |function: &Offered| {
        cosine(&asked.vector, &function.text_vector)
            + cosine(&asked.vector, &function.name_vector)
            + share_held(&function.name_words, &asked.words)
    };
    let mut best: Option<(f64, &Offered)> = None;
    for function in &offer.functions {
        let score = score(function);
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, function));
        }
    }
    best.map(|(_, function)| function)
}

/// The share of a function's required parameters that the query could fill, from 0 to 1; 1 where there are none.
pub(super) fn required_filled(asked: &Asked, function: &Offered) -> f64 {
    let parameters = &function.signature.parameters;
    let required = (0..parameters.len()).filter(|&at| parameters[at].is_required);
    let filled: Vec<f64> = required.map(|at| filled(asked, function, at)).collect();
    if filled.is_empty() { 1.0 } else { mean(&filled) }
}

/// How sure it is that the query holds a value for a parameter, from 0 to 1.
fn filled(asked: &Asked, function: &Offered, at: usize) -> f64 {
    let parameter = &function.signature.parameters[at];
    let values = &asked.values;
    let sure = |is_there: bool| f64::from(u8::from(is_there));
    if names_a_choice(asked, function, at) {
        return 1.0;
    }
    let name = parameter.name.to_lowercase();
    match parameter.kind {
        ValueKind::Flag => guess::FLAG,
        ValueKind::Number => sure(values.numbers > 0),
        _ if ABOUT_TIME.iter().any(|part| name.contains(part)) => sure(values.dates + values.numbers > 0),
        _ if !parameter.choices.is_empty() => {
            guess::CHOICE * sure(count_held(&asked.words, &function.choice_words) > 0)
        }
        _ if values.has_text() => 1.0,
        _ => guess::TEXT * sure(count_held(&asked.words, &function.name_words) < asked.words.len()),
    }
}

/// Whether a value that the parameter may have stands in the query, word for word.
fn names_a_choice(asked: &Asked, function: &Offered, at: usize) -> bool {
    function.choices_of[at].iter().any(|choice| has_phrase(&asked.normal, choice))
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, found)| {
        let is_inside_a_word = |beside: Option<char>| beside.is_some_and(char::is_alphanumeric);
        !is_inside_a_word(text[..at].chars().next_back())
            && !is_inside_a_word(text[at + found.len()..].chars().next())
    })
}
