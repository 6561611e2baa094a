//! `parameters` in another form than a schema: lists, and bare maps of parameters.
//!
//! A bare map is told from a schema by what it does not have; which of its parameters
//! are required it does not say, so that is read off defaults and marks.

use serde_json::{Map, Value, json};

use super::notation;

/// The lists API collections keep their parameters in.
pub(super) const REQUIRED_LIST: &str = "required_parameters";

pub(super) const OPTIONAL_LIST: &str = "optional_parameters";

/// Keys of a schema that never name a parameter in a bare map.
pub(super) const SCHEMA_ONLY: [&str; 9] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "additionalProperties",
    "patternProperties",
    "dependencies",
    "examples",
    "required",
];

/// Keys only a schema has, and its `properties` under both names.
pub(super) const SCHEMA_PARTS: [&str; 6] = ["properties", "property", "$ref", "anyOf", "oneOf", "allOf"];

/// Whether `parameters` is a bare map of parameters: it has none of a schema's own parts, and every key could
/// name a parameter.
pub(super) fn is_flat(parameters: &Value) -> bool {
    let Value::Object(parameters) = parameters else { return false };
    if parameters.keys().any(|key| SCHEMA_PARTS.contains(&key.as_str())) {
        return false;
    }
    // Where the map says that it is a schema, its text is about the schema.
    let declared = parameters.get("type").is_some_and(is_dict_type);
    let mut members =
        parameters.iter().filter(|(key, value)| is_parameter(parameters, key, value)).peekable();
    members.peek().is_some()
        && members.all(|(_, value)| value.is_object() || (!declared && value.is_string()))
}

pub(super) fn is_parameter(parameters: &Map<String, Value>, key: &str, value: &Value) -> bool {
    let declared = parameters.get("type").is_some_and(is_dict_type);
    let about_schema = key == "type" || ["title", "description"].contains(&key) && value.is_string();
    let schema_only = SCHEMA_ONLY.contains(&key) && !(key == "required" && value.is_object());
    !(schema_only || declared && about_schema)
}

pub(super) fn is_dict_type(value: &Value) -> bool {
    value.as_str().and_then(notation::read).is_some_and(|notation| notation.kind == "dict")
}

/// The parameter's name and its schema without the name.
pub(super) fn named(parameter: &Value) -> Option<(String, Value)> {
    let mut schema = parameter.as_object()?.clone();
    match schema.shift_remove("name")? {
        Value::String(name) if !name.is_empty() => Some((name, Value::Object(schema))),
        _ => None,
    }
}

/// A property's text as a schema.
pub(super) fn as_schema(value: &Value) -> Value {
    match value {
        Value::String(text) if notation::read(text).is_some() => json!({"type": text}),
        Value::String(text) => json!({"description": text}),
        other => other.clone(),
    }
}

/// A schema of these properties; per-parameter marks turn into the list of required ones.
pub(super) fn schema_of(mut properties: Map<String, Value>) -> Value {
    let mut required = Vec::new();
    for (name, property) in &mut properties {
        let Value::Object(property) = property else { continue };
        if is_required(property) {
            required.push(name.clone());
        }
        for mark in ["required", "optional"] {
            if property.get(mark).is_some_and(Value::is_boolean) {
                property.shift_remove(mark);
            }
        }
    }
    json!({"type": "dict", "required": required, "properties": properties})
}

pub(super) fn is_required(property: &Map<String, Value>) -> bool {
    let mark = |key: &str| property.get(key).and_then(Value::as_bool);
    let is_optional_type = || {
        let kind = property.get("type").and_then(Value::as_str);
        kind.and_then(notation::read).is_some_and(|notation| notation.optional)
    };
    mark("required")
        .or_else(|| mark("optional").map(|optional| !optional))
        .unwrap_or_else(|| !property.contains_key("default") && !is_optional_type())
}
