//! Looks up keys of JSON objects. Messages and calls have a handful of keys, and are asked for dozens of names: comparing
//! the keys one by one costs less than the hash of each name.

use serde_json::{Map, Value};

/// The most keys that are compared one by one.
const FEW: usize = 12;

/// An object, or a value that may be one.
pub(super) trait Lookup {
    /// Returns the value of a key.
    fn field(&self, key: &str) -> Option<&Value>;

    /// Returns the value of a key.
    fn field_mut(&mut self, key: &str) -> Option<&mut Value>;

    /// Returns `true` if there is such a key.
    fn has_field(&self, key: &str) -> bool {
        self.field(key).is_some()
    }
}

impl Lookup for Map<String, Value> {
    fn field(&self, key: &str) -> Option<&Value> {
        if self.len() > FEW {
            return self.get(key);
        }
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn field_mut(&mut self, key: &str) -> Option<&mut Value> {
        if self.len() > FEW {
            return self.get_mut(key);
        }
        self.iter_mut().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

impl Lookup for Value {
    fn field(&self, key: &str) -> Option<&Value> {
        self.as_object()?.field(key)
    }

    fn field_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_object_mut()?.field_mut(key)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_found_in_small_and_large_objects() {
        for n in [0, 1, FEW, FEW + 1, 3 * FEW] {
            let fields: Map<String, Value> = (0..n).map(|at| (format!("key{at}"), json!(at))).collect();
            let mut value = Value::Object(fields);
            for at in 0..n + 2 {
                let expected = (at < n).then(|| json!(at));
                assert_eq!(value.field(&format!("key{at}")), expected.as_ref());
                assert_eq!(value.field_mut(&format!("key{at}")).cloned(), expected);
                assert_eq!(value.has_field(&format!("key{at}")), expected.is_some());
            }
        }
        assert_eq!(json!([1]).field("0"), None);
        assert_eq!(json!("a").field_mut("a"), None);
    }
}
