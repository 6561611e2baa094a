//! `parameters` that are not a schema: lists, and bare maps of parameters.
//!
//! A bare map is distinguished from a schema by the keys it lacks. It does not state which of its parameters are
//! required, so this is read from defaults and marks.

use serde_json::{Map, Value, json};

use super::keys::{DESCRIPTION, SCHEMA, aliases, keywords};
use super::wording::{calls_optional, default, says_optional, says_required};
use super::{marks, notation, prose};
use crate::combining::SUBSTITUTES;
use callsieve_bfcl::types::Type;

/// The lists in which API collections have their parameters.
pub(super) const REQUIRED_LIST: &str = "required_parameters";

pub(super) const OPTIONAL_LIST: &str = "optional_parameters";

/// Keys of a schema that are never the name of a parameter in a bare map.
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

/// Returns true for keys that only a schema has: `properties` under both names, and keys that replace a schema.
fn is_schema_part(key: &str) -> bool {
    ["properties", "property"].contains(&key) || SUBSTITUTES.contains(&key)
}

/// Returns true if `parameters` is a bare map of parameters: it has none of a schema's own keys, and every key could be
/// the name of a parameter.
pub(crate) fn is_flat(parameters: &Value) -> bool {
    let Value::Object(parameters) = parameters else { return false };
    if parameters.keys().any(|key| is_schema_part(key)) || describes_list(parameters) {
        return false;
    }
    // If the map declares itself a schema, its texts are about the schema.
    let declared = declares_dict(parameters);
    let mut members =
        parameters.iter().filter(|(key, value)| is_parameter(parameters, key, value)).peekable();
    members.peek().is_some()
        && members.all(|(_, value)| value.is_object() || (!declared && value.is_string()))
}

/// Returns true if a map is the schema of a list, which is never the parameters of a function.
fn describes_list(parameters: &Map<String, Value>) -> bool {
    let kind = parameters.get("type").and_then(Value::as_str).and_then(notation::read);
    !parameters.contains_key("properties")
        && kind.is_some_and(|notation| notation.kind == Type::Array)
        && parameters.get("items").is_some_and(Value::is_object)
}

/// Returns true if `parameters` is not a schema of parameters: the schema of a list, or the arguments of a call, in
/// which no key is a word of a schema and at least one value cannot be in a bare map.
pub(super) fn is_arguments(parameters: &Value) -> bool {
    let Value::Object(members) = parameters else { return false };
    let is_word = |key: &String| {
        let key = key.as_str();
        is_schema_part(key)
            || SCHEMA_ONLY.contains(&key)
            || ["type", "type_", "title", "description", "strict", "items"].contains(&key)
    };
    let is_call = !members.is_empty() && !members.keys().any(is_word) && !is_flat(parameters);
    is_call || describes_list(members)
}

/// Returns true if a value in a bare map states the kind of the parameter.
pub(super) fn says_kind(value: &Value) -> bool {
    value.is_object() || value.as_str().is_some_and(|text| notation::read(text).is_some())
}

pub(super) fn is_parameter(parameters: &Map<String, Value>, key: &str, value: &Value) -> bool {
    let declared = declares_dict(parameters);
    let about_schema =
        ["type", "type_"].contains(&key) || ["title", "description"].contains(&key) && value.is_string();
    let schema_only = SCHEMA_ONLY.contains(&key) && !(key == "required" && value.is_object());
    !(schema_only || declared && about_schema)
}

fn declares_dict(parameters: &Map<String, Value>) -> bool {
    let words = ["type", "type_"].into_iter().filter_map(|key| parameters.get(key)?.as_str());
    words.filter_map(notation::read).any(|notation| notation.kind == Type::Dict)
}

/// Keys with a parameter's name in a list of parameters.
const NAME_KEYS: [&str; 5] = ["name", "param_name", "parameter_name", "parameter", "param"];

