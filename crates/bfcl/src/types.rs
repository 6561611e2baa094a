//! The eight types that a BFCL doc may declare, and the types of values.
//!
//! Type names of other notations are not types here; `docs::fix::notation` reads them.

use std::fmt;

use serde::Serialize;
use serde_json::{Number, Value};

/// The types a BFCL doc may declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number; the checker accepts an integer as well.
    Float,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// A list in JSON, too.
    Tuple,
    /// An object.
    Dict,
    /// Any value; the checker expects a text unless the answer is something else.
    Any,
}

impl Type {
    /// All types, in the order of messages.
    pub const ALL: [Self; 8] = [
        Self::String,
        Self::Integer,
        Self::Float,
        Self::Boolean,
        Self::Array,
        Self::Tuple,
        Self::Dict,
        Self::Any,
    ];

    /// Returns the name of the type in a doc.
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Tuple => "tuple",
            Self::Dict => "dict",
            Self::Any => "any",
        }
    }

    /// Returns the type with exactly this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }

    /// Returns the declared type of a schema, if it is one of the eight.
    pub fn of(schema: &Value) -> Option<Self> {
        Self::named(schema.get("type")?.as_str()?)
    }

    /// Returns the type of a value; `None` for null.
    pub fn of_value(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if is_whole(number) => Self::Integer,
            Value::Number(_) => Self::Float,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Dict,
        })
    }

    /// Returns whether a value of type `found` is valid for this declared type: an integer is a float too, and JSON
    /// has no tuples.
    pub fn accepts(self, found: Self) -> bool {
        match self {
            Self::Any => true,
            Self::Tuple => found == Self::Array,
            Self::Float => matches!(found, Self::Float | Self::Integer),
            _ => found == self,
        }
    }

    /// Returns whether values of the type contain other values.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Tuple | Self::Dict)
    }

    /// Returns the type of values that the checker expects: a text for any, a list for a tuple.
    #[must_use]
    pub fn expected_by_checker(self) -> Self {
        match self {
            Self::Any => Self::String,
            Self::Tuple => Self::Array,
            other => other,
        }
    }

    /// Returns the name of the type in JSON Schema; `any`, which JSON Schema does not have, keeps its name.
    pub fn json_schema_name(self) -> &'static str {
        match self {
            Self::Dict => "object",
            Self::Float => "number",
            Self::Tuple => "array",
            other => other.name(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Type> for Value {
    fn from(kind: Type) -> Self {
        kind.name().into()
    }
}

/// Returns whether the number is written without a fraction and an exponent, like Python's `int`.
pub fn is_whole(number: &Number) -> bool {
    !number.as_str().contains(['.', 'e', 'E'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_type_has_a_unique_name() {
        for kind in Type::ALL {
            assert_eq!(Type::of(&json!({ "type": kind })), Some(kind));
        }
        for word in ["object", "String", "", "number"] {
            assert_eq!(Type::named(word), None, "{word}");
        }
    }

    #[test]
    fn every_value_except_null_has_one_type() {
        let found = |text: &str| Type::of_value(&serde_json::from_str(text).unwrap()).map(Type::name);
        for (text, kind) in [
            ("1", Some("integer")),
            ("1.0", Some("float")),
            ("1e3", Some("float")),
            ("\"1\"", Some("string")),
            ("[]", Some("array")),
            ("{}", Some("dict")),
            ("false", Some("boolean")),
            ("null", None),
        ] {
            assert_eq!(found(text), kind, "{text}");
        }
    }

    #[test]
    fn an_integer_is_a_float_and_an_array_a_tuple_but_not_vice_versa() {
        assert!(Type::Float.accepts(Type::Integer) && Type::Tuple.accepts(Type::Array));
        assert!(!Type::Integer.accepts(Type::Float) && !Type::Array.accepts(Type::Dict));
        assert!(Type::ALL.into_iter().all(|found| Type::Any.accepts(found)));
    }
}
