//! The body of an answer, as JSON or as other text.

use callsieve_notation::json::strict;
use serde_json::{Map, Value};

/// The body of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// JSON: an object, a list or another value.
    Json(Value),
    /// Any other text.
    Text(String),
}

impl Body {
    /// Returns the body in a log: text that may be JSON, or the JSON itself.
    pub fn of(recorded: &Value) -> Self {
        match recorded {
            Value::String(text) => Self::of_text(text),
            value => Self::Json(value.clone()),
        }
    }

    /// Returns the body of an answer as received.
    pub fn of_text(text: &str) -> Self {
        strict::read(text).map_or_else(|_| Self::Text(text.to_owned()), |strict| Self::Json(strict.value))
    }

    /// Returns the number of bytes; of JSON without blanks.
    pub fn n_bytes(&self) -> u64 {
        match self {
            Self::Json(value) => value.to_string().len() as u64,
            Self::Text(text) => text.len() as u64,
        }
    }

    /// Returns true for a body without content.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Json(value) => !has_content(value),
            Self::Text(text) => text.trim().is_empty(),
        }
    }

    /// Returns the text of a body that is not JSON, or is a JSON string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Json(value) => value.as_str(),
            Self::Text(text) => Some(text),
        }
    }

    pub(crate) fn object(&self) -> Option<&Map<String, Value>> {
        if let Self::Json(value) = self { value.as_object() } else { None }
    }
}

/// Returns true unless a value is null, false, an empty text, or a list or object that is empty or holds only such values.
/// Zero is content.
pub(crate) fn has_content(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(has_content),
        Value::Object(map) => map.values().any(has_content),
    }
}
