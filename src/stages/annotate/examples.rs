//! Examples of the reasons of annotate.

use super::{NO_REPLY, UNSOLVED};
use crate::engine::example::Example;

/// Tables of an instruction that opens a door, and the replies of a model: its steps.
macro_rules! door {
    ($replies:expr) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "set_door", "description": "Opens or closes a door.", "parameters": {"type": "dict", "required": ["id", "state"], "properties": {"id": {"type": "string", "description": "Number."}, "state": {"type": "string", "description": "State."}}}}]}], "#,
            r#""requests": [{"messages": [{"role": "user", "content": "Get D-1 open."}], "program": {"instruction": "Get D-1 open.", "stratum": "single", "style": "ask", "wording": "template", "tier": "executed", "turns": [{"user": "Get D-1 open.", "calls": [1], "answer": "Done."}], "#,
            r#""calls": [{"name": "set_door", "arguments": {"id": "D-1", "state": "open"}, "result": {"id": "D-1", "state": "open"}, "references": {}, "provenance": {}}], "#,
            r#""answer": "Done.", "answer_from": [], "together": false, "offered": ["set_door"], "environment": "doors", "origin": "declared", "state": "start", "end_state": null}}], "#,
            r#""replies": ["#,
            $replies,
            "]}"
        )
    };
}

const SOLVED: &str = door!(
    r#"{"reason": "I open it.", "calls": [{"name": "set_door", "arguments": "{\"id\": \"D-1\", \"state\": \"open\"}"}]}, {"reason": "", "calls": [{"name": "Finish", "arguments": "{\"return_type\": \"give_answer\", \"final_answer\": \"D-1 is open.\"}"}]}"#
);
const GIVES_UP: &str = door!(
    r#"{"reason": "", "calls": [{"name": "Finish", "arguments": "{\"return_type\": \"give_up_and_restart\"}"}]}"#
);

pub(super) fn all() -> Vec<Example> {
    let examples = [
        Example::tables(UNSOLVED.code, GIVES_UP, SOLVED).with_settings(
            r#"model = "m", environment = "built-in:doors", protocol = "schema", unsolved = "drop""#,
        ),
        Example::tables(NO_REPLY.code, door!("null"), SOLVED).with_settings(
            r#"model = "m", environment = "built-in:doors", protocol = "schema", unsolved = "drop""#,
        ),
    ];
    examples.into()
}
