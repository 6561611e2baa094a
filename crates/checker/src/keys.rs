//! Keys of values: values that the evaluator treats as equal have one in common, so that equal ones are found without a comparison
//! of all pairs. Values with a common key need not be equal.

use num_traits::ToPrimitive as _;
use serde_json::Value;

use super::rules::standardized;
use super::value::PyValue;

/// A key of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueKey {
    /// A text, as it is compared.
    Text(String),
    /// The bits of a number, or of a boolean as a number.
    Number(u64),
    /// A list or tuple with so many elements, and the first of them.
    List(usize, Option<Box<ValueKey>>),
    /// Any other value.
    Other,
}

impl ValueKey {
    fn number(number: f64) -> Self {
        // 0 and -0 are equal; what is not a number equals nothing.
        Self::Number(if number == 0.0 { 0 } else { number.to_bits() })
    }

    /// Returns the key of a value.
    pub(crate) fn of(value: &PyValue) -> Self {
        match value {
            PyValue::Str(text) => Self::Text(standardized(text)),
            PyValue::Bool(flag) => Self::number(f64::from(u8::from(*flag))),
            PyValue::Int(whole) => whole.to_f64().map_or(Self::Other, Self::number),
            PyValue::Float(number) => Self::number(*number),
            // A complex number may equal a real one.
            PyValue::Complex(real, _) => Self::number(*real),
            PyValue::List(elements) | PyValue::Tuple(elements) => {
                let first = elements.first().map(|first| match first {
                    PyValue::List(_) | PyValue::Tuple(_) => Self::Other,
                    one => Self::of(one),
                });
                Self::List(elements.len(), first.map(Box::new))
            }
            PyValue::None | PyValue::Bytes(_) | PyValue::Dict(_) => Self::Other,
        }
    }

    /// Returns the keys of an alternative. A text is also the list of its characters.
    pub(crate) fn of_alternative(value: &PyValue) -> Vec<Self> {
        let mut keys = vec![Self::of(value)];
        if let PyValue::Str(text) = value {
            let first =
                text.chars().next().map(|first| Box::new(Self::Text(standardized(&first.to_string()))));
            keys.push(Self::List(text.chars().count(), first));
        }
        keys
    }

    /// Returns the keys of a value of JSON where a number may be written as text.
    pub fn of_loose(value: &Value) -> Vec<Self> {
        match value {
            Value::String(text) => {
                let number = text.trim().parse::<f64>().ok().map(Self::number);
                [Self::Text(standardized(text))].into_iter().chain(number).collect()
            }
            Value::Number(number) => vec![number.as_f64().map_or(Self::Other, Self::number)],
            Value::Bool(flag) => vec![Self::number(f64::from(u8::from(*flag)))],
            Value::Array(elements) => vec![Self::List(elements.len(), None)],
            Value::Null | Value::Object(_) => vec![Self::Other],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_have_a_common_key() {
        for (one, other, expected) in [
            (json!("New York, NY"), json!("new-york ny"), true),
            (json!(1), json!(1.0), true),
            (json!(true), json!(1), true),
            (json!(-0.0), json!(0), true),
            (json!(["A b", 2]), json!(["ab", 2]), true),
            (json!([[1]]), json!([[2]]), true),
            (json!({"a": 1}), json!({"b": 2}), true),
            (json!("1"), json!(1), false),
            (json!([1]), json!([1, 1]), false),
            (json!(null), json!(0), false),
        ] {
            let [one, other] = [&one, &other].map(|value| ValueKey::of(&PyValue::from_json(value)));
            assert_eq!(one == other, expected, "{one:?} {other:?}");
        }
        let list = ValueKey::of(&PyValue::from_json(&json!(["A", "b"])));
        assert!(ValueKey::of_alternative(&PyValue::text("ab")).contains(&list));
    }

    #[test]
    fn a_number_and_its_text_have_a_common_key_where_texts_are_numbers() {
        let keys = |value: &Value| ValueKey::of_loose(value);
        for (one, other, expected) in [
            (json!("10"), json!(10), true),
            (json!(" 2.50"), json!(2.5), true),
            (json!("1.0"), json!("10"), true),
            (json!("ten"), json!(10), false),
            (json!([1]), json!(["1"]), true),
        ] {
            let is_common = keys(&one).iter().any(|key| keys(&other).contains(key));
            assert_eq!(is_common, expected, "{one} {other}");
        }
    }
}
