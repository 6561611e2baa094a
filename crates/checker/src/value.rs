//! A value of Python, as the evaluator has it after decoding.
//!
//! JSON has no tuples, bytes or complex numbers, and does not distinguish `1` from `1.0` in all readers; the rules of
//! the evaluator do. Equality ([`PyValue::equals`]) is that of Python: `1 == 1.0 == True`, lists and tuples are never
//! equal. [`PyValue::type_of`] is exact: a boolean is no integer.

use num_bigint::BigInt;
use num_traits::ToPrimitive as _;
use serde_json::{Map, Value};

use super::repr::is_long;

/// A value of Python.
#[derive(Debug, Clone)]
pub enum PyValue {
    /// `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// A float; may be infinite or NaN.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// A text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<PyValue>),
    /// A tuple.
    Tuple(Vec<PyValue>),
    /// A dict, in the order of insertion.
    Dict(PyDict),
}

/// The members of a dict in the order of insertion; keys are unique by Python's equality.
#[derive(Debug, Clone, Default)]
pub struct PyDict(Vec<(PyValue, PyValue)>);

/// The type of a value, as Python's `type` returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PyType {
    /// `NoneType`.
    None,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `float`.
    Float,
    /// `complex`.
    Complex,
    /// `str`.
    Str,
    /// `bytes`.
    Bytes,
    /// `list`.
    List,
    /// `tuple`.
    Tuple,
    /// `dict`.
    Dict,
    /// `set`: declared by Java docs, no value has it.
    Set,
}

impl PyType {
    /// Returns the name of the type in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Complex => "complex",
            Self::Str => "str",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Tuple => "tuple",
            Self::Dict => "dict",
            Self::Set => "set",
        }
    }
}

impl PyValue {
    /// Returns a text.
    pub fn text(text: &str) -> Self {
        Self::Str(text.to_owned())
    }

    /// Returns the exact type.
    pub fn type_of(&self) -> PyType {
        match self {
            Self::None => PyType::None,
            Self::Bool(_) => PyType::Bool,
            Self::Int(_) => PyType::Int,
            Self::Float(_) => PyType::Float,
            Self::Complex(..) => PyType::Complex,
            Self::Str(_) => PyType::Str,
            Self::Bytes(_) => PyType::Bytes,
            Self::List(_) => PyType::List,
            Self::Tuple(_) => PyType::Tuple,
            Self::Dict(_) => PyType::Dict,
        }
    }

    /// Returns the text of a `str`.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the members of a dict.
    pub fn as_dict(&self) -> Option<&PyDict> {
        match self {
            Self::Dict(members) => Some(members),
            _ => None,
        }
    }

    /// Returns whether this is the text `""`, which marks a parameter that may be omitted.
    pub fn is_omitted_marker(&self) -> bool {
        self.as_str().is_some_and(str::is_empty)
    }

