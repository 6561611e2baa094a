//! Examples: one for each reason of the stage, about calls that ring a bell.

use super::by_model::{DRAFTS_DIFFER, NO_CALL_DRAFTED, NO_DRAFT, NOT_ASKED_FOR, ONE_MODEL};
use super::other_answers::{OTHER_ALTERNATIVES, OTHER_ANSWER};
use super::{REFUTED, SEVERAL_STEPS, VALUE_NOT_IN_REQUEST};
use crate::engine::example::Example;

/// Tables with a recorded call of this outcome.
macro_rules! with_outcome {
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

/// Tables with a list of functions and a recorded call.
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
/// Tables with a recorded call of the bell.
macro_rules! bell {
    ($call:literal) => {
        tables!(
            r#"{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer", "description": "How often."}, "bell": {"type": "string", "description": "Which bell.", "enum": ["noon", "storm"], "default": "noon"}}}}"#,
            $call
        )
    };
}

const QUIET: &str = bell!(r#"{"name": "ring", "arguments": {"times": 3}}"#);

/// Tables with a call whose phone number is not in the request.
const NOT_IN_REQUEST: &str = concat!(
    r#"{"doc_lists": [{"functions": [{"name": "ring", "description": "Rings someone.", "#,
    r#""parameters": {"type": "dict", "required": ["whom"], "properties": {"whom": {"type": "string", "description": "The number."}}}}]}], "#,
    r#""requests": [{"answer_only_placeholders": ["+440000000002"], "response": {"role": "assistant", "content": "", "#,
    r#""calls": [{"name": "ring", "arguments": {"whom": "+440000000002"}}]}}]}"#
);

/// For each fault, a recorded call that has it.
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

/// Tables with two equal requests and their calls.
macro_rules! twice {
    ($first:literal, $second:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "#,
            r#""required": ["bell"], "properties": {"bell": {"type": "string", "description": "Which bell."}}}}, "#,
            r#"{"name": "hush", "description": "Ends the ringing.", "parameters": {"type": "dict", "required": [], "#,
            r#""properties": {}}}]}], "requests": [{"response": {"role": "assistant", "content": "", "calls": ["#,
            $first,
            r#"]}}, {"merged_into": 0, "response": {"role": "assistant", "content": "", "calls": ["#,
            $second,
            r#"]}}]}"#
        )
    };
}

const AGREED: &str = twice!(
    r#"{"name": "ring", "arguments": {"bell": "noon"}}"#,
    r#"{"name": "ring", "arguments": {"bell": "Noon."}}"#
);
const OTHER_BELL: &str = twice!(
    r#"{"name": "ring", "arguments": {"bell": "noon"}}"#,
    r#"{"name": "ring", "arguments": {"bell": "the noon bell"}}"#
);
const OTHER_CALL: &str =
    twice!(r#"{"name": "ring", "arguments": {"bell": "noon"}}"#, r#"{"name": "hush", "arguments": {}}"#);

/// Tables with a request without an answer, and two drafts of one.
macro_rules! drafts {
    ($first:literal, $second:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "ring", "description": "Rings a bell.", "#,
            r#""parameters": {"type": "dict", "required": ["bell"], "properties": {"#,
            r#""bell": {"type": "string", "description": "Which bell."}, "#,
            r#""times": {"type": "integer", "description": "How often."}}}}]}], "#,
            r#""requests": [{"relevance": "relevant", "messages": [{"role": "user", "content": "Ring the noon bell."}]}], "#,
            r#""replies": ["#,
            $first,
            ", ",
            $second,
            "]}"
        )
    };
}

const SAME_DRAFTS: &str = drafts!(
    r#"{"calls": [{"name": "ring", "arguments": {"bell": "noon"}}]}"#,
    r#"{"calls": [{"name": "ring", "arguments": "{\"bell\": \"Noon\"}"}]}"#
);
const OTHER_DRAFTS: &str = drafts!(
    r#"{"calls": [{"name": "ring", "arguments": {"bell": "noon"}}]}"#,
    r#"{"calls": [{"name": "ring", "arguments": {"bell": "the noon bell"}}]}"#
);
const NO_CALLS: &str = drafts!(r#"{"calls": []}"#, r#"{"calls": []}"#);
const ONE_FAILED: &str = drafts!(r#"{"calls": []}"#, "null");
const UNASKED: &str = drafts!(
    r#"{"calls": [{"name": "ring", "arguments": {"bell": "noon", "times": 12}}]}"#,
    r#"{"calls": [{"name": "ring", "arguments": {"bell": "noon", "times": 12}}]}"#
);
const ONE_HAS_UNASKED: &str = drafts!(
    r#"{"calls": [{"name": "ring", "arguments": {"bell": "noon", "times": 12}}]}"#,
    r#"{"calls": [{"name": "ring", "arguments": {"bell": "noon"}}]}"#
);
const OF_ONE_MODEL: &str = drafts!(
    r#"{"served_by": "m-2026", "reply": {"calls": [{"name": "ring", "arguments": {"bell": "noon"}}]}}"#,
    r#"{"served_by": "m-2026", "reply": {"calls": [{"name": "ring", "arguments": {"bell": "noon"}}]}}"#
);
const TWO_MODELS: &str = r#"models = ["one", "other"]"#;

pub(super) fn all() -> Vec<Example> {
    let mut examples = vec![
        Example::tables(REFUTED.code, with_outcome!("failed"), with_outcome!("worked")),
        Example::tables(SEVERAL_STEPS.code, with_outcome!("goes-on"), with_outcome!("worked")),
        Example::tables(VALUE_NOT_IN_REQUEST.code, NOT_IN_REQUEST, with_outcome!("worked")),
        Example::tables(OTHER_ALTERNATIVES.code, OTHER_BELL, AGREED),
        Example::tables(OTHER_ANSWER.code, OTHER_CALL, AGREED),
        Example::tables(DRAFTS_DIFFER.code, OTHER_DRAFTS, SAME_DRAFTS).with_settings(TWO_MODELS),
        Example::tables(NO_CALL_DRAFTED.code, NO_CALLS, SAME_DRAFTS).with_settings(TWO_MODELS),
        Example::tables(NOT_ASKED_FOR.code, UNASKED, ONE_HAS_UNASKED).with_settings(TWO_MODELS),
        Example::tables(ONE_MODEL.code, OF_ONE_MODEL, SAME_DRAFTS).with_settings(TWO_MODELS),
        Example::tables(NO_DRAFT.code, ONE_FAILED, SAME_DRAFTS).with_settings(TWO_MODELS),
    ];
    examples.extend(CARRY.map(|(code, fires)| Example::tables(code, fires, QUIET)));
    examples
}
