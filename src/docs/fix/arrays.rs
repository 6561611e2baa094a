//! What the elements of an array are.

use serde_json::{Map, Value, json};

use super::notation;
use super::opinion::{Change, Opinion};
use super::types::type_of;
use super::walk::{Place, each_schema};
use super::{Rule, Safety};

pub(super) static ITEMS_NOT_A_SCHEMA: Rule = Rule {
    code: "schema/items-not-a-schema",
    what: "`items` is the name of a type, or a list of schemas.",
    why: "BFCL wants one schema for all elements. A name is taken as its type; a list of one type makes a tuple.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": "string"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": [{"type": "string"}, {"type": "integer"}]}}}}"#,
    judge: items_not_a_schema,
};

fn items_not_a_schema(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before) = schema.get("items") else { return };
        match before {
            Value::String(text) if notation::read(text).is_some() => {
                opinion.change(Change::at(site.pointer).replace("items", before, json!({"type": text})));
            }
            Value::Array(list) => {
                let Some(first @ Value::Object(_)) = list.first() else { return };
                let same =
                    |other: &Value| other.get("type").is_some() && other.get("type") == first.get("type");
                if list.iter().all(same) {
                    let change = Change::at(site.pointer).replace("items", before, first.clone());
                    opinion.change(change.set(schema, "type", "tuple"));
                }
            }
            _ => {}
        }
    });
}

pub(super) static WITHOUT_ITEMS: Rule = Rule {
    code: "schema/array-without-items",
    what: "An array or tuple does not say what its elements are.",
    why: "BFCL's checker stops at such a parameter. The elements' type is taken from the enum or the default where \
          they have one, and is a string otherwise: an invented value, so the edit is not safe.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": {"type": "any"}}}}}"#,
    judge: without_items,
};

fn without_items(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let listed = schema.get("type").is_some_and(|kind| *kind == "array" || *kind == "tuple");
        let empty = |items: &Value| items.is_null() || items.is_boolean() || *items == json!([]);
        if site.place != Place::Parameters && listed && schema.get("items").is_none_or(empty) {
            let items = json!({"type": element_type(schema)});
            opinion.change(Change::at(site.pointer).set(schema, "items", items));
        }
    });
}

/// The one type of the values an array is known to hold.
fn element_type(schema: &Map<String, Value>) -> &'static str {
    let values =
        ["enum", "default"].into_iter().filter_map(|key| schema.get(key)?.as_array()).find(|v| !v.is_empty());
    let mut types = values.into_iter().flatten().map(type_of);
    match types.next() {
        Some(Some(first)) if first != "array" && first != "dict" && types.all(|kind| kind == Some(first)) => {
            first
        }
        _ => "string",
    }
}
