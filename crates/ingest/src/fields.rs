//! Reads selected members of a JSON object.
//!
//! A log line may be much longer than the needed values: everything that no path leads to is skipped, not built.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// A path into an object: a key, or nested keys separated by dots; in a list a key is an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    name: String,
    keys: Vec<String>,
}

impl Field {
    /// Parses a path.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), keys: name.split('.').map(str::to_owned).collect() }
    }

    /// Returns the path as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the outermost key.
    pub fn first_key(&self) -> &str {
        &self.keys[0]
    }

    /// Returns the value at this path; a key that itself contains the dots has precedence. Null counts as missing.
    pub fn of(&self, object: &mut Value) -> Option<Value> {
        if let Some(value) = object.get_mut(&self.name) {
            return Some(value.take()).filter(|value| !value.is_null());
        }
        let found = self.keys.iter().try_fold(object, |at, key| match at {
            Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?),
            other => other.get_mut(key),
        })?;
        Some(found.take()).filter(|value| !value.is_null())
    }

    /// Returns `true` if a member of this key is needed to follow the path.
    fn may_begin_with(&self, key: &str) -> bool {
        self.name == key || self.keys[0] == key
    }
}

/// Reads the members of an object that one of the paths needs.
pub(super) struct PickedFields<'f>(pub(super) &'f [&'f Field]);

impl<'de> DeserializeSeed<'de> for PickedFields<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PickedFields<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut picked = serde_json::Map::new();
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if self.0.iter().any(|field| field.may_begin_with(&key)) {
                picked.insert(key.into_owned(), map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(picked))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picked(text: &str, fields: &[&str]) -> Vec<Option<Value>> {
        let fields: Vec<Field> = fields.iter().map(|name| Field::new(name)).collect();
        let all: Vec<&Field> = fields.iter().collect();
        let mut object =
            PickedFields(&all).deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
        fields.iter().map(|field| field.of(&mut object)).collect()
    }

    #[test]
    fn a_path_leads_through_objects_and_lists() {
        let text = r#"{"a.b": 1, "a": {"b": 2, "c": [{"d": "x"}]}, "other": [[[]]], "n": null, "\u0065": 5}"#;
        assert_eq!(
            picked(text, &["a.b", "a.c.0.d", "e"]),
            [Some(json!(1)), Some(json!("x")), Some(json!(5))]
        );
        assert_eq!(picked(text, &["n", "a.c.d", "none", "a.c.9"]), vec![None; 4]);
    }
}
