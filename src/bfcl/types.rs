//! The types that a BFCL doc may declare, and what a value is in their words.
//!
//! This is the one list of the eight. A word that is none of them is no type here; the words of other notations are
//! read by `docs::fix::notation`.

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
    /// A number; the checker takes a whole one as well.
    Float,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// A list too, once in JSON.
    Tuple,
    /// An object.
    Dict,
    /// Any value; the checker expects a text unless the answer is something else.
    Any,
}

impl Type {
    /// All types, in the order messages list them.
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

    /// The word for it in a doc.
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

    /// The type of that name, to the letter.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }

    /// The type a schema declares, where it is one of the eight.
    pub fn of(schema: &Value) -> Option<Self> {
        Self::named(schema.get("type")?.as_str()?)
    }

    /// What a value is; null is nothing.
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

    /// Whether a value of type `found` can be given where this type is declared: a whole number is a float too, and JSON
    /// has no tuples.
    pub fn takes(self, found: Self) -> bool {
        match self {
            Self::Any => true,
            Self::Tuple => found == Self::Array,
            Self::Float => matches!(found, Self::Float | Self::Integer),
            _ => found == self,
        }
    }

    /// Whether values of the type hold other values.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Tuple | Self::Dict)
    }

    /// The type whose values the checker expects: a text for any, a list for a tuple.
    #[must_use]
    pub fn expected_by_checker(self) -> Self {
        match self {
            Self::Any => Self::String,
            Self::Tuple => Self::Array,
            other => other,
        }
    }

    /// The word of JSON Schema for it; for any, which JSON Schema has no word for, its own.
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

/// Whether the number is written without a fraction or an exponent, as Python's `int` is.
pub fn is_whole(number: &Number) -> bool {
    !number.as_str().contains(['.', 'e', 'E'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_type_has_a_name_of_its_own() {
        for kind in Type::ALL {
            assert_eq!(Type::of(&json!({ "type": kind })), Some(kind));
        }
        for word in ["object", "String", "", "number"] {
            assert_eq!(Type::named(word), None, "{word}");
        }
    }

    #[test]
    fn a_value_is_of_one_type_and_null_of_none() {
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
    fn a_whole_number_is_a_float_and_an_array_a_tuple_and_not_the_other_way_round() {
        assert!(Type::Float.takes(Type::Integer) && Type::Tuple.takes(Type::Array));
        assert!(!Type::Integer.takes(Type::Float) && !Type::Array.takes(Type::Dict));
        assert!(Type::ALL.into_iter().all(|found| Type::Any.takes(found)));
    }
}
