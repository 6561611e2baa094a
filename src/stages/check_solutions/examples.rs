//! Examples of the reasons of check-solutions.

use super::{
    CALL_AS_TEXT, CLAIM, DENIES, EMPTY, GUESSED, LACKS_RESULT, LAST_FAILED, LOOP, NEEDLESS, NO_CALL,
    NOT_OFFERED, NOT_REFUSED, OTHER_FUNCTIONS, UNGROUNDED, UNPAIRED,
};
use crate::engine::example::Example;

/// Tables of an instruction about a door that nothing executed, with one attempt: the steps of its path, and its answer.
macro_rules! attempt {
    ($calls:literal, $steps:expr, $answer:literal) => {
        attempt!($calls, $steps, $answer, "null", "[]", "")
    };
    ($calls:literal, $steps:expr, $answer:literal, $result:literal, $told:literal, $more:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "get_door", "description": "Returns a door.", "parameters": {"type": "dict", "required": ["id"], "properties": {"id": {"type": "string", "description": "Number."}}}}, {"name": "find_door", "description": "Finds a door.", "parameters": {"type": "dict", "required": ["id"], "properties": {"id": {"type": "string", "description": "Number."}}}}]}], "#,
            r#""requests": [{"messages": [{"role": "user", "content": "Which lock has D-1?"}], "program": {"instruction": "Which lock has D-1?", "stratum": "single", "style": "model", "wording": "m", "tier": "unexecuted", "turns": [{"user": "Which lock has D-1?", "calls": "#,
            $calls,
            r#", "answer": ""}], "calls": [{"name": "get_door", "arguments": {"id": "D-1"}, "result": "#,
            $result,
            r#", "references": {}, "provenance": {}}], "answer": "", "answer_from": "#,
            $told,
            r#", "together": false, "offered": ["get_door"], "environment": "doors", "origin": "unexecuted", "state": "start", "end_state": null}, "#,
            r#""traces": [{"tree": {"semantics": "paper", "opening": [{"role": "user", "content": "Which lock has D-1?"}], "nodes": [{"request": 0}, {"parent": 0, "request": 1, "calls": ["#,
            $steps,
            r#"]}, {"parent": 1, "request": 2, "calls": [{"call": {"name": "Finish", "arguments": {}}, "kind": "finish"}], "end": {"answered": ""#,
            $answer,
            r#""}}]}, "end": "answered", "spent": {"requests": 2, "usage": {"tokens_in": 0, "tokens_out": 0, "micro_dollars": 0}}, "answered": 2"#,
            $more,
            "}]}]}"
        )
    };
}

/// A call of a function with a result.
macro_rules! step {
    ($id:literal, $name:literal, $observation:literal) => {
        concat!(
            r#"{"call": {"id": ""#,
            $id,
            r#"", "name": ""#,
            $name,
            r#"", "arguments": {"id": "D-1"}}, "kind": "function""#,
            $observation,
            "}"
        )
    };
}

/// An attempt with these steps and this answer, of an instruction that needs a call.
macro_rules! with {
    ($steps:expr, $answer:literal) => {
        attempt!("[1]", $steps, $answer)
    };
}

/// The call with its result.
macro_rules! seen {
    () => {
        step!("c1", "get_door", r#", "observation": {"text": "{\"id\": \"D-1\", \"lock\": \"L-77012\"}"}"#)
    };
}

/// The call with its result, of an instruction whose own answer tells the lock.
macro_rules! told {
    ($answer:literal) => {
        attempt!(
            "[1]",
            seen!(),
            $answer,
            r#"{"id": "D-1", "lock": "L-77012"}"#,
            r#"["$1.lock"]"#,
            r#", "changes_nothing": true"#
        )
    };
}

pub(super) fn all() -> Vec<Example> {
    const GOOD: &str = with!(seen!(), "It has the lock L-77012.");
    vec![
        Example::tables(UNGROUNDED.code, with!(seen!(), "It has the lock L-88990."), GOOD),
        Example::tables(
            GUESSED.code,
            with!(
                r#"{"call": {"id": "c1", "name": "get_door", "arguments": {"id": "D-40931"}}, "kind": "function", "observation": {"text": "{\"lock\": \"L-77012\"}"}}"#,
                "It has the lock L-77012."
            ),
            GOOD,
        ),
        Example::tables(
            CLAIM.code,
            attempt!("[]", "", "I have opened the door for you."),
            attempt!("[]", "", "Which door do you mean?"),
        ),
        Example::tables(CALL_AS_TEXT.code, with!(seen!(), "get_door(id=\\\"D-1\\\")"), GOOD),
        Example::tables(
            NOT_OFFERED.code,
            with!(
                step!("c1", "look_at", r#", "observation": {"text": "{\"lock\": \"L-77012\"}"}"#),
                "It has the lock L-77012."
            ),
            GOOD,
        ),
        Example::tables(
            UNPAIRED.code,
            with!(concat!(seen!(), ", ", step!("c2", "get_door", "")), "It has the lock L-77012."),
            GOOD,
        ),
        Example::tables(
            LAST_FAILED.code,
            with!(
                step!(
                    "c1",
                    "get_door",
                    r#", "observation": {"text": "{\"error\": \"no connection\"}", "is_error": true}"#
                ),
                "It has a good lock."
            ),
            GOOD,
        ),
        Example::tables(LACKS_RESULT.code, told!("It is a good one."), told!("L-77012 is its lock.")),
        Example::tables(
            DENIES.code,
            attempt!("[1]", seen!(), "I could not look.", "null", "[]", r#", "solved": true"#),
            attempt!("[1]", seen!(), "I could look: it is L-77012.", "null", "[]", r#", "solved": true"#),
        ),
        Example::tables(
            NOT_REFUSED.code,
            attempt!("[]", "", "That depends.", "null", r#"[], "withheld": "paint_door""#, ""),
            attempt!("[]", "", "I cannot paint it.", "null", r#"[], "withheld": "paint_door""#, ""),
        ),
        Example::tables(EMPTY.code, with!(seen!(), ""), GOOD),
        Example::tables(
            LOOP.code,
            with!(
                concat!(
                    seen!(),
                    ", ",
                    step!(
                        "c2",
                        "get_door",
                        r#", "observation": {"text": "{\"id\": \"D-1\", \"lock\": \"L-77012\"}"}"#
                    ),
                    ", ",
                    step!(
                        "c3",
                        "get_door",
                        r#", "observation": {"text": "{\"id\": \"D-1\", \"lock\": \"L-77012\"}"}"#
                    )
                ),
                "It has the lock L-77012."
            ),
            GOOD,
        ),
        Example::tables(
            OTHER_FUNCTIONS.code,
            with!(
                step!("c1", "find_door", r#", "observation": {"text": "{\"lock\": \"L-77012\"}"}"#),
                "It has the lock L-77012."
            ),
            GOOD,
        ),
        Example::tables(
            NEEDLESS.code,
            attempt!("[]", seen!(), "Here you go."),
            attempt!("[]", "", "I cannot paint doors."),
        ),
        Example::tables(NO_CALL.code, attempt!("[1]", "", "It is a good one."), GOOD),
    ]
}
