//! Null is one of the allowed values, and is the default.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/enum-null",
    what: "Null is one of the allowed values, and is the default.",
    why: "Null has no type in BFCL, and the default already shows that the value is optional.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["b", null], "default": null}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["b", "null"], "default": null}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let (Some(before @ Value::Array(choices)), Some(Value::Null)) =
            (schema.get("enum"), schema.get("default"))
        else {
            return;
        };
        let others: Vec<Value> = choices.iter().filter(|choice| !choice.is_null()).cloned().collect();
        if !others.is_empty() && others.len() < choices.len() {
            opinion.change(Change::at(site.pointer).replace("enum", before, others));
        }
    });
}
