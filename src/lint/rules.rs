//! The table of what can be found in the questions and answers of a dataset.
//!
//! Rules for functions stand in `docs::check::rules`; both are one list to a reader.
//! Codes of answers are those of `answers::carry` where the fault is the same.

use crate::docs::check::rules::By::{Data, Evaluator};
use crate::docs::check::rules::Level::{Error, Note};
use crate::docs::check::rules::{self, Rule};

/// The rule of that code, for functions or for datasets.
pub fn of(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code == code)
}

/// Every rule: those for datasets, then those for functions.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(&rules::RULES)
}

/// Every rule for questions and answers.
pub static RULES: [Rule; 25] = [
    Rule::new("dataset/keys", Error, &[Data, Evaluator], "A line has other keys than it should."),
    Rule::new(
        "dataset/key-order",
        Note,
        &[Data],
        "The keys of a line stand in another order than the official ones.",
    ),
    Rule::new(
        "dataset/id-form",
        Error,
        &[Evaluator],
        "An id has not the form that the official package reads.",
    ),
    Rule::new("dataset/id-order", Error, &[Evaluator], "An id's number does not grow from line to line."),
    Rule::new("dataset/id-gap", Note, &[Data], "Numbers of ids are left out."),
    Rule::new(
        "dataset/list-number",
        Note,
        &[Data],
        "The part of an id that counts doc lists, or the entries of one, does not go on from the line before.",
    ),
    Rule::new("dataset/duplicate-id", Error, &[Evaluator], "Two entries have one id."),
    Rule::new(
        "dataset/unreadable-question",
        Error,
        &[Evaluator],
        "A question holds no messages, or a line no functions.",
    ),
    Rule::new(
        "dataset/question-form",
        Error,
        &[Evaluator],
        "A question is written as in another version of the leaderboard.",
    ),
    Rule::new("dataset/several-turns", Error, &[Evaluator], "An entry of a live category has not one turn."),
    Rule::new("dataset/last-not-user", Note, &[Data], "The last message is not the user's."),
    Rule::new(
        "dataset/function-count",
        Note,
        &[Data],
        "An entry offers another number of functions than its category says.",
    ),
    Rule::new("answer/no-file", Error, &[Evaluator], "A category with answers has no answer file."),
    Rule::new(
        "answer/not-aligned",
        Error,
        &[Evaluator],
        "Questions and answers do not stand line by line beside one another.",
    ),
    Rule::new(
        "answer/unreadable",
        Error,
        &[Evaluator],
        "A ground truth is no list of calls, each of one function with its parameters.",
    ),
    Rule::new(
        "answer/call-count",
        Error,
        &[Evaluator],
        "A ground truth has another number of calls than its category allows.",
    ),
    Rule::new(
        "answer/unknown-function",
        Error,
        &[Evaluator],
        "The answer calls a function that is not among the docs.",
    ),
    Rule::new(
        "answer/unknown-parameter",
        Error,
        &[Evaluator],
        "The answer uses a parameter that the doc does not have.",
    ),
    Rule::new("answer/missing-required", Error, &[Evaluator], "The answer leaves out a required parameter."),
    Rule::new(
        "answer/no-alternatives",
        Error,
        &[Evaluator],
        "A parameter's alternatives are no list, or an empty one.",
    ),
    Rule::new(
        "answer/alternative-form",
        Error,
        &[Evaluator],
        "An alternative is not in the form that the evaluator compares with.",
    ),
    Rule::new(
        "answer/null-in-container",
        Error,
        &[Evaluator],
        "An array, a tuple or a dict has null among its alternatives.",
    ),
    Rule::new(
        "answer/mixed-null",
        Note,
        &[Evaluator, Data],
        "Null stands among other alternatives, of which one cannot be given then.",
    ),
    Rule::new(
        "answer/omittable-required",
        Note,
        &[Evaluator],
        "A required parameter may be left out, by its alternatives; the evaluator refuses that.",
    ),
    Rule::new("answer/wrong-type", Note, &[Data], "A value is not of the type the doc declares."),
];
