//! `items` is a list of schemas that have their type in common and differ in the rest.

use serde_json::{Map, Value};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::walk::each_schema;

pub(super) static RULE: Rule = Rule {
    code: "schema/items-of-one-type",
    what: "`items` is a list of schemas that have their type in common and differ in the rest.",
    why: "BFCL wants one schema for all elements. What all of them say is kept, what single ones say is lost.",
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

/// What all schemas of a list say.
fn common(list: &[Value]) -> Map<String, Value> {
    let mut common = list.first().and_then(Value::as_object).cloned().unwrap_or_default();
    common.retain(|key, value| list.iter().all(|one| one.get(key) == Some(value)));
    common
}