    /// Returns whether the values are equal in Python (`==`).
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Dict(a), Self::Dict(b)) => {
                a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| a.equals(b)))
            }
            _ => self.equals_as_number(other),
        }
    }

    fn equals_as_number(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a.equals(&b),
            _ => false,
        }
    }

    fn number(&self) -> Option<PyNumber<'_>> {
        match self {
            Self::Bool(value) => Some(PyNumber::Small(i64::from(*value))),
            Self::Int(value) => Some(value.to_i64().map_or(PyNumber::Big(value), PyNumber::Small)),
            Self::Float(value) => Some(PyNumber::Complex(*value, 0.0)),
            Self::Complex(real, imaginary) => Some(PyNumber::Complex(*real, *imaginary)),
            _ => None,
        }
    }

    /// Returns whether Python can use the value as a key: no list or dict, at any depth of tuples.
    pub fn is_hashable(&self) -> bool {
        match self {
            Self::List(_) | Self::Dict(_) => false,
            Self::Tuple(elements) => elements.iter().all(Self::is_hashable),
            _ => true,
        }
    }

    /// Converts a JSON value as Python's `json.loads` does: a number with a fraction or an exponent is a float.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::from_number(number.as_str()),
            Value::String(text) => Self::Str(text.clone()),
            Value::Array(elements) => Self::List(elements.iter().map(Self::from_json).collect()),
            Value::Object(members) => Self::Dict(PyDict::from_json(members)),
        }
    }

    fn from_number(text: &str) -> Self {
        if let Ok(small) = text.parse::<i64>() {
            return Self::Int(small.into());
        }
        match text.parse::<BigInt>() {
            Ok(value) if !text.contains(['.', 'e', 'E']) => Self::Int(value),
            _ => Self::Float(text.parse().unwrap_or(f64::NAN)),
        }
    }

    /// Returns whether the value has an integer of more digits than Python writes.
    pub(super) fn has_long_integer(&self) -> bool {
        match self {
            Self::Int(value) => is_long(value),
            Self::List(elements) | Self::Tuple(elements) => elements.iter().any(Self::has_long_integer),
            Self::Dict(members) => {
                members.iter().any(|(key, value)| key.has_long_integer() || value.has_long_integer())
            }
            _ => false,
        }
    }

    /// Converts the value to JSON, as Python's `json.dumps` would: a tuple becomes a list, a key that is no text becomes
    /// its text. What JSON or Python's reader of it cannot hold (bytes, complex numbers, NaN, infinity, an integer of thousands of
    /// digits) becomes a text.
    pub fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) if is_long(value) => Value::String(self.repr()),
            Self::Int(value) => serde_json::from_str(&value.to_string()).unwrap_or(Value::Null),
            Self::Float(value) if value.is_finite() => {
                serde_json::from_str(&self.repr()).unwrap_or(Value::Null)
            }
            Self::Str(text) => Value::String(text.clone()),
            Self::List(elements) | Self::Tuple(elements) => {
                Value::Array(elements.iter().map(Self::to_json).collect())
            }
            Self::Dict(members) => {
                let key = |key: &Self| match key {
                    Self::Str(text) => text.clone(),
                    Self::None => "null".to_owned(),
                    Self::Bool(value) => value.to_string(),
                    other => other.repr(),
                };
                let members = members.iter().map(|(name, value)| (key(name), value.to_json()));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Self::Float(_) | Self::Complex(..) | Self::Bytes(_) => Value::String(self.repr()),
        }
    }
}

/// A number for comparison.
enum PyNumber<'v> {
    Small(i64),
    Big(&'v BigInt),
    /// Real and imaginary part of a float or a complex number.
    Complex(f64, f64),
}

impl PyNumber<'_> {
    /// Compares exactly: an integer equals a float only if the float has no other value.
    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a == b,
            (Self::Big(a), Self::Big(b)) => a == b,
            (Self::Small(_), Self::Big(_)) | (Self::Big(_), Self::Small(_)) => false,
            #[expect(clippy::float_cmp, reason = "Python's equality is exact")]
            (Self::Complex(a, i), Self::Complex(b, j)) => a == b && i == j,
            (Self::Small(whole), Self::Complex(real, imaginary))
            | (Self::Complex(real, imaginary), Self::Small(whole)) => {
                *imaginary == 0.0 && exact(*real).is_some_and(|real| real == BigInt::from(*whole))
            }
            (Self::Big(whole), Self::Complex(real, imaginary))
            | (Self::Complex(real, imaginary), Self::Big(whole)) => {
                *imaginary == 0.0 && exact(*real).is_some_and(|real| real == **whole)
            }
        }
    }
}

/// Returns the integer that a float equals.
fn exact(value: f64) -> Option<BigInt> {
    use num_traits::FromPrimitive as _;
    (value.fract() == 0.0).then(|| BigInt::from_f64(value)).flatten()
}

impl PyDict {
    /// Returns a dict with room for `n` members.
    pub fn with_capacity(n: usize) -> Self {
        Self(Vec::with_capacity(n))
    }

