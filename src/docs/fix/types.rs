//! The type of a value: one of BFCL's eight words.

use serde_json::{Map, Value, json};

use super::frame::PARAMETERS;
use super::notation::{self, TYPES};
use super::opinion::{Change, Opinion};
use super::walk::{Place, each_parameters, each_schema};
use super::{Rule, Safety};

pub(super) static UNKNOWN_TYPE: Rule = Rule {
    code: "schema/unknown-type",
    what: "A type is written in other words than BFCL's eight.",
    why: "The checker stops at a type it does not know. The word is translated (object to dict, number to float, \
          List[int] to array with items), and what it says about elements, choices or format is kept.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "object", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "thingummy", "description": "x"}}}}"#,
    judge: unknown_type,
};

fn unknown_type(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(written)) = schema.get("type") else { return };
        if TYPES.contains(&written.as_str()) {
            return;
        }
        let Some(notation) = notation::read(written).filter(|notation| !notation.lossy) else { return };
        if site.place == Place::Parameters && notation.kind != "dict" {
            return;
        }
        let mut change = Change::at(site.pointer).replace("type", before, notation.kind);
        let said = [
            ("items", notation.items.as_ref().map(|items| items.schema())),
            ("enum", (!notation.choices.is_empty()).then(|| json!(notation.choices))),
            ("format", notation.format.as_ref().map(|format| json!(format))),
        ];
        for (key, value) in said {
            if let Some(value) = value.filter(|_| !schema.contains_key(key)) {
                change = change.add(key, value);
            }
        }
        opinion.change(change);
    });
}

pub(super) static MISSING_TYPE: Rule = Rule {
    code: "schema/missing-type",
    what: "A parameter has no type.",
    why: "The type is read off the properties, items, enum or default, and is a string where there are none: a guess.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "enum": ["c", "f"]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "type": "string"}}}}"#,
    judge: missing_type,
};

fn missing_type(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let combined = ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| schema.contains_key(*key));
        let absent = schema.get("type").is_none_or(|kind| kind.is_null() || *kind == "");
        if site.place != Place::Parameters && absent && !combined {
            opinion.change(Change::at(site.pointer).set(schema, "type", inferred(schema)));
        }
    });
}

pub(super) static PARAMETERS_TYPE: Rule = Rule {
    code: "schema/parameters-type",
    what: "`parameters` does not say that it is a dict.",
    why: "Every official doc says so, and a schema with properties can be nothing else.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "array", "items": {"type": "string"}}}"#,
    judge: parameters_type,
};

fn parameters_type(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        let wrong = match schema.get("type") {
            None => true,
            Some(kind) => *kind != "dict" && schema.get("properties").is_some_and(Value::is_object),
        };
        if wrong {
            opinion.change(Change::at(site.pointer).set_in_order(schema, "type", "dict", &PARAMETERS));
        }
    });
}

/// What a value is, in BFCL's words; null is nothing.
pub(super) fn type_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if is_whole(number) => Some("integer"),
        Value::Number(_) => Some("float"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("dict"),
    }
}

fn is_whole(number: &serde_json::Number) -> bool {
    !number.as_str().contains(['.', 'e', 'E'])
}

fn inferred(schema: &Map<String, Value>) -> &'static str {
    if schema.get("properties").is_some_and(Value::is_object) {
        return "dict";
    }
    if schema.contains_key("items") {
        return "array";
    }
    let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut types = choices.chain(schema.get("default")).filter_map(type_of);
    match types.next() {
        Some(first) if types.all(|kind| kind == first) => first,
        _ => "string",
    }
}
