//! The form of `parameters`: a schema, a bare map of parameters, or neither for certain.
//!
//! A bare map (`{"city": {"type": "str"}}`) is distinguished from a schema by the keys it lacks. Its parameters may also
//! be called like words of a schema (`properties`, `type`, `$ref`). The value decides then: a parameter has a type that
//! is a text, and the `properties` of a schema are a map of schemas. If a map can be read in both ways, no rule edits
//! it, and it is reported: a wrong guess would lose parameters.

use serde_json::{Map, Value};

use super::keys::{DESCRIPTION, SCHEMA, aliases, keywords};
use super::{marks, notation};
use crate::combining::SUBSTITUTES;
use callsieve_bfcl::types::Type;

/// What `parameters` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A schema, or an object that no rule takes for a map of parameters.
    Schema,
    /// A map from names to parameters.
    Flat,
    /// A schema or a bare map; which of them is not certain.
    Unclear,
}

/// Keys of a schema that are the name of a parameter only if their value describes one.
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

/// Keys under which a schema may have an object that looks like a parameter.
const HOLD_SCHEMAS: [&str; 20] = [
    "$defs",
    "definitions",
    "additionalProperties",
    "additionalItems",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "dependencies",
    "dependentSchemas",
    "items",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "const",
    "default",
    "example",
    "examples",
    "xml",
];

/// Keys about a function and its results, which some docs have beside the properties.
const ABOUT_RESULTS: [&str; 12] = [
    "returns",
    "return",
    "response",
    "responses",
    "output",
    "outputs",
    "result",
    "results",
    "output_schema",
    "outputSchema",
    "externalDocs",
    "discriminator",
];

/// Keys of a schema whose value is a text, or a list of names, and never an object.
const NEVER_OBJECTS: [&str; 5] = ["type", "type_", "title", "description", "required"];

/// Keys for the type of a parameter.
const TYPES: [&str; 4] = ["type", "type_", "data_type", "dataType"];

/// Keys for the description of a parameter.
const DESCRIPTIONS: [&str; 3] = [DESCRIPTION, "desc", "summary"];

/// Returns true for keys that only a schema has: `properties` under both names, and keys that replace a schema.
fn is_schema_part(key: &str) -> bool {
    is_properties(key) || SUBSTITUTES.contains(&key)
}

fn is_properties(key: &str) -> bool {
    ["properties", "property"].contains(&key)
}

/// Returns true if `parameters` is a bare map of parameters.
pub(crate) fn is_flat(parameters: &Value) -> bool {
    of(parameters) == Form::Flat
}

/// Returns true if rules for schemas may edit `parameters`.
pub(super) fn is_schema(parameters: &Value) -> bool {
    of(parameters) == Form::Schema && !is_arguments(parameters)
}

/// Returns the form of `parameters`.
pub(super) fn of(parameters: &Value) -> Form {
    let Value::Object(parameters) = parameters else { return Form::Schema };
    if describes_list(parameters) {
        return Form::Schema;
    }
    let declared = declares_dict(parameters);
    let has_parts = parameters.keys().any(|key| is_schema_part(key));
    match (has_parts, declared) {
        (false, _) if are_parameters(parameters, declared) => Form::Flat,
        (false, _) | (true, true) => Form::Schema,
        (true, false) => form_with_parts(parameters),
    }
}

/// Returns true if every key could be the name of a parameter, and every value a parameter.
fn are_parameters(parameters: &Map<String, Value>, declared: bool) -> bool {
    let mut members =
        parameters.iter().filter(|(key, value)| is_parameter(parameters, key, value)).peekable();
    // If the map declares itself a schema, its texts are about the schema.
    members.peek().is_some()
        && members.all(|(_, value)| value.is_object() || (!declared && value.is_string()))
}

/// Returns the form of a map with a key that only schemas have, and without a type that declares it a schema.
fn form_with_parts(parameters: &Map<String, Value>) -> Form {
    let parts = || parameters.iter().filter(|(key, _)| is_schema_part(key));
    let n_parameters = parts().filter(|(key, value)| is_parameter_called(key, value)).count();
    if n_parameters == 0 {
        let is_odd = |(key, value): (&String, &Value)| {
            NEVER_OBJECTS.contains(&key.as_str()) && describes_parameter(value)
        };
        return if parameters.iter().any(is_odd) { Form::Unclear } else { Form::Schema };
    }
    let confirmed = is_confirmed(parameters);
    let is_framed = is_framed(parameters);
    let could_be_schema = parts().all(|(_, value)| !value.is_string());
    if could_be_schema && !confirmed && (requires_members(parameters) || is_framed) {
        return Form::Schema;
    }
    let is_certain = confirmed || parts().all(|(_, value)| is_certain(value));
    let is_doubtful = is_framed || requires_members(parameters) || n_parameters < parts().count();
    if is_certain && !is_doubtful && are_parameters(parameters, false) { Form::Flat } else { Form::Unclear }
}

/// Returns true if the value under a key that only schemas have is a parameter, as far as the value shows.
fn is_parameter_called(key: &str, value: &Value) -> bool {
    match value {
        Value::Object(_) => describes_parameter(value),
        Value::String(text) if is_properties(key) => !text.trim_start().starts_with(['{', '[']),
        Value::String(text) => notation::read(text).is_some(),
        _ => false,
    }
}

