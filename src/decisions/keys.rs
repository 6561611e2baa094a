//! Finds keys that one object of a JSON text has twice: a parser would keep the last value and drop the other.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Checks that no object of a JSON text, at any depth, has a key twice.
///
/// # Errors
/// The first such key. A text that is no JSON is an error too, so parse it first.
pub(super) fn check_distinct(text: &str) -> Result<(), String> {
    let checked: Result<DistinctKeys, _> = serde_json::from_str(text);
    checked.map(drop).map_err(|error| {
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        message[..end].to_owned()
    })
}

/// A JSON value whose objects have distinct keys; the value itself is not kept.
struct DistinctKeys;

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = DistinctKeys;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_bool<E>(self, _: bool) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<DistinctKeys, A::Error> {
        while elements.next_element::<DistinctKeys>()?.is_some() {}
        Ok(DistinctKeys)
    }

    // A number, too, is visited as an object: of one key, which holds its digits.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<DistinctKeys, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = members.next_key::<String>()? {
            members.next_value::<DistinctKeys>()?;
            if let Some(duplicate) = keys.replace(key) {
                return Err(A::Error::custom(format!("duplicate key {duplicate:?}")));
            }
        }
        Ok(DistinctKeys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_one_object_has_twice_is_found_at_any_depth() {
        for distinct in [r#"{"a": {"a": 1.50}, "b": [{"a": null}, {"a": "x"}, true, -3, 1e400]}"#, "[]", "12"]
        {
            assert_eq!(check_distinct(distinct), Ok(()), "{distinct}");
        }
        for duplicate in [r#"{"a": 1, "b": 2, "a": 3}"#, r#"[{"x": [{"a": 1, "\u0061": {}}]}]"#] {
            assert_eq!(check_distinct(duplicate), Err("duplicate key \"a\"".to_owned()), "{duplicate}");
        }
    }
}
