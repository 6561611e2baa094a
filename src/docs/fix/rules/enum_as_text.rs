//! The allowed values are one text with commas.

use serde_json::{Value, json};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::walk::each_schema;
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/enum-as-text",
    what: "The allowed values are one text with commas.",
    why: "BFCL wants a list; the text is cut at its commas, which could be part of a value, so the edit is not safe.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "enum": "a, b, c"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["a, b"]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(text)) = schema.get("enum") else { return };
        let values: Vec<_> =
            text.split(',').map(|value| json!(value.trim())).filter(|value| *value != "").collect();
        opinion.change(Change::at(site.pointer).replace("enum", before, values));
    });
}