/// Returns true if another member shows that a map with `properties` is a map of parameters: one that is a parameter
/// itself, or a list of required names with it.
fn is_confirmed(parameters: &Map<String, Value>) -> bool {
    let is_sibling = |(key, value): &(&String, &Value)| match value {
        Value::Object(_) => !HOLD_SCHEMAS.contains(&key.as_str()) && describes_parameter(value),
        Value::String(text) => !is_schema_word(key) && notation::read(text).is_some(),
        _ => false,
    };
    let names = required_names(parameters);
    let mut listed = parameters.keys().filter(|key| names.contains(&key.as_str()));
    let replaces = |(key, value): (&String, &Value)| SUBSTITUTES.contains(&key.as_str()) && value.is_object();
    let n_properties = parameters.keys().filter(|key| is_properties(key)).count();
    parameters.iter().filter(|(key, _)| !is_properties(key)).any(|member| is_sibling(&member))
        || n_properties > 1
        || parameters.iter().any(replaces)
        || listed.any(|key| is_properties(key))
}

/// Returns true if the list of required names has members of `properties`, and `properties` itself is not in it.
fn requires_members(parameters: &Map<String, Value>) -> bool {
    let names = required_names(parameters);
    let members =
        parameters.iter().filter(|(key, _)| is_properties(key)).find_map(|(_, all)| all.as_object());
    members.is_some_and(|members| {
        names.iter().any(|name| members.contains_key(*name) && !parameters.contains_key(*name))
    })
}

fn required_names(parameters: &Map<String, Value>) -> Vec<&str> {
    parameters
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Returns true if a map has keys about a whole schema.
fn is_framed(parameters: &Map<String, Value>) -> bool {
    let is_text_about = |key: &str| {
        parameters.get(key).and_then(Value::as_str).is_some_and(|text| notation::read(text).is_none())
    };
    ["$schema", "$id", "title", DESCRIPTION].into_iter().any(is_text_about)
        || parameters.get("additionalProperties").is_some_and(Value::is_boolean)
}

/// Returns true if a value describes a parameter even without siblings: it has a type, and a description or another
/// part that a map of two types could not have.
fn is_certain(value: &Value) -> bool {
    let Value::Object(schema) = value else { return false };
    let is_prose = |key: &str| {
        let text = schema.get(key).and_then(Value::as_str);
        text.is_some_and(|text| notation::read(text).is_none() && text.trim().contains(' '))
    };
    let is_typed = TYPES.iter().any(|key| {
        schema
            .get(*key)
            .is_some_and(|kind| kind.is_array() || kind.as_str().and_then(notation::read).is_some())
    });
    let has_part = || schema.values().any(|part| !part.is_object() && !part.is_string());
    is_typed && (DESCRIPTIONS.into_iter().any(is_prose) || has_part())
}

/// Returns true if an object is the schema of one parameter: it has only words of a schema, a type or a description, and
/// none of the texts of a schema is an object.
pub(crate) fn describes_parameter(value: &Value) -> bool {
    let Value::Object(schema) = value else { return false };
    let is_text = |key: &str| TYPES.contains(&key) || DESCRIPTIONS.contains(&key);
    let fits = |(key, value): (&String, &Value)| {
        is_schema_word(key)
            && !(value.is_object()
                && (is_text(key) || NEVER_OBJECTS.contains(&key.as_str()) || marks::is_word(key)))
    };
    schema.keys().any(|key| is_text(key)) && schema.iter().all(fits)
}

/// Returns true if a key is a word of a schema, in any spelling, or a keyword of other schemas.
pub(super) fn is_schema_word(key: &str) -> bool {
    const OTHERS: [&str; 15] = [
        "title",
        "elements",
        "example",
        "nullable",
        "in",
        "readOnly",
        "writeOnly",
        "deprecated",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "propertyNames",
        "contentEncoding",
        "contentMediaType",
        "$comment",
    ];
    SCHEMA.contains(&key)
        || SCHEMA_ONLY.contains(&key)
        || is_schema_part(key)
        || OTHERS.contains(&key)
        || aliases().any(|alias| alias == key)
        || keywords().any(|keyword| keyword == key)
        || marks::is_word(key)
}

/// Returns true if a key beside `properties` is not a word of a schema or of a function, and its value has a type or a
/// description like a parameter: no rule may drop it.
pub(super) fn is_stray_parameter(key: &str, value: &Value) -> bool {
    // A word of a schema whose value is a whole parameter cannot be meant as that word.
    let is_meant = |key: &str| is_schema_part(key) || key == "required" || !describes_parameter(value);
    let is_other = |key: &str| {
        is_schema_word(key) && is_meant(key)
            || HOLD_SCHEMAS.contains(&key)
            || ABOUT_RESULTS.contains(&key)
            || key.starts_with("x-")
    };
    let says = |part: &&str| value.get(part).is_some_and(|part| part.is_string() || part.is_array());
    value.is_object() && !is_other(key) && TYPES.iter().chain(&DESCRIPTIONS).any(says)
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
fn is_arguments(parameters: &Value) -> bool {
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

/// Returns true if a member of a bare map is a parameter, not a part of a schema beside them.
pub(super) fn is_parameter(parameters: &Map<String, Value>, key: &str, value: &Value) -> bool {
    let declared = || declares_dict(parameters);
    if SCHEMA_ONLY.contains(&key) {
        let is_described = || value.as_object().is_some_and(|schema| schema.contains_key(DESCRIPTION));
        let may_hold_one = key.starts_with('$') || key == "additionalProperties" && !is_described();
        return value.is_object()
            && (key == "required" || !may_hold_one && describes_parameter(value) && !declared());
    }
    let about_schema =
        ["type", "type_"].contains(&key) || ["title", "description"].contains(&key) && value.is_string();
    !(about_schema && declared())
}

fn declares_dict(parameters: &Map<String, Value>) -> bool {
    let words = ["type", "type_"].into_iter().filter_map(|key| parameters.get(key)?.as_str());
    words.filter_map(notation::read).any(|notation| notation.kind == Type::Dict)
}
