//! Values: their types, their text, and whether they fit a schema.

use serde_json::{Map, Number, Value, json};

use super::keys::DESCRIPTION;
use callsieve_bfcl::types::Type;
pub use callsieve_notation::json::strict;
use callsieve_notation::python;
use callsieve_text::short::shortened;

/// Returns true if a value is valid for a schema's type; null always is, and an integer is a valid float.
pub(super) fn fits(value: &Value, schema: &Map<String, Value>) -> bool {
    let declared = schema.get("type").and_then(Value::as_str).and_then(Type::named);
    Type::of_value(value).zip(declared).is_none_or(|(found, declared)| declared.accepts(found))
}

/// The most characters of a value in a message.
const MAX_CHARS: usize = 60;

/// Returns a value shortened for a message.
pub fn brief(value: &Value) -> String {
    if let Value::Array(list) = value {
        return brief_list(list);
    }
    shortened(&value.to_string(), MAX_CHARS)
}

/// Returns a list shortened for a message. Only the elements that can be in it are written.
pub fn brief_list(list: &[Value]) -> String {
    // Each element has a character and a comma at least.
    let first = &list[..list.len().min(MAX_CHARS)];
    shortened(&serde_json::Value::from(first.to_vec()).to_string(), MAX_CHARS)
}

/// Words for the null type.
const NULLS: [&str; 5] = ["null", "None", "none", "NoneType", "void"];

/// Returns true if a value means that there are no parameters.
pub(crate) fn is_nothing(value: &Value) -> bool {
    let names_null = |map: &Map<String, Value>| {
        map.len() == 1 && map.get("type").is_some_and(|kind| NULLS.iter().any(|word| *kind == *word))
    };
    value.is_null() || *value == json!("") || *value == json!([]) || value.as_object().is_some_and(names_null)
}

/// Returns true if a description is missing, null or blank.
pub(crate) fn is_undescribed(map: &Map<String, Value>) -> bool {
    match map.get(DESCRIPTION) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}

/// Returns true if a description mentions a default. A name with the word (`default_region`) does not count.
pub(crate) fn mentions_default(schema: &Map<String, Value>) -> bool {
    let description = schema.get(DESCRIPTION).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let is_name = |c: char| c == '_' || c.is_alphanumeric();
    !description.trim().chars().all(is_name) && description.contains("default")
}

/// Returns the object or list in a text, written as JSON or as Python prints it; `None` if it has a repeated key.
pub(super) fn written(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let read = strict::read(text).map(|strict| (strict.value, strict.repeated));
    let read = read.or_else(|_| python::read(text).map(|literal| (literal.value, literal.repeated)));
    let value = read.ok().filter(|(_, repeated)| repeated.is_empty()).map(|(value, _)| value);
    value.filter(|value| value.is_object() || value.is_array())
}

/// Returns the value of a text that is exactly how a value of that type is written; `kind` may be any word.
pub(super) fn cast(text: &str, kind: &str) -> Option<Value> {
    let kind = Type::named(kind);
    match (kind, text) {
        (Some(Type::String | Type::Any), _) => None,
        (_, "null" | "None") => Some(Value::Null),
        (Some(Type::Boolean), "true" | "True") => Some(json!(true)),
        (Some(Type::Boolean), "false" | "False") => Some(json!(false)),
        (Some(Type::Integer), _) => {
            text.parse::<i64>().ok().filter(|value| value.to_string() == text).map(Value::from)
        }
        (Some(Type::Float), _) => {
            serde_json::from_str(text).ok().filter(|n: &Number| n.as_str() == text).map(Value::Number)
        }
        (Some(Type::Array), _) if text.starts_with('[') => strict::sure(text),
        (Some(Type::Dict), _) if text.starts_with('{') => strict::sure(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_repeated_key_is_not_a_value() {
        for text in [r#"{"a": 1, "a": 2}"#, "{'a': 1, 'a': 2}"] {
            assert_eq!((written(text), cast(text, "dict")), (None, None), "{text}");
        }
        assert_eq!(written("{'a': 1, 'a': 1}"), Some(json!({"a": 1})));
    }

    #[test]
    fn only_exact_texts_of_values_are_converted() {
        for (kind, text, expected) in [
            ("integer", "10", Some("10")),
            ("integer", "010", None),
            ("integer", "10.0", None),
            ("integer", "dontcare", None),
            ("float", "1.50", Some("1.50")),
            ("float", "1,5", None),
            ("float", " 1", None),
            ("boolean", "False", Some("false")),
            ("boolean", "no", None),
            ("integer", "None", Some("null")),
            ("string", "null", None),
            ("array", "[]", Some("[]")),
            ("string", "10", None),
        ] {
            assert_eq!(cast(text, kind).map(|value| value.to_string()).as_deref(), expected, "{kind} {text}");
        }
    }
}
