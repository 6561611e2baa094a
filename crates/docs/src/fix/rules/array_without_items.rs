//! An array or tuple has no type for its elements.

use serde_json::{Map, Value, json};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};
use callsieve_bfcl::types::Type;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/array-without-items",
    what: "An array or tuple has no type for its elements.",
    why: "BFCL's checker fails on such a parameter. The type of the elements is inferred from the enum or the \
          default if there is one, otherwise it is string. The value is invented, so the edit is not safe.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": {"type": "any"}}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let kind = schema.get("type").and_then(Value::as_str).and_then(Type::named);
        let listed = matches!(kind, Some(Type::Array | Type::Tuple));
        let empty = |items: &Value| items.is_null() || items.is_boolean() || *items == json!([]);
        if site.place != SchemaPlace::Parameters && listed && schema.get("items").is_none_or(empty) {
            let items = json!({"type": element_type(schema)});
            opinion.change(Change::at(site.pointer).set(schema, "items", items));
        }
    });
}

/// Returns the common type of the known elements of an array.
fn element_type(schema: &Map<String, Value>) -> Type {
    let values =
        ["enum", "default"].into_iter().filter_map(|key| schema.get(key)?.as_array()).find(|v| !v.is_empty());
    let mut types = values.into_iter().flatten().map(Type::of_value);
    match types.next() {
        Some(Some(first)) if !first.is_container() && types.all(|kind| kind == Some(first)) => first,
        _ => Type::String,
    }
}
