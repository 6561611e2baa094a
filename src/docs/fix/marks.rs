//! Marks by which single parameters say whether they must be given.

use serde_json::{Map, Value};

/// The words for a mark, and what a yes means: the parameter is required.
const MARKS: [(&str, bool); 7] = [
    ("required", true),
    ("is_required", true),
    ("isRequired", true),
    ("mandatory", true),
    ("optional", false),
    ("is_optional", false),
    ("isOptional", false),
];

/// Whether a key is a word for a mark.
pub(super) fn is_word(key: &str) -> bool {
    MARKS.iter().any(|(mark, _)| *mark == key)
}

/// Whether the parameter is required, where this key of it is a mark that says so.
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

/// Whether the parameter is required, where it says so; one mark for it outweighs others against.
pub(super) fn of(parameter: &Map<String, Value>) -> Option<bool> {
    parameter.iter().filter_map(|(key, value)| read(key, value)).max()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_are_read_in_all_their_words() {
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
