//! `items` is a list of schemas with the same type and other differences.

use serde_json::{Map, Value};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/items-of-one-type",
    what: "`items` is a list of schemas with the same type and other differences.",
    why: "BFCL requires one schema for all elements. Keys that are equal in all schemas are kept, others are lost.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": [{"type": "string", "enum": ["b"]}, {"type": "string"}]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": [{"type": "string"}, {"type": "string"}]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::Array(list)) = schema.get("items") else { return };
        let common = common(list);
        if common.contains_key("type") && list.iter().any(|one| one.as_object() != Some(&common)) {
            let change = Change::at(site.pointer).replace("items", before, common);
            opinion.change(change.set(schema, "type", "tuple"));
        }
    });
}

/// Returns the keys that are equal in all schemas of a list.
fn common(list: &[Value]) -> Map<String, Value> {
    let mut common = list.first().and_then(Value::as_object).cloned().unwrap_or_default();
    common.retain(|key, value| list.iter().all(|one| one.get(key) == Some(value)));
    common
}
