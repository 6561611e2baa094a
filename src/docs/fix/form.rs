//! `parameters` in another form than a schema: missing, text, a list, or a bare map.

use serde_json::{Map, Value, json};

use super::notation;
use super::opinion::{Change, Opinion};
use super::walk::{each_function, each_schema};
use super::{Rule, Safety};
use crate::docs::patch::token;

/// The lists API collections keep their parameters in.
const REQUIRED_LIST: &str = "required_parameters";
const OPTIONAL_LIST: &str = "optional_parameters";
/// Keys that hold parameters in a form no rule reads, where they are still there when the others are done.
const HOLDERS: [&str; 6] = [REQUIRED_LIST, OPTIONAL_LIST, "arguments", "args", "params", "parameter"];
/// Keys of a schema that never name a parameter in a bare map.
const SCHEMA_ONLY: [&str; 9] = [
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
const SCHEMA_PARTS: [&str; 6] = ["properties", "property", "$ref", "anyOf", "oneOf", "allOf"];

pub(super) static PARAMETERS_AS_TEXT: Rule = Rule {
    code: "schema/parameters-as-text",
    what: "`parameters` is JSON inside a string.",
    why: "Some exports write nested objects as text; it is read.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": "{\"type\": \"object\"}"}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": "none"}"#,
    judge: parameters_as_text,
};

fn parameters_as_text(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let Some(before @ Value::String(text)) = function.get("parameters") else { return };
        if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
            opinion.change(Change::at(pointer).replace("parameters", before, inner));
        }
    });
}

pub(super) static MISSING_PARAMETERS: Rule = Rule {
    code: "schema/missing-parameters",
    what: "A function has no `parameters`, or nothing in them.",
    why: "A function that takes nothing says so with an empty schema.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": null}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: missing_parameters,
};

fn missing_parameters(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        // Parameters that cannot be read are not the same as none.
        let held = HOLDERS.iter().any(|key| function.get(*key).is_some_and(|value| !is_nothing(value)));
        if !held && function.get("parameters").is_none_or(is_nothing) {
            let nothing = json!({"type": "dict", "required": [], "properties": {}});
            opinion.change(Change::at(pointer).set(function, "parameters", nothing));
        }
    });
}

pub(super) static SPLIT_PARAMETERS: Rule = Rule {
    code: "schema/split-parameters",
    what: "Required and optional parameters stand in two lists.",
    why: "API collections write them so. They are joined, the first list gives `required`, and a default there is an \
          example, so it goes.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "required_parameters": [{"name": "a", "type": "STRING", "description": "x"}]}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": null}"#,
    judge: split_parameters,
};

fn split_parameters(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let list = |key: &str| function.get(key).and_then(Value::as_array);
        let (required, optional) = (list(REQUIRED_LIST), list(OPTIONAL_LIST));
        if function.contains_key("parameters") || (required.is_none() && optional.is_none()) {
            return;
        }
        let all = required.into_iter().chain(optional).flatten();
        let Some(mut properties) = all.map(named).collect::<Option<Map<_, _>>>() else { return };
        let names: Vec<_> =
            required.into_iter().flatten().map(|parameter| parameter["name"].clone()).collect();
        for name in names.iter().filter_map(Value::as_str) {
            if let Some(Value::Object(property)) = properties.get_mut(name) {
                property.shift_remove("default");
            }
        }
        let mut change = Change::at(pointer);
        for key in [REQUIRED_LIST, OPTIONAL_LIST] {
            if let Some(before) = function.get(key) {
                change = change.remove(key, before);
            }
        }
        let schema = json!({"type": "dict", "required": names, "properties": properties});
        opinion.change(change.add("parameters", schema));
    });
}

pub(super) static PARAMETERS_AS_LIST: Rule = Rule {
    code: "schema/parameters-as-list",
    what: "`parameters` is a list of named parameters.",
    why: "Each becomes a property. The form says nothing about which are required, so all are that have no \
          default and are not called optional: a guess.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": [{"name": "a", "description": "x"}]}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": ["a"]}"#,
    judge: parameters_as_list,
};

