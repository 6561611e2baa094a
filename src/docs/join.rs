//! Two schemas that hold at once, as one.
//!
//! `allOf`, and `&` in TypeScript, say that a value fits every part. Parts are joined only where
//! the one schema says the same: members are joined in turn, required names are gathered, and
//! whatever else stands in both has to be equal. Where two parts speak against one another
//! nothing is chosen, the caller leaves them as they are or refuses. Only words about a value,
//! which bound nothing, are outweighed by those said first.

use serde_json::{Map, Value};

use super::combining::STANDING_FOR_OTHERS;

/// Words about a schema, of which the first said counts.
const WORDS: [&str; 5] = ["description", "title", "example", "examples", "discriminator"];

/// Adds a part to a schema; `false` where the two speak against one another, and the schema is then of no use.
pub(super) fn join(schema: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
    part.iter().all(|(key, value)| !stands_alone(key) && join_key(schema, key, value))
}

/// Whether a schema and a value for one of its keys do not speak against one another.
pub(super) fn agrees(schema: &Map<String, Value>, key: &str, value: &Value) -> bool {
    schema.get(key).is_none_or(|own| own == value || is_word(key))
}

fn join_key(schema: &mut Map<String, Value>, key: &str, value: &Value) -> bool {
    match (key, schema.get_mut(key), value) {
        (_, None, _) => {
            schema.insert(key.to_owned(), value.clone());
            true
        }
        ("properties", Some(Value::Object(own)), Value::Object(more)) => {
            more.iter().all(|(name, member)| join_member(own, name, member))
        }
        ("required", Some(Value::Array(own)), Value::Array(more)) => {
            let new: Vec<_> = more.iter().filter(|name| !own.contains(name)).cloned().collect();
            own.extend(new);
            true
        }
        (_, Some(own), _) => own == value || is_word(key),
    }
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

/// Whether a key of a part cannot be told from what stands beside it once they are joined; `if` and what follows it are
/// joined like any other key.
fn stands_alone(key: &str) -> bool {
    key == "not" || STANDING_FOR_OTHERS.contains(&key)
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
    fn parts_that_agree_are_one_schema() {
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
    fn parts_that_speak_against_one_another_are_not_joined() {
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
