//! What a value is in BFCL's words, and whether it says anything.

use serde_json::{Map, Value, json};

use super::keys::DESCRIPTION;
use super::notation::TYPES;

/// What a value is, in BFCL's words; null is nothing.
pub(super) fn type_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if is_whole(number) => Some("integer"),
        Value::Number(_) => Some("float"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("dict"),
    }
}

pub(super) fn is_whole(number: &serde_json::Number) -> bool {
    !number.as_str().contains(['.', 'e', 'E'])
}

/// Whether a value can stand for a schema's type; null always can, and a whole number is a float.
pub(super) fn fits(value: &Value, schema: &Map<String, Value>) -> bool {
    let (Some(found), Some(kind)) = (type_of(value), schema.get("type").and_then(Value::as_str)) else {
        return true;
    };
    match kind {
        "any" => true,
        "tuple" => found == "array",
        "float" => found == "float" || found == "integer",
        _ => found == kind || !TYPES.contains(&kind),
    }
}

/// A value short enough for a message.
pub(super) fn brief(value: &Value) -> String {
    const MAX_CHARS: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Whether a value stands for no parameters.
pub(super) fn is_nothing(value: &Value) -> bool {
    value.is_null() || *value == json!("") || *value == json!([])
}

/// Whether a description is missing, null or blank.
pub(super) fn is_undescribed(map: &Map<String, Value>) -> bool {
    match map.get(DESCRIPTION) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}
