//! Examples of the reasons of word-instructions.

use super::{
    LANGUAGE, LEAKED, META_TALK, NAMES_FUNCTION, NO_WORDING, ODD_TEXT, OTHER_CALLS, PLACEHOLDER, REFUSAL,
    REWORDED, UNCHANGED, UNCOVERED, VALUE_MISSING,
};
use crate::engine::example::Example;

/// Tables with an instruction that opens a door, and the replies of a model: its wording, then the calls that it makes from it.
macro_rules! worded {
    ($replies:expr) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "get_door", "description": "Returns a door with its lock.", "parameters": {"type": "dict", "required": ["id"], "properties": {"id": {"type": "string", "description": "Number."}}}}, "#,
            r#"{"name": "set_door", "description": "Opens or closes a door.", "parameters": {"type": "dict", "required": ["id", "state"], "properties": {"id": {"type": "string", "description": "Number."}, "state": {"type": "string", "description": "State."}}}}]}], "#,
            r#""requests": [{"messages": [{"role": "user", "content": "Set the door D-1 to open."}], "#,
            r#""program": {"instruction": "Set the door D-1 to open.", "stratum": "single", "style": "ask", "wording": "template", "tier": "executed", "turns": [{"user": "Set the door D-1 to open.", "calls": [1], "answer": "Done."}], "#,
            r#""calls": [{"name": "set_door", "arguments": {"id": "D-1", "state": "open"}, "result": {"id": "D-1", "state": "open"}, "references": {}, "#,
            r#""provenance": {"id": {"from": "words", "turn": 1, "span": [13, 16], "words": "D-1", "source": "bindings"}, "state": {"from": "words", "turn": 1, "span": [20, 24], "words": "open", "source": "enum"}}}], "#,
            r#""answer": "Done.", "answer_from": [], "together": false, "offered": ["get_door", "set_door"], "environment": "doors", "origin": "declared", "state": "start", "end_state": null}}], "#,
            r#""replies": ["#,
            $replies,
            "]}"
        )
    };
}

/// The same with a lock that a call has to find.
macro_rules! looked_up {
    ($wording:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "get_door", "description": "Returns a door.", "parameters": {"type": "dict", "required": ["id"], "properties": {"id": {"type": "string", "description": "Number."}}}}]}], "#,
            r#""requests": [{"messages": [{"role": "user", "content": "Look up the door D-1 and then that lock."}], "#,
            r#""program": {"instruction": "Look up the door D-1 and then that lock.", "stratum": "chain", "style": "ask", "wording": "template", "tier": "executed", "turns": [{"user": "Look up the door D-1 and then that lock.", "calls": [1, 2], "answer": "Done."}], "#,
            r#""calls": [{"name": "get_door", "arguments": {"id": "D-1"}, "result": {"id": "D-1", "lock": "L-770"}, "references": {}, "provenance": {"id": {"from": "words", "turn": 1, "span": [17, 20], "words": "D-1", "source": "bindings"}}}, "#,
            r#"{"name": "get_door", "arguments": {"id": "L-770"}, "result": "none", "failure": "error-result", "references": {"id": "$1.lock"}, "provenance": {"id": {"from": "result", "path": "$1.lock"}}}], "#,
            r#""answer": "Done.", "answer_from": [], "together": false, "offered": ["get_door"], "environment": "doors", "origin": "declared", "state": "start", "end_state": null}}], "#,
            r#""replies": [{"message_1": ""#,
            $wording,
            r#""}]}"#
        )
    };
}

/// Tables of a wording without the calls that are made from it.
macro_rules! only {
    ($wording:literal) => {
        worded!(concat!(r#"{"message_1": ""#, $wording, r#""}"#))
    };
}

const PASSES: &str = worded!(
    r#"{"message_1": "Hey, could you get D-1 open for me?"}, {"calls": [{"name": "set_door", "arguments": "{\"id\": \"D-1\", \"state\": \"open\"}"}]}, {"calls": []}"#
);
const BEYOND: &str = worded!(
    r#"{"message_1": "Hey, could you get D-1 open for me and email me the receipt?"}, {"calls": [{"name": "set_door", "arguments": "{\"id\": \"D-1\", \"state\": \"open\"}"}]}, {"uncovered": ["email me the receipt"], "calls": []}"#
);
const OTHER: &str = worded!(
    r#"{"message_1": "Hey, is D-1 open? Please see to it."}, {"calls": [{"name": "get_door", "arguments": "{\"id\": \"D-1\"}"}]}, {"calls": []}"#
);

/// A model, and the doors.
const SETTINGS: &str = r#"model = "m", environment = "built-in:doors", over_specified = 0, implicit = 0"#;

pub(super) fn all() -> Vec<Example> {
    let examples = [
        Example::tables(REWORDED.code, PASSES, OTHER),
        Example::tables(VALUE_MISSING.code, only!("Hey, could you get D-2 open for me?"), PASSES),
        Example::tables(
            LEAKED.code,
            looked_up!("Find door D-1, and its lock L-770 after that."),
            looked_up!("Find door D-1, and the lock it has after that."),
        ),
        Example::tables(NAMES_FUNCTION.code, only!("Run set_door on D-1 so it is open."), PASSES),
        Example::tables(META_TALK.code, only!("With the door API, get D-1 open."), PASSES),
        Example::tables(PLACEHOLDER.code, only!("Get D-1 open for <your name>."), PASSES),
        Example::tables(REFUSAL.code, only!("I'm sorry, I cannot get D-1 open."), PASSES),
        Example::tables(ODD_TEXT.code, only!("Get D-1\\u202e open for me."), PASSES),
        Example::tables(
            LANGUAGE.code,
            only!("Kannst du bitte für mich die Tür D-1 auf den Zustand open setzen, wenn das möglich ist?"),
            PASSES,
        ),
        Example::tables(UNCHANGED.code, only!("set the door D-1 to open"), PASSES),
        Example::tables(OTHER_CALLS.code, OTHER, PASSES),
        Example::tables(UNCOVERED.code, BEYOND, PASSES),
        Example::tables(NO_WORDING.code, worded!("null"), PASSES),
    ];
    examples.into_iter().map(|example| example.with_settings(SETTINGS)).collect()
}
