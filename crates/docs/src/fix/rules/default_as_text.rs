//! A default of another type is written as text.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::cast;
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/default-as-text",
    what: "A default of another type is written as text.",
    why: "`\"10\"` for an integer means 10. It is converted if the text is exactly how the value is written.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "false"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "dontcare"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(text)) = schema.get("default") else { return };
        // An enum that contains the text means the text.
        let chosen =
            schema.get("enum").and_then(Value::as_array).is_some_and(|choices| choices.contains(before));
        let kind = schema.get("type").and_then(Value::as_str).filter(|_| !chosen);
        if let Some(value) = kind.and_then(|kind| cast(text, kind)) {
            opinion.change(Change::at(site.pointer).replace("default", before, value));
        }
    });
}
