//! The table of rules for the questions and answers of a dataset.
//!
//! Rules for functions are in `docs::check::rules`; `all` joins the two tables. The codes for
//! answers are those of `answers::carry` where the fault is the same.

use crate::docs::check::rules::By::{Data, Evaluator};
use crate::docs::check::rules::Level::{Error, Note};
use crate::docs::check::rules::{self, Rule};

/// Returns the rule with this code, for functions or for datasets.
pub fn of(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code == code)
}

/// Returns all rules: those for datasets, then those for functions.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(&rules::RULES)
}

/// All rules for questions and answers.
pub static RULES: [Rule; 25] = [
    Rule::new("dataset/keys", Error, &[Data, Evaluator], "A line does not have the expected keys."),
    Rule::new("dataset/key-order", Note, &[Data], "The keys of a line are not in the official order."),
    Rule::new(
        "dataset/id-form",
        Error,
        &[Evaluator],
        "An id does not have the format that the official package reads.",
    ),
    Rule::new(
        "dataset/id-order",
        Error,
        &[Evaluator],
        "The number in an id does not increase from line to line.",
    ),
    Rule::new("dataset/id-gap", Note, &[Data], "The numbers of ids have a gap."),
    Rule::new(
        "dataset/list-number",
        Note,
        &[Data],
        "The part of an id that counts doc lists, or the entries of one, does not continue from the previous line.",
    ),
    Rule::new("dataset/duplicate-id", Error, &[Evaluator], "Two entries have the same id."),
    Rule::new(
        "dataset/unreadable-question",
        Error,
        &[Evaluator],
        "A question has no messages, or a line has no functions.",
    ),
    Rule::new(
        "dataset/question-form",
        Error,
        &[Evaluator],
        "A question has the format of another version of the leaderboard.",
    ),
    Rule::new(
        "dataset/several-turns",
        Error,
        &[Evaluator],
        "An entry of a live category does not have exactly one turn.",
    ),
    Rule::new("dataset/last-not-user", Note, &[Data], "The last message is not a user message."),
    Rule::new(
        "dataset/function-count",
        Note,
        &[Data],
        "An entry does not have the number of functions of its category.",
    ),
    Rule::new("answer/no-file", Error, &[Evaluator], "A category with answers has no answer file."),
    Rule::new("answer/not-aligned", Error, &[Evaluator], "Questions and answers do not match line by line."),
    Rule::new(
        "answer/unreadable",
        Error,
        &[Evaluator],
        "A ground truth is not a list of calls, each with one function and its parameters.",
    ),
    Rule::new(
        "answer/call-count",
        Error,
        &[Evaluator],
        "A ground truth has a number of calls that its category does not allow.",
    ),
    Rule::new(
        "answer/unknown-function",
        Error,
        &[Evaluator],
        "The answer calls a function that is not in the docs.",
    ),
    Rule::new(
        "answer/unknown-parameter",
        Error,
        &[Evaluator],
        "The answer uses a parameter that the function does not have.",
    ),
    Rule::new("answer/missing-required", Error, &[Evaluator], "The answer omits a required parameter."),
    Rule::new(
        "answer/no-alternatives",
        Error,
        &[Evaluator],
        "The alternatives of a parameter are not a list, or the list is empty.",
    ),
    Rule::new(
        "answer/alternative-form",
        Error,
        &[Evaluator],
        "An alternative is not in the format that the evaluator compares.",
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
        "The alternatives contain null and other values, which cannot both be matched.",
    ),
    Rule::new(
        "answer/omittable-required",
        Note,
        &[Evaluator],
        "The alternatives allow a required parameter to be omitted, which the evaluator refuses.",
    ),
    Rule::new("answer/wrong-type", Note, &[Data], "A value does not have the declared type."),
];