fn parameters_as_list(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let Some(before @ Value::Array(list)) = function.get("parameters").filter(|list| **list != json!([]))
        else {
            return;
        };
        if let Some(properties) = list.iter().map(named).collect::<Option<Map<_, _>>>() {
            opinion.change(Change::at(pointer).replace("parameters", before, schema_of(properties)));
        }
    });
}

pub(super) static FLAT_PARAMETERS: Rule = Rule {
    code: "schema/flat-parameters",
    what: "`parameters` maps names to types, descriptions or schemas, without a schema around them.",
    why: "The map becomes `properties`. All are required that have no default and are not called optional: a guess.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": {"type": "str", "description": "x"}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "object"}}"#,
    judge: flat_parameters,
};

fn flat_parameters(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let flat = function.get("parameters").filter(|parameters| is_flat(parameters));
        let Some(before @ Value::Object(map)) = flat else { return };
        let properties = map
            .iter()
            .filter(|(key, value)| is_parameter(map, key, value))
            .map(|(key, value)| (key.clone(), as_schema(value)))
            .collect();
        let mut schema = schema_of(properties);
        if let Some(required @ Value::Array(_)) = map.get("required") {
            schema["required"] = required.clone();
        }
        if let Some(definitions) = map.get("$defs") {
            schema["$defs"] = definitions.clone();
        }
        opinion.change(Change::at(pointer).replace("parameters", before, schema));
    });
}

pub(super) static PROPERTY_AS_TEXT: Rule = Rule {
    code: "schema/property-as-text",
    what: "A property is a word instead of a schema.",
    why: "A type's name is taken as the type, any other text as the description.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"a": "integer"}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"a": 7}}}"#,
    judge: property_as_text,
};

fn property_as_text(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, member) in members.filter(|(_, member)| member.is_string()) {
            let key = format!("properties/{}", token(name));
            opinion.change(Change::at(site.pointer).replace(&key, member, as_schema(member)));
        }
    });
}

/// Whether a value stands for no parameters.
pub(super) fn is_nothing(value: &Value) -> bool {
    value.is_null() || *value == json!("") || *value == json!([])
}

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

fn is_parameter(parameters: &Map<String, Value>, key: &str, value: &Value) -> bool {
    let declared = parameters.get("type").is_some_and(is_dict_type);
    let about_schema = key == "type" || ["title", "description"].contains(&key) && value.is_string();
    let schema_only = SCHEMA_ONLY.contains(&key) && !(key == "required" && value.is_object());
    !(schema_only || declared && about_schema)
}

fn is_dict_type(value: &Value) -> bool {
    value.as_str().and_then(notation::read).is_some_and(|notation| notation.kind == "dict")
}

/// The parameter's name and its schema without the name.
fn named(parameter: &Value) -> Option<(String, Value)> {
    let mut schema = parameter.as_object()?.clone();
    match schema.shift_remove("name")? {
        Value::String(name) if !name.is_empty() => Some((name, Value::Object(schema))),
        _ => None,
    }
}

/// A property's text as a schema.
fn as_schema(value: &Value) -> Value {
    match value {
        Value::String(text) if notation::read(text).is_some() => json!({"type": text}),
        Value::String(text) => json!({"description": text}),
        other => other.clone(),
    }
}

/// A schema of these properties; per-parameter marks turn into the list of required ones.
fn schema_of(mut properties: Map<String, Value>) -> Value {
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

fn is_required(property: &Map<String, Value>) -> bool {
    let mark = |key: &str| property.get(key).and_then(Value::as_bool);
    let is_optional_type = || {
        let kind = property.get("type").and_then(Value::as_str);
        kind.and_then(notation::read).is_some_and(|notation| notation.optional)
    };
    mark("required")
        .or_else(|| mark("optional").map(|optional| !optional))
        .unwrap_or_else(|| !property.contains_key("default") && !is_optional_type())
}
