//! Names of the JSON types, for schemas and for messages.

use serde_json::Value;

/// Returns the JSON Schema word for the type of a value; integers are `number`.
pub(super) fn word(value: &Value) -> &'static str {
    names(value).0
}

/// Returns the type of a value with its article, for messages.
pub fn phrase(value: &Value) -> &'static str {
    names(value).1
}

fn names(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", "null"),
        Value::Bool(_) => ("boolean", "a boolean"),
        Value::Number(_) => ("number", "a number"),
        Value::String(_) => ("string", "a string"),
        Value::Array(_) => ("array", "a list"),
        Value::Object(_) => ("object", "an object"),
    }
}