    /// Returns the members of a JSON object.
    pub fn from_json(members: &Map<String, Value>) -> Self {
        Self(members.iter().map(|(key, value)| (PyValue::text(key), PyValue::from_json(value))).collect())
    }

    /// Sets a member: an equal key keeps its place and its form.
    ///
    /// The caller checks that the key is hashable.
    pub fn insert(&mut self, key: PyValue, value: PyValue) {
        match self.0.iter_mut().find(|(known, _)| known.equals(&key)) {
            Some((_, known)) => *known = value,
            None => self.0.push((key, value)),
        }
    }

    /// Returns the value of an equal key.
    pub fn get(&self, key: &PyValue) -> Option<&PyValue> {
        match key {
            PyValue::Str(name) => self.get_str(name),
            _ => self.0.iter().find(|(known, _)| known.equals(key)).map(|(_, value)| value),
        }
    }

    /// Returns the value of a key that is a text.
    pub fn get_str(&self, name: &str) -> Option<&PyValue> {
        self.0.iter().find(|(known, _)| known.as_str() == Some(name)).map(|(_, value)| value)
    }

    /// Returns the members in the order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PyValue, &PyValue)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(PyValue, PyValue)> for PyDict {
    fn from_iter<I: IntoIterator<Item = (PyValue, PyValue)>>(members: I) -> Self {
        let mut dict = Self::default();
        members.into_iter().for_each(|(key, value)| dict.insert(key, value));
        dict
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "takes what `json!` makes")]
    fn value(value: Value) -> PyValue {
        PyValue::from_json(&value)
    }

    #[test]
    fn numbers_and_booleans_are_equal_by_value() {
        assert!(value(json!(1)).equals(&value(json!(1.0))));
        assert!(value(json!(true)).equals(&value(json!(1))));
        assert!(value(json!([1, [true]])).equals(&value(json!([1.0, [1]]))));
        assert!(value(json!({"a": 1, "b": 2})).equals(&value(json!({"b": 2.0, "a": 1}))));
        assert!(PyValue::Complex(1.0, 0.0).equals(&value(json!(1))));
        for (a, b) in [
            (json!(1), json!("1")),
            (json!(null), json!(0)),
            (json!("a"), json!("A")),
            (json!([]), json!({})),
        ] {
            assert!(!value(a).equals(&value(b)));
        }
        assert!(!PyValue::Float(f64::NAN).equals(&PyValue::Float(f64::NAN)));
        assert!(!PyValue::List(Vec::new()).equals(&PyValue::Tuple(Vec::new())));
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        let parsed = |text: &str| PyValue::from_json(&serde_json::from_str(text).unwrap());
        assert!(!parsed("9007199254740993").equals(&parsed("9007199254740992.0")));
        assert!(parsed("9007199254740992").equals(&parsed("9007199254740992.0")));
        assert!(parsed("100000000000000000000").equals(&parsed("1e20")));
        assert!(!parsed("100000000000000000001").equals(&parsed("1e20")));
    }

    #[test]
    fn json_numbers_have_the_type_that_python_gives_them() {
        for (text, expected) in
            [("5", PyType::Int), ("5.0", PyType::Float), ("1e3", PyType::Float), ("-0", PyType::Int)]
        {
            let parsed: Value = serde_json::from_str(text).unwrap();
            assert_eq!(PyValue::from_json(&parsed).type_of(), expected, "{text}");
        }
    }

    #[test]
    fn an_equal_key_keeps_its_place_and_its_form() {
        let dict: PyDict = [
            (value(json!(1)), value(json!("a"))),
            (value(json!("x")), value(json!("b"))),
            (value(json!(true)), value(json!("c"))),
        ]
        .into_iter()
        .collect();
        assert_eq!(PyValue::Dict(dict).repr(), "{1: 'c', 'x': 'b'}");
    }
}
