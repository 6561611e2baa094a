//! Templates of responses, in which each value is the word for its type, as JSON Schema.
//!
//! ```text
//! {"total": "int", "rolls": [{"value": "int"}, {"_list_length": 2}], "tags": "list of str with length 3"}
//! ```

use serde_json::{Map, Value, json};

/// Words for types, with JSON Schema's.
const TYPES: [(&str, &str); 8] = [
    ("str", "string"),
    ("int", "integer"),
    ("float", "number"),
    ("bool", "boolean"),
    ("NoneType", "null"),
    ("empty list", "array"),
    ("empty dict", "object"),
    ("dict", "object"),
];

/// The key of an element that only states the length of its list.
const LENGTH: &str = "_list_length";

/// The most levels; templates come from responses, which have few.
const MAX_LEVELS: usize = 64;

/// Returns the schema of a template; `None` if it describes nothing.
pub(crate) fn schema(template: &Value) -> Option<Value> {
    match template {
        Value::Null => None,
        Value::Object(map) if map.is_empty() => None,
        Value::String(text) if text.trim().is_empty() => None,
        template => Some(of(template, MAX_LEVELS)),
    }
}

fn of(template: &Value, levels: usize) -> Value {
    let Some(levels) = levels.checked_sub(1) else { return json!({}) };
    match template {
        Value::String(text) => of_word(text),
        Value::Array(items) => {
            let is_length =
                |item: &Value| item.as_object().is_some_and(|map| map.len() == 1 && map.contains_key(LENGTH));
            let mut kinds: Vec<Value> =
                items.iter().filter(|item| !is_length(item)).map(|item| of(item, levels)).collect();
            kinds.dedup();
            match kinds.len() {
                0 => json!({"type": "array"}),
                1 => json!({"type": "array", "items": kinds.swap_remove(0)}),
                _ => json!({"type": "array", "items": {"anyOf": kinds}}),
            }
        }
        Value::Object(map) => {
            let properties: Map<String, Value> =
                map.iter().map(|(key, value)| (key.clone(), of(value, levels))).collect();
            json!({"type": "object", "properties": properties})
        }
        Value::Number(_) => json!({"type": "number"}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Null => json!({"type": "null"}),
    }
}

fn of_word(text: &str) -> Value {
    if let Some((_, kind)) = TYPES.iter().find(|(word, _)| *word == text) {
        return json!({"type": kind});
    }
    let of_list = text.strip_prefix("list of ").and_then(|rest| rest.split_once(" with length "));
    if let Some((word, _)) = of_list
        && let Some((_, kind)) = TYPES.iter().find(|(known, _)| *known == word)
    {
        return json!({"type": "array", "items": {"type": kind}});
    }
    if text.starts_with("list") { json!({"type": "array"}) } else { json!({"description": text}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_types() {
        let template = json!({"total": "int", "rolls": [{"value": "float"}, {"_list_length": 2}],
            "tags": "list of str with length 3", "none": "empty list", "odd": "a number"});
        let expected = json!({"type": "object", "properties": {"total": {"type": "integer"},
            "rolls": {"type": "array", "items": {"type": "object", "properties": {"value": {"type": "number"}}}},
            "tags": {"type": "array", "items": {"type": "string"}}, "none": {"type": "array"},
            "odd": {"description": "a number"}}});
        assert_eq!(schema(&template), Some(expected));
        assert_eq!((schema(&json!({})), schema(&json!(null))), (None, None));
    }
}
