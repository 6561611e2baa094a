//! Examples of the reasons of judge-solutions.

use super::{FAILED, NO_JUDGEMENT, UNDECIDED};
use crate::engine::example::Example;

/// Tables of an instruction that nothing executed, with one answered attempt, and the replies of a judge.
macro_rules! judged {
    ($replies:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "get_door", "description": "Returns a door.", "parameters": {"type": "dict", "required": ["id"], "properties": {"id": {"type": "string", "description": "Number."}}}}]}], "#,
            r#""requests": [{"external_id": "p1", "messages": [{"role": "user", "content": "Which lock has D-1?"}], "program": {"instruction": "Which lock has D-1?", "stratum": "single", "style": "model", "wording": "m", "tier": "unexecuted", "turns": [{"user": "Which lock has D-1?", "calls": [], "answer": ""}], "calls": [], "#,
            r#""answer": "", "answer_from": [], "together": false, "offered": ["get_door"], "environment": "doors", "origin": "unexecuted", "state": "start", "end_state": null}, "#,
            r#""traces": [{"tree": {"semantics": "paper", "opening": [{"role": "user", "content": "Which lock has D-1?"}], "nodes": [{"request": 0}, {"parent": 0, "request": 1, "calls": [{"call": {"name": "Finish", "arguments": {}}, "kind": "finish"}], "end": {"answered": "It is a good one."}}]}, "end": "answered", "spent": {"requests": 1, "usage": {"tokens_in": 0, "tokens_out": 0, "micro_dollars": 0}}, "answered": 1}]}], "#,
            r#""replies": ["#,
            $replies,
            "]}"
        )
    };
}

pub(super) fn all() -> Vec<Example> {
    const PASSES: &str = judged!(r#"{"reason": "Yes.", "solvable": "solvable", "verdict": "solved"}"#);
    let examples = [
        Example::tables(
            FAILED.code,
            judged!(r#"{"reason": "No lock is named.", "solvable": "solvable", "verdict": "unsolved"}"#),
            PASSES,
        ),
        Example::tables(
            UNDECIDED.code,
            judged!(r#"{"reason": "Who knows.", "solvable": "solvable", "verdict": "unsure"}"#),
            PASSES,
        ),
        Example::tables(NO_JUDGEMENT.code, judged!(r#""It looks fine to me.""#), PASSES),
    ];
    examples.into_iter().map(|example| example.with_settings(r#"models = ["m"]"#)).collect()
}
