//! Which keys of a function's responses are kept.
//!
//! As JSON, a key schema is a template: an object has the kept keys, a list one element, a leaf is a word. It has the form
//! of ToolBench's schemas, so these, and proposals of a model, are read as well.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::shape::Shape;

/// The word of a leaf that is kept as it is.
const ANY: &str = "any";
/// The word of a leaf that is kept in the first element of a list only.
const ONCE: &str = "once";
/// The key that stands for all keys of an object.
const ALL_KEYS: &str = "*";
/// The most levels of a schema; deeper values are kept as they are.
const MAX_LEVELS: usize = 32;

/// Which parts of a value are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeySchema {
    /// The value as it is.
    #[default]
    Any,
    /// A single value that is equal in all elements of a list; it is kept in the first one.
    Once,
    /// These members of an object.
    Object(BTreeMap<String, KeySchema>),
    /// All members of an object whose keys are data, such as ids or dates.
    Values(Box<KeySchema>),
    /// All elements of a list.
    Array(Box<KeySchema>),
}

/// Returns the key schema of a function by rule, from examples of its responses and their JSON Schema.
///
/// Dropped are keys whose values are null or empty in all examples. Keys with one single value in all elements of lists
/// are kept once. Keys of the JSON Schema that are in no example are kept. An object with many keys of one kind is a map
/// whose keys are data.
pub fn key_schema(examples: &[Value], response: Option<&Value>) -> KeySchema {
    let described = response.map(|schema| KeySchema::of_json_schema(schema, MAX_LEVELS));
    if examples.is_empty() {
        return described.unwrap_or_default();
    }
    let mut shape = Shape::default();
    for example in examples {
        shape.add(example, MAX_LEVELS);
    }
    let observed = shape.key_schema();
    match described {
        Some(described) => observed.with(described, &shape),
        None => observed,
    }
}

impl KeySchema {
    /// Reads a template.
    pub fn of_template(template: &Value) -> Self {
        Self::of_template_within(template, MAX_LEVELS)
    }

    fn of_template_within(template: &Value, levels: usize) -> Self {
        let Some(levels) = levels.checked_sub(1) else { return Self::Any };
        match template {
            Value::String(word) if word == ONCE => Self::Once,
            Value::Array(items) => {
                let first = items.first().map(|first| Self::of_template_within(first, levels));
                Self::Array(Box::new(first.unwrap_or_default()))
            }
            Value::Object(map) if map.is_empty() => Self::Any,
            Value::Object(map) => {
                if let (1, Some(values)) = (map.len(), map.get(ALL_KEYS)) {
                    return Self::Values(Box::new(Self::of_template_within(values, levels)));
                }
                let key =
                    |(key, value): (&String, &Value)| (key.clone(), Self::of_template_within(value, levels));
                Self::Object(map.iter().map(key).collect())
            }
            _ => Self::Any,
        }
    }

    /// Returns the template.
    pub fn to_template(&self) -> Value {
        match self {
            Self::Any => Value::from(ANY),
            Self::Once => Value::from(ONCE),
            Self::Object(keys) => {
                Value::Object(keys.iter().map(|(key, schema)| (key.clone(), schema.to_template())).collect())
            }
            Self::Values(values) => {
                Value::Object(Map::from_iter([(ALL_KEYS.to_owned(), values.to_template())]))
            }
            Self::Array(element) => Value::Array(vec![element.to_template()]),
        }
    }

    /// Returns the keys that a JSON Schema has.
    fn of_json_schema(schema: &Value, levels: usize) -> Self {
        let (Some(levels), Some(map)) = (levels.checked_sub(1), schema.as_object()) else { return Self::Any };
        if let Some(properties) =
            map.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty())
        {
            let key = |(key, value): (&String, &Value)| (key.clone(), Self::of_json_schema(value, levels));
            return Self::Object(properties.iter().map(key).collect());
        }
        if let Some(items) = map.get("items").filter(|items| items.is_object()) {
            return Self::Array(Box::new(Self::of_json_schema(items, levels)));
        }
        match map.get("additionalProperties") {
            Some(values) if values.is_object() => {
                Self::Values(Box::new(Self::of_json_schema(values, levels)))
            }
            _ => Self::Any,
        }
    }

    /// Adds the keys of another schema that are in no example.
    fn with(self, described: Self, shape: &Shape) -> Self {
        match (self, described) {
            (Self::Object(mut keys), Self::Object(described)) => {
                for (key, schema) in described {
                    let seen = shape.member(&key);
                    match (keys.remove(&key), seen) {
                        (Some(observed), Some(seen)) => drop(keys.insert(key, observed.with(schema, seen))),
                        // In every example it is null or empty.
                        (None, Some(_)) => {}
                        (_, None) => drop(keys.insert(key, schema)),
                    }
                }
                Self::Object(keys)
            }
            (Self::Array(observed), Self::Array(described)) => match shape.element() {
                Some(element) => Self::Array(Box::new(observed.with(*described, element))),
                None => Self::Array(described),
            },
            (observed, _) => observed,
        }
    }

    /// Returns the parts of a value that are kept. A value of another kind than the schema expects is kept as it is.
    pub(super) fn kept(&self, value: &Value) -> Value {
        self.kept_at(value, true).unwrap_or_else(|| value.clone())
    }

    /// Returns the kept parts; `None` for a value that is kept in the first element only, if this is another one.
    fn kept_at(&self, value: &Value, is_first: bool) -> Option<Value> {
        Some(match (self, value) {
            (Self::Once, Value::Array(_) | Value::Object(_)) => value.clone(),
            (Self::Once, _) => return is_first.then(|| value.clone()),
            (Self::Object(keys), Value::Object(map)) => {
                let member = |(key, value): (&String, &Value)| {
                    Some((key.clone(), keys.get(key)?.kept_at(value, is_first)?))
                };
                let kept: Map<String, Value> = map.iter().filter_map(member).collect();
                // A response without any known key is of another kind: an error, for example.
                if kept.is_empty() && !map.keys().any(|key| keys.contains_key(key)) {
                    value.clone()
                } else {
                    Value::Object(kept)
                }
            }
            (Self::Values(values), Value::Object(map)) => {
                let member =
                    |(key, value): (&String, &Value)| Some((key.clone(), values.kept_at(value, is_first)?));
                Value::Object(map.iter().filter_map(member).collect())
            }
            (Self::Array(element), Value::Array(items)) => {
                let kept = items.iter().enumerate().map(|(index, item)| (item, is_first && index == 0));
                kept.filter_map(|(item, is_first)| element.kept_at(item, is_first)).collect()
            }
            _ => value.clone(),
        })
    }
}

impl Serialize for KeySchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_template().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KeySchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|template| Self::of_template(&template))
    }
}
