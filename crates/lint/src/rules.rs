//! The table of rules for the questions and answers of a dataset.
//!
//! Rules for functions are in `docs::check::rules`; `all` joins the two tables. The codes for
//! answers are those of `answers::carry` where the fault is the same.

use callsieve_docs::check::rules::By::{Data, Evaluator, Recipe};
use callsieve_docs::check::rules::Level::{Error, Note};
use callsieve_docs::check::rules::{self, Rule};

/// Returns the rule with this code, for functions or for datasets.
pub fn of(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code == code)
}

/// Returns all rules: those for datasets, then those for functions.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(&rules::RULES)
}

/// All rules for questions and answers.
pub static RULES: [Rule; 35] = [
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
        "dataset/contradicting-labels",
        Error,
        &[Evaluator, Recipe],
        "Two entries of different categories have the same messages and functions, so no model can pass both.",
    )
    .shown(
        r#"[{"id": "live_irrelevance_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]},
            {"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}], "ground_truth": [{"f": {}}]}]"#,
        r#"[{"id": "live_irrelevance_0-0-0", "question": [[{"role": "user", "content": "Sing."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]},
            {"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}], "ground_truth": [{"f": {}}]}]"#,
    ),
    Rule::new(
        "dataset/duplicate-entry",
        Note,
        &[Recipe],
        "Two entries with the same label have the same messages and functions.",
    )
    .shown(
        r#"[{"id": "live_irrelevance_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]},
            {"id": "live_irrelevance_1-0-1", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]}]"#,
        r#"[{"id": "live_irrelevance_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]},
            {"id": "live_irrelevance_1-0-1", "question": [[{"role": "user", "content": "Sing."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]}]"#,
    ),
    Rule::new(
        "dataset/contradicting-answers",
        Error,
        &[Evaluator],
        "Two entries have the same messages and functions, and no output passes both ground truths.",
    )
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "integer", "description": "x"}}}}], "ground_truth": [{"f": {"a": [1]}}]},
            {"id": "live_simple_1-0-1", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "integer", "description": "x"}}}}], "ground_truth": [{"f": {"a": [2]}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "integer", "description": "x"}}}}], "ground_truth": [{"f": {"a": [1]}}]},
            {"id": "live_simple_1-0-1", "question": [[{"role": "user", "content": "Sing."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "integer", "description": "x"}}}}], "ground_truth": [{"f": {"a": [2]}}]}]"#,
    ),
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
    Rule::new("dataset/empty-message", Note, &[Data], "The last message of a user has no text.")
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": " "}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {"a": {"type": "integer", "description": "x", "default": 1}}}}], "ground_truth": [{"f": {"a": [1, ""]}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {"a": {"type": "integer", "description": "x", "default": 1}}}}], "ground_truth": [{"f": {"a": [1, ""]}}]}]"#,
    ),
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
    Rule::new(
        "answer/optional-left-out",
        Note,
        &[Evaluator],
        "The answer does not list an optional parameter, so the evaluator refuses each output that gives it.",
    )
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {"a": {"type": "integer", "description": "x", "default": 1}}}}], "ground_truth": [{"f": {}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {"a": {"type": "integer", "description": "x", "default": 1}}}}], "ground_truth": [{"f": {"a": [1, ""]}}]}]"#,
    ),
    Rule::new("answer/wrong-type", Note, &[Data], "A value does not have the declared type."),
    Rule::new("answer/not-in-enum", Note, &[Data], "A value is not in the enum of its parameter.")
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "string", "description": "x", "enum": ["noon"]}}}}], "ground_truth": [{"f": {"a": ["storm"]}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "string", "description": "x", "enum": ["noon"]}}}}], "ground_truth": [{"f": {"a": ["Noon"]}}]}]"#,
    ),
    Rule::new("answer/unknown-key", Note, &[Data], "A dict has a key that its doc does not have.")
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x", "default": "y"}}}}}}], "ground_truth": [{"f": {"a": [{"c": ["x"]}]}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x", "default": "y"}}}}}}], "ground_truth": [{"f": {"a": [{"b": ["x"]}]}}]}]"#,
    ),
    Rule::new("answer/unsatisfiable", Error, &[Evaluator], "No output passes the evaluator.")
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x", "default": "y"}}}}}}], "ground_truth": [{"f": {"a": [{"b": []}]}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x", "default": "y"}}}}}}], "ground_truth": [{"f": {"a": [{"b": ["x"]}]}}]}]"#,
    ),
    Rule::new(
        "answer/only-empty-value",
        Note,
        &[Evaluator],
        "The evaluator accepts only an empty text or an empty list for a required parameter.",
    )
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "string", "description": "x"}}}}], "ground_truth": [{"f": {"a": [""]}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "string", "description": "x"}}}}], "ground_truth": [{"f": {"a": ["x"]}}]}]"#,
    ),
    Rule::new("answer/dead-alternative", Note, &[Evaluator], "An alternative can never match an output.")
    .shown(
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "any", "description": "x"}}}}], "ground_truth": [{"f": {"a": ["one", 1]}}]}]"#,
        r#"[{"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "any", "description": "x"}}}}], "ground_truth": [{"f": {"a": ["one", "1"]}}]}]"#,
    ),
];
