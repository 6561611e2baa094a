//! A value has one allowed constant.

use serde_json::json;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/constant",
    what: "A value has one allowed constant.",
    why: "BFCL expresses a constant as an enum with one value.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "const": "noon"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "const": null}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before) = schema.get("const").filter(|value| !value.is_null() && !value.is_object()) else {
            return;
        };
        if site.place != SchemaPlace::Parameters && !schema.contains_key("enum") {
            opinion.change(Change::at(site.pointer).remove("const", before).add("enum", json!([before])));
        }
    });
}
