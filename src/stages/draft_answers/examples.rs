//! One example for each reason of the stage: a bell, and what was recorded of ringing it.

use super::{REFUTED, SEVERAL_STEPS, UNSOURCED_VALUE};
use crate::engine::example::Example;

/// A call with that outcome.
macro_rules! parser_step {
    ($outcome:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "ring", "description": "Rings a bell.", "#,
            r#""parameters": {"type": "dict", "required": [], "properties": {}}}]}], "#,
            r#""requests": [{"outcome": ""#,
            $outcome,
            r#"", "response": {"role": "assistant", "content": "", "calls": [{"name": "ring", "arguments": {}}]}}]}"#
        )
    };
}

/// A list of functions, and a recorded call.
macro_rules! tables {
    ($functions:literal, $call:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": ["#,
            $functions,
            r#"]}], "requests": [{"response": {"role": "assistant", "content": "", "calls": ["#,
            $call,
            r#"]}}]}"#
        )
    };
}
/// A recorded call of the bell.
macro_rules! bell {
    ($call:literal) => {
        tables!(
            r#"{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer", "description": "How often."}, "bell": {"type": "string", "description": "Which bell.", "enum": ["noon", "storm"], "default": "noon"}}}}"#,
            $call
        )
    };
}

const QUIET: &str = bell!(r#"{"name": "ring", "arguments": {"times": 3}}"#);

/// A call with a number that nobody gave.
const UNSOURCED: &str = concat!(
    r#"{"doc_lists": [{"functions": [{"name": "ring", "description": "Rings someone.", "#,
    r#""parameters": {"type": "dict", "required": ["whom"], "properties": {"whom": {"type": "string", "description": "The number."}}}}]}], "#,
    r#""requests": [{"answer_only_placeholders": ["+440000000002"], "response": {"role": "assistant", "content": "", "#,
    r#""calls": [{"name": "ring", "arguments": {"whom": "+440000000002"}}]}}]}"#
);

/// One a fault: the same list of functions, another recorded call.
const CARRY: [(&str, &str); 9] = [
    ("answer/unknown-function", bell!(r#"{"name": "toll", "arguments": {"times": 3}}"#)),
    ("answer/unknown-parameter", bell!(r#"{"name": "ring", "arguments": {"times": 3, "loudly": true}}"#)),
    ("answer/missing-required", bell!(r#"{"name": "ring", "arguments": {"bell": "noon"}}"#)),
    ("answer/wrong-type", bell!(r#"{"name": "ring", "arguments": {"times": "often"}}"#)),
    ("answer/not-in-enum", bell!(r#"{"name": "ring", "arguments": {"times": 3, "bell": "door"}}"#)),
    (
        "answer/ambiguous-function",
        tables!(
            r#"{"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "required": [], "properties": {}}}, {"name": "ring", "description": "Phones.", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
            r#"{"name": "ring", "arguments": {}}"#
        ),
    ),
    (
        "answer/empty-value",
        tables!(
            r#"{"name": "engrave", "description": "Engraves a bell.", "parameters": {"type": "dict", "required": ["text"], "properties": {"text": {"type": "string", "description": "What to engrave."}}}}"#,
            r#"{"name": "engrave", "arguments": {"text": ""}}"#
        ),
    ),
    (
        "answer/mixed-array",
        tables!(
            r#"{"name": "peal", "description": "Rings changes.", "parameters": {"type": "dict", "required": ["order"], "properties": {"order": {"type": "array", "items": {"type": "any"}, "description": "Bells in order."}}}}"#,
            r#"{"name": "peal", "arguments": {"order": ["tenor", 2]}}"#
        ),
    ),
    (
        "answer/uncheckable-type",
        tables!(
            r#"{"name": "tune", "description": "Tunes a bell.", "parameters": {"type": "dict", "required": ["pitch"], "properties": {"pitch": {"type": "hertz", "description": "The pitch."}}}}"#,
            r#"{"name": "tune", "arguments": {"pitch": 440}}"#
        ),
    ),
];

pub(super) fn all() -> Vec<Example> {
    let mut examples = vec![
        Example::tables(REFUTED.code, parser_step!("failed"), parser_step!("worked")),
        Example::tables(SEVERAL_STEPS.code, parser_step!("goes-on"), parser_step!("worked")),
        Example::tables(UNSOURCED_VALUE.code, UNSOURCED, parser_step!("worked")),
    ];
    examples.extend(CARRY.map(|(code, fires)| Example::tables(code, fires, QUIET)));
    examples
}
