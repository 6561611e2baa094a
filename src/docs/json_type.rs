//! What the types of JSON are called: by a schema, and in a sentence.

use serde_json::Value;

/// The word of JSON Schema for the type of a value; a whole number is a `number` like any other.
pub(super) fn word(value: &Value) -> &'static str {
    names(value).0
}

/// The type of a value with its article, for people.
pub(super) fn phrase(value: &Value) -> &'static str {
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
