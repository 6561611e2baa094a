//! Marks on single parameters that make them required or optional.

use serde_json::{Map, Value};

/// The keys of marks, and the meaning of `true`: whether the parameter is required.
const MARKS: [(&str, bool); 7] = [
    ("required", true),
    ("is_required", true),
    ("isRequired", true),
    ("mandatory", true),
    ("optional", false),
    ("is_optional", false),
    ("isOptional", false),
];

/// Returns true if a key is a mark.
pub(super) fn is_word(key: &str) -> bool {
    MARKS.iter().any(|(mark, _)| *mark == key)
}

/// Returns whether the parameter is required if this key of it is a mark with a clear value.
pub(super) fn read(key: &str, value: &Value) -> Option<bool> {
    let (_, means) = MARKS.iter().find(|(mark, _)| *mark == key)?;
    match value {
        Value::Bool(yes) => Some(yes == means),
        Value::Number(number) => match number.as_str() {
            "1" => Some(*means),
            "0" => Some(!means),
            _ => None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "1" => Some(*means),
            "false" | "no" | "n" | "0" => Some(!means),
            "required" | "mandatory" => Some(true),
            "optional" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether the parameter is required if it has marks; one `required` overrides any `optional`.
pub(super) fn of(parameter: &Map<String, Value>) -> Option<bool> {
    parameter.iter().filter_map(|(key, value)| read(key, value)).max()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_are_read_in_all_spellings() {
        for (key, value, expected) in [
            ("required", json!(true), Some(true)),
            ("required", json!("yes"), Some(true)),
            ("required", json!("False"), Some(false)),
            ("required", json!("optional"), Some(false)),
            ("required", json!(1), Some(true)),
            ("isOptional", json!(true), Some(false)),
            ("optional", json!("no"), Some(true)),
            ("mandatory", json!(false), Some(false)),
            ("required", json!(null), None),
            ("required", json!(["a"]), None),
            ("required", json!("with b"), None),
            ("nullable", json!(true), None),
        ] {
            assert_eq!(read(key, &value), expected, "{key} {value}");
        }
    }
}
