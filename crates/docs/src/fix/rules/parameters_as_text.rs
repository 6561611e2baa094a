//! `parameters` is an object inside a string.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::written;
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/parameters-as-text",
    what: "`parameters` is an object inside a string.",
    why: "Some exports write nested objects as text; the text is parsed.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": "{\"type\": \"object\"}"}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": "none"}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let Some(before @ Value::String(text)) = function.get("parameters") else { return };
        if let Some(inner) = written(text) {
            opinion.change(Change::at(pointer).replace("parameters", before, inner));
        }
    });
}
