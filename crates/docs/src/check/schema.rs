//! Validates functions against the JSON Schema in `configs/` and reports findings.
//!
//! The schema has the reason code next to each keyword, so the file alone defines the checks. It is compiled once and
//! never fetches anything. A bare map of parameters is one finding, not one for each key.

use std::sync::LazyLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::Findings;
use crate::fix::form::is_flat;
use crate::fix::notation;
use crate::fix::values::{brief, is_nothing};
use crate::json_type;
use crate::patch::push_token;

/// The schema, from `configs/`.
pub const SCHEMA: &str = include_str!("../../../../configs/bfcl_function.schema.json");

/// The key of the schema under which the reason codes are.
const REASONS: &str = "x-reasons";

static COMPILED: LazyLock<(Value, Validator)> = LazyLock::new(|| {
    let schema = serde_json::from_str(SCHEMA).expect("the schema is compiled in and valid JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is compiled in and valid");
    (schema, validator)
});

pub(super) fn check(functions: &[Value], findings: &mut Findings) {
    let (schema, validator) = &*COMPILED;
    for (n, function) in functions.iter().enumerate().filter(|(_, function)| !validator.is_valid(function)) {
        let flat = function.get("parameters").filter(|parameters| is_flat(parameters));
        if let Some(parameters) = flat {
            let at = format!("/{n}/parameters");
            findings.add("schema/flat-parameters", at, brief(parameters), "type, required and properties");
        }
        for error in validator.iter_errors(function) {
            if flat.is_none() || !error.instance_path().as_str().starts_with("/parameters") {
                report(schema, function, &format!("/{n}"), &error, findings);
            }
        }
    }
}

/// Turns one validation error into findings: one for each unexpected key, otherwise one.
fn report(schema: &Value, function: &Value, at: &str, error: &ValidationError<'_>, findings: &mut Findings) {
    let at = format!("{at}{}", error.instance_path().as_str());
    let (place, keyword) = error.schema_path().as_str().rsplit_once('/').unwrap_or_default();
    let reasons = schema.pointer(place).and_then(|place| place.get(REASONS)).and_then(|all| all.get(keyword));
    let code = |sub: &str| code(reasons, sub);
    let expected = |key: &str| format!("{key:?}");
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            findings.add(code(key), at, format!("no {key:?}"), expected(key));
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            for key in unexpected {
                let mut at = at.clone();
                at.push('/');
                push_token(&mut at, key);
                let value = function.pointer(&at[at[1..].find('/').map_or(at.len(), |end| end + 1)..]);
                let code = refined(code(key), &at, value.unwrap_or(&Value::Null));
                findings.add(code, at, format!("the key {key:?}"), expected_keys(schema, place));
            }
        }
        _ => {
            let found = error.instance();
            let code = refined(code(json_type::word(found)), &at, found);
            findings.add(code, at, brief(found), wanted(schema, error.schema_path().as_str(), keyword));
        }
    }
}

/// Returns the code next to a keyword, for a key or a type.
fn code<'s>(reasons: Option<&'s Value>, sub: &str) -> &'s str {
    let code = match reasons {
        Some(Value::Object(codes)) => codes.get(sub).or_else(|| codes.get("")),
        other => other,
    };
    code.and_then(Value::as_str).unwrap_or("schema/unreadable-property")
}

/// Refines a code where the schema cannot decide: whether a type can be translated, which of two meanings a key has.
fn refined<'c>(code: &'c str, at: &str, found: &Value) -> &'c str {
    match (code, found) {
        ("schema/type-synonym", Value::String(text))
            if notation::read(text).is_none_or(|read| read.lossy) =>
        {
            "schema/unknown-type"
        }
        ("schema/several-types", Value::Array(types))
            if types.len() < 3 && types.iter().any(|t| *t == "null") =>
        {
            "schema/nullable-type"
        }
        ("schema/unreadable-property", Value::Array(_)) if at.ends_with("/properties/required") => {
            "schema/required-among-properties"
        }
        ("schema/nested-required", Value::Bool(_)) => "schema/required-per-parameter",
        ("schema/parameters-as-text" | "schema/parameters-as-list", found) if is_nothing(found) => {
            "schema/missing-parameters"
        }
        ("schema/parameters-as-text", Value::String(text)) if !text.trim_start().starts_with(['{', '[']) => {
            "schema/unreadable-parameters"
        }
        ("schema/parameters-as-list", Value::Array(list)) if !list.iter().all(Value::is_object) => {
            "schema/unreadable-parameters"
        }
        (code, _) => code,
    }
}

/// Returns the keys that the schema allows at a place, as text.
fn expected_keys(schema: &Value, place: &str) -> String {
    let keys = schema.pointer(place).and_then(|place| place.get("properties")).and_then(Value::as_object);
    let keys: Vec<&str> = keys.into_iter().flat_map(|keys| keys.keys()).map(String::as_str).collect();
    format!("only {}", keys.join(", "))
}

/// Returns what a keyword requires, as text.
fn wanted(schema: &Value, path: &str, keyword: &str) -> String {
    let asked = schema.pointer(path);
    match (keyword, asked) {
        ("type", Some(Value::String(kind))) => format!("a JSON {kind}"),
        ("enum", Some(Value::Array(words))) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            format!("one of {}", words.join(", "))
        }
        ("uniqueItems", _) => "each name once".to_owned(),
        ("not", Some(Value::Object(not))) if not.is_empty() => "no such key at this type".to_owned(),
        ("not", _) => "\"dict\"".to_owned(),
        _ => "a non-blank text".to_owned(),
    }
}

#[cfg(test)]
pub(super) fn codes_of_the_schema() -> Vec<String> {
    fn collect(value: &Value, codes: &mut Vec<String>) {
        match value {
            Value::String(code) if code.starts_with("schema/") => codes.push(code.clone()),
            Value::Object(map) => map.values().for_each(|value| collect(value, codes)),
            Value::Array(list) => list.iter().for_each(|value| collect(value, codes)),
            _ => {}
        }
    }
    let mut codes = Vec::new();
    collect(&COMPILED.0, &mut codes);
    codes
}