/// Returns the parameter's name, and its schema without the name.
fn named(parameter: &Value) -> Option<(String, Value)> {
    let mut schema = parameter.as_object()?.clone();
    let key = NAME_KEYS.into_iter().find(|key| schema.contains_key(*key))?;
    let Value::String(name) = schema.shift_remove(key)? else { return None };
    // Descriptions of web requests have the type one level deeper.
    if let Some(Value::Object(inner)) = schema.get("schema").cloned() {
        schema.shift_remove("schema");
        for (key, value) in inner {
            schema.entry(key).or_insert(value);
        }
    }
    (!name.is_empty()).then_some((name, Value::Object(schema)))
}

/// Returns the parameters of a list by name; `None` if one has no name, or two have the same and one would be lost.
pub(super) fn named_all<'p>(list: impl IntoIterator<Item = &'p Value>) -> Option<Map<String, Value>> {
    let mut all = Map::new();
    for parameter in list {
        let (name, schema) = named(parameter)?;
        if all.insert(name, schema).is_some() {
            return None;
        }
    }
    Some(all)
}

/// Returns a property as a schema; it may be a text, or a bare map of properties.
pub(super) fn as_schema(value: &Value) -> Value {
    match value {
        Value::String(text) => prose::schema(text),
        Value::Object(members) if is_bare_map(members) => {
            let members = members.iter().map(|(name, member)| (name.clone(), as_schema(member)));
            json!({"type": "dict", "properties": members.collect::<Map<_, _>>()})
        }
        other => other.clone(),
    }
}

/// Returns true if an object in place of a parameter has no word of a schema, and every value could be a property.
fn is_bare_map(members: &Map<String, Value>) -> bool {
    let is_word = |key: &String| {
        let key = key.as_str();
        SCHEMA.contains(&key) || SCHEMA_ONLY.contains(&key) || is_schema_part(key) || is_other_word(key)
    };
    let could_be_member = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Object(inner) => !inner.is_empty(),
        _ => false,
    };
    !members.is_empty() && !members.keys().any(is_word) && members.values().all(could_be_member)
}

/// Returns true if a key is an alias of a schema's key, or a keyword of other schemas.
fn is_other_word(key: &str) -> bool {
    const OTHERS: [&str; 5] = ["title", "elements", "example", "nullable", "in"];
    OTHERS.contains(&key)
        || aliases().any(|alias| alias == key)
        || keywords().any(|keyword| keyword == key)
        || marks::is_word(key)
}

/// Returns a schema of these properties. Its list of required names has the parameters without any statement; marks of
/// single parameters and statements in descriptions are left to rules that handle one parameter at a time.
///
/// If a parameter is marked as required, unmarked ones are not, unless their description states it.
pub(super) fn schema_of(properties: &Map<String, Value>) -> Value {
    let mark = |property: &Value| property.as_object().and_then(marks::of);
    let only_marked = properties.values().any(|property| mark(property) == Some(true));
    let is_required = |property: &Value| match property.as_object() {
        Some(schema) if marks::of(schema).is_none() => {
            says_required(described(schema)) || !only_marked && has_no_way_out(schema)
        }
        _ => false,
    };
    let required: Vec<_> = properties
        .iter()
        .filter(|(_, property)| is_required(property))
        .map(|(name, _)| json!(name))
        .collect();
    json!({"type": "dict", "required": required, "properties": properties})
}

/// Returns true if nothing describes a call without the parameter.
pub(super) fn has_no_way_out(property: &Map<String, Value>) -> bool {
    let kind = property.get("type").and_then(Value::as_str);
    let is_optional_type = kind.and_then(notation::read).is_some_and(|notation| notation.optional);
    let is_called_optional = calls_optional(described(property)) && !is_stated_optional(property);
    !DEFAULTS.iter().any(|key| property.contains_key(*key))
        && !is_optional_type
        && !is_called_optional
        && !default::is_named(described(property))
}

/// Returns true if the description states that the parameter is optional.
pub(super) fn is_stated_optional(property: &Map<String, Value>) -> bool {
    says_optional(described(property))
}

/// Keys with a default.
const DEFAULTS: [&str; 4] = ["default", "default_value", "defaultValue", "default_expression"];

fn described(property: &Map<String, Value>) -> &str {
    property.get(DESCRIPTION).and_then(Value::as_str).unwrap_or_default()
}
