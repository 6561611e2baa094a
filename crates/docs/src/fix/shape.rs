//! `parameters` that are not a schema: lists, and bare maps of parameters.
//!
//! `form` distinguishes them from schemas. They do not state which of their parameters are required, so this is read
//! from defaults and marks.

use serde_json::{Map, Value, json};

use super::convention::Convention;
use super::form::is_schema_word;
use super::keys::DESCRIPTION;
use super::wording::{calls_optional, default, says_optional, says_required};
use super::{marks, notation, prose};

/// The lists in which API collections have their parameters.
pub(super) const REQUIRED_LIST: &str = "required_parameters";

pub(super) const OPTIONAL_LIST: &str = "optional_parameters";

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
    let could_be_member = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Object(inner) => !inner.is_empty(),
        _ => false,
    };
    !members.is_empty()
        && !members.keys().any(|key| is_schema_word(key))
        && members.values().all(could_be_member)
}

/// Returns a schema of these properties. Its list of required names has the parameters without any statement; marks of
/// single parameters and statements in descriptions are left to rules that handle one parameter at a time.
///
/// If the list of functions marks required parameters, unmarked ones are optional. Without a list of required names,
/// `nullable` marks an optional parameter.
pub(super) fn schema_of(properties: &Map<String, Value>, convention: Convention) -> Value {
    let only_marked = convention == Convention::Required;
    let is_required = |property: &Value| match property.as_object() {
        Some(schema) if marks::of(schema).is_none() => {
            says_required(described(schema)) || !only_marked && !is_nullable(schema) && has_no_way_out(schema)
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

fn is_nullable(property: &Map<String, Value>) -> bool {
    property.get("nullable").is_some_and(|value| *value == true || *value == "true" || *value == "True")
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

pub(super) fn described(property: &Map<String, Value>) -> &str {
    property.get(DESCRIPTION).and_then(Value::as_str).unwrap_or_default()
}
