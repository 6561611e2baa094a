//! Merges two schemas that apply at the same time into one.
//!
//! `allOf`, and `&` in TypeScript, require a value to match every part. Parts are merged only if the merged schema has
//! the same meaning: properties are merged recursively, required names are united, and every other key in both has
//! to be equal. If two parts contradict each other, nothing is chosen; the caller leaves them unmerged or refuses.
//! Only annotations, which restrict nothing, may differ; the first one is used.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::combining::SUBSTITUTES;

/// Annotations of a schema; of several, the first is used.
const WORDS: [&str; 5] = ["description", "title", "example", "examples", "discriminator"];

/// Merges a part into a schema. Returns `false` if they contradict each other; the schema is then unusable.
pub(super) fn join(schema: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
    Joint::default().join(schema, part)
}

/// A schema into which several parts are merged, one after the other.
#[derive(Default)]
pub(super) struct Joint {
    /// The names that it requires, once they are needed: there can be thousands of parts.
    required: Option<HashSet<Value>>,
}

impl Joint {
    /// Merges a part as [`join`] does; the schema must be that of the parts before.
    pub(super) fn join(&mut self, schema: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
        part.iter().all(|(key, value)| !is_unmergeable(key) && self.join_key(schema, key, value))
    }

    fn join_key(&mut self, schema: &mut Map<String, Value>, key: &str, value: &Value) -> bool {
        match (key, schema.get_mut(key), value) {
            (_, None, _) => {
                schema.insert(key.to_owned(), value.clone());
                true
            }
            ("properties", Some(Value::Object(own)), Value::Object(more)) => {
                more.iter().all(|(name, member)| join_member(own, name, member))
            }
            ("required", Some(Value::Array(own)), Value::Array(more)) => {
                let known = self.required.get_or_insert_with(|| own.iter().cloned().collect());
                let new: Vec<Value> = more.iter().filter(|name| !known.contains(name)).cloned().collect();
                known.extend(new.iter().cloned());
                own.extend(new);
                true
            }
            (_, Some(own), _) => own == value || is_word(key),
        }
    }
}

/// Returns true if a value for a key does not contradict the schema.
pub(super) fn agrees(schema: &Map<String, Value>, key: &str, value: &Value) -> bool {
    schema.get(key).is_none_or(|own| own == value || is_word(key))
}

fn join_member(members: &mut Map<String, Value>, name: &str, member: &Value) -> bool {
    match (members.get_mut(name), member) {
        (None, _) => {
            members.insert(name.to_owned(), member.clone());
            true
        }
        (Some(own), _) if own == member => true,
        (Some(Value::Object(own)), Value::Object(more)) => join(own, more),
        _ => false,
    }
}

/// Returns true for keys that would change their meaning after a merge. `if`, `then` and `else` are merged like any
/// other key.
fn is_unmergeable(key: &str) -> bool {
    key == "not" || SUBSTITUTES.contains(&key)
}

fn is_word(key: &str) -> bool {
    WORDS.contains(&key) || key.starts_with("x-")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn joined(schema: &Value, part: &Value) -> Option<Value> {
        let mut schema = schema.as_object().unwrap().clone();
        join(&mut schema, part.as_object().unwrap()).then_some(Value::Object(schema))
    }

    #[test]
    fn compatible_parts_are_merged() {
        for (schema, part, expected) in [
            (
                json!({"description": "a"}),
                json!({"description": "b", "type": "string"}),
                json!({"description": "a", "type": "string"}),
            ),
            (
                json!({"required": ["a"], "properties": {"a": {"type": "string"}}}),
                json!({"required": ["b", "a"], "properties": {"a": {"description": "x"}, "b": {}}}),
                json!({"required": ["a", "b"], "properties": {"a": {"type": "string", "description": "x"}, "b": {}}}),
            ),
        ] {
            assert_eq!(joined(&schema, &part), Some(expected), "{schema} {part}");
        }
    }

    #[test]
    fn contradicting_parts_are_not_merged() {
        for (schema, part) in [
            (json!({"type": "string"}), json!({"type": "integer"})),
            (json!({"minimum": 1}), json!({"minimum": 2})),
            (
                json!({"properties": {"a": {"type": "string"}}}),
                json!({"properties": {"a": {"type": "integer"}}}),
            ),
            (json!({}), json!({"anyOf": [{"type": "string"}]})),
        ] {
            assert_eq!(joined(&schema, &part), None, "{schema} {part}");
        }
    }
}
