//! The value of a parameter in strict mode: right by the documentation of the leaderboard, where the official code
//! surprises.
//!
//! - Types are checked at every level against the doc; a tuple is a list, and an integer is a float, at every level.
//! - A value of another type counts if an alternative of that type equals it, in any order of the alternatives.
//! - Texts are compared without case and punctuation at every level; a boolean never equals a number.
//! - `""` in the ground truth means that the parameter may be missing. As a value it stands for `""` only.
//! - Alternatives are lists at every level; a nested dict may have plain values too.

use serde_json::Value;

use super::values::standardized;
use crate::value::{PyDict, PyValue};
use crate::verdict::{ErrorType, Failure};

/// Checks a value against its doc and its alternatives.
pub(super) fn check(
    name: &str,
    schema: &Value,
    value: &PyValue,
    alternatives: &[PyValue],
) -> Result<(), Box<Failure>> {
    if alternatives.iter().any(|alternative| is_accepted(value, alternative)) {
        let is_in_doc_type = fits(schema, value);
        if is_in_doc_type || is_of_other_type(schema, value) {
            return Ok(());
        }
        return Err(Box::new(failure(
            ErrorType::TypeNested,
            name,
            value,
            "a nested value contradicts the doc",
        )));
    }
    let declared = schema["type"].as_str().unwrap_or_default();
    if !fits(schema, value) {
        let error_type =
            if is_of_other_type(schema, value) { ErrorType::TypeSimple } else { ErrorType::TypeNested };
        return Err(Box::new(failure(error_type, name, value, &format!("expected type {declared}"))));
    }
    let error_type = match value {
        PyValue::Str(_) => ErrorType::ValueString,
        PyValue::List(_) | PyValue::Tuple(_) => ErrorType::ValueList,
        PyValue::Dict(_) => ErrorType::ValueDictValue,
        _ => ErrorType::ValueOthers,
    };
    Err(Box::new(failure(error_type, name, value, "no alternative equals it")))
}

fn failure(error_type: ErrorType, name: &str, value: &PyValue, detail: &str) -> Failure {
    let message =
        format!("Invalid value for parameter {}: {}: {detail}.", PyValue::text(name).repr(), value.repr());
    Failure { error_type, errors: vec![message.into()] }
}

/// Returns whether the outer type is another one than the doc declares.
fn is_of_other_type(schema: &Value, value: &PyValue) -> bool {
    !fits(&serde_json::json!({"type": schema["type"]}), value)
}

/// Returns whether a value has the declared type, at every level that the doc describes.
fn fits(schema: &Value, value: &PyValue) -> bool {
    let Some(declared) = schema.get("type").and_then(Value::as_str) else { return true };
    match (declared, value) {
        ("any", _)
        | ("string", PyValue::Str(_))
        | ("integer", PyValue::Int(_))
        | ("float", PyValue::Int(_) | PyValue::Float(_))
        | ("boolean", PyValue::Bool(_)) => true,
        ("array" | "tuple", PyValue::List(elements) | PyValue::Tuple(elements)) => {
            schema.get("items").is_none_or(|items| elements.iter().all(|element| fits(items, element)))
        }
        ("dict", PyValue::Dict(members)) => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => members.iter().all(|(key, value)| {
                let property = key.as_str().and_then(|key| properties.get(key));
                property.is_none_or(|property| fits(property, value))
            }),
            None => true,
        },
        _ => false,
    }
}

/// Returns whether a value equals an alternative.
fn is_accepted(value: &PyValue, alternative: &PyValue) -> bool {
    match (value, alternative) {
        (PyValue::Str(value), PyValue::Str(alternative)) => {
            // A text of punctuation alone is not `""`.
            value == alternative
                || (!alternative.is_empty() && standardized(value) == standardized(alternative))
        }
        (PyValue::Bool(_), other) | (other, PyValue::Bool(_)) if !matches!(other, PyValue::Bool(_)) => false,
        (PyValue::List(values) | PyValue::Tuple(values), PyValue::List(alternatives)) => {
            values.len() == alternatives.len()
                && values.iter().zip(alternatives).all(|(value, alternative)| is_accepted(value, alternative))
        }
        (PyValue::Dict(members), PyValue::Dict(alternative)) => is_accepted_dict(members, alternative),
        _ => value.equals(alternative),
    }
}

fn is_accepted_dict(members: &PyDict, alternative: &PyDict) -> bool {
    let is_known = members.iter().all(|(key, value)| {
        alternative.get(key).is_some_and(|accepted| match accepted {
            // A list of alternatives, or a plain list.
            PyValue::List(list) => {
                list.iter().any(|one| is_accepted(value, one)) || is_accepted(value, accepted)
            }
            plain => is_accepted(value, plain),
        })
    });
    is_known
        && alternative.iter().all(|(key, accepted)| {
            let may_be_missing =
                accepted.as_list().is_some_and(|list| list.iter().any(PyValue::is_omitted_marker));
            may_be_missing || members.get(key).is_some()
        })
}
