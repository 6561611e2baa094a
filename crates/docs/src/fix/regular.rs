//! Checks in one walk if a function has the regular form of an official one.
//!
//! Most rules look for something missing or misplaced, and would visit every schema in vain. A function that is regular
//! by this check breaks none of these rules, which the tests verify against the rules themselves; any other may still
//! be valid and is visited. Rules about the values of `default` and `enum` have their own cues.

use serde_json::{Map, Value};

use super::keys::{FUNCTION, PARAMETERS};
use super::names::{MAX_NAME_CHARS, is_function_name, is_parameter_name};
use super::values::mentions_default;
use super::wording::default::noted;
use super::wording::says_optional;
use callsieve_bfcl::types::Type;

/// The maximum length of a list of required parameters in this check, which searches it for each of them.
const MAX_REQUIRED: usize = 32;

/// Returns true if a function has its three keys in order, and nothing in it is missing, odd or superfluous.
pub(super) fn is_regular(function: &Value) -> bool {
    let Value::Object(function) = function else { return false };
    function.keys().eq(FUNCTION) && function.iter().all(|(key, value)| is_regular_part(key, value))
}

fn is_regular_part(key: &str, value: &Value) -> bool {
    match (key, value) {
        ("name", Value::String(name)) => name.len() <= MAX_NAME_CHARS && is_function_name(name),
        ("parameters", Value::Object(parameters)) => are_regular_parameters(parameters),
        ("description", text) => says_something(text),
        _ => false,
    }
}

fn are_regular_parameters(parameters: &Map<String, Value>) -> bool {
    let [Some(kind), Some(Value::Array(required)), Some(Value::Object(properties))] =
        PARAMETERS.map(|key| parameters.get(key))
    else {
        return false;
    };
    parameters.len() == PARAMETERS.len()
        && kind == "dict"
        && are_names_of(required, properties)
        && properties.iter().all(|(name, property)| is_regular_parameter(name, property, required))
}

/// Returns true if all required parameters exist and are listed once.
fn are_names_of(required: &[Value], properties: &Map<String, Value>) -> bool {
    let is_new = |(n, name): (usize, &Value)| !required[..n].contains(name);
    required.len() <= MAX_REQUIRED
        && required.iter().all(|name| name.as_str().is_some_and(|name| properties.contains_key(name)))
        && required.iter().enumerate().all(is_new)
}

fn is_regular_parameter(name: &str, property: &Value, required: &[Value]) -> bool {
    let Value::Object(schema) = property else { return false };
    let described = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let has_way_out =
        || schema.contains_key("default") || mentions_default(schema) && noted(schema).is_none();
    let is_settled =
        if required.iter().any(|listed| listed == name) { !says_optional(described) } else { has_way_out() };
    is_parameter_name(name) && is_regular_member(property) && is_settled
}

/// Returns true if a parameter or a property of a dict is a regular schema with a description.
fn is_regular_member(member: &Value) -> bool {
    let Value::Object(schema) = member else { return false };
    schema.keys().any(|key| key == "description") && is_regular_schema(schema)
}

fn is_regular_schema(schema: &Map<String, Value>) -> bool {
    let mut kind = None;
    for (key, value) in schema {
        let fits = match (key.as_str(), value) {
            ("type", Value::String(word)) => {
                kind = Type::named(word);
                kind.is_some()
            }
            ("description", text) => says_something(text),
            ("items", Value::Object(items)) => is_regular_schema(items),
            ("properties", Value::Object(members)) => members.values().all(is_regular_member),
            ("enum", Value::Array(_)) | ("default", _) => true,
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    kind.is_some_and(|kind| needed_part(kind).is_none_or(|part| schema.contains_key(part)))
}

/// Returns the key that a schema of this type needs.
fn needed_part(kind: Type) -> Option<&'static str> {
    match kind {
        Type::Array | Type::Tuple => Some("items"),
        Type::Dict => Some("properties"),
        _ => None,
    }
}

fn says_something(text: &Value) -> bool {
    text.as_str().is_some_and(|text| !text.trim_start().is_empty())
}
