//! How much the values of a call prove: a path of a file says more than "Paris".

use serde_json::Value;

use super::everyday::is_everyday_value;
use callsieve_text::words::is_unspaced;

/// Words of a text that hardly two people write by chance.
const STRONG_WORDS: usize = 3;
/// Letters of such a text in a script without spaces.
const STRONG_UNSPACED: usize = 6;
/// Letters and digits of an id, and digits of a long number.
const STRONG_SIGNS: usize = 6;

/// The single values of calls, counted: of lists and objects each value in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// All of them, but for nothing and empty texts.
    pub(super) values: usize,
    /// Those that hardly two people write by chance: three words, an id, a path, an address, a long number.
    pub(super) strong: usize,
    /// Those that every set of examples has: New York, fahrenheit, yes.
    pub(super) everyday: usize,
    /// Those of the others that are numbers, also as text.
    pub(super) numbers: usize,
}

impl Weight {
    /// Returns the weight of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::default(),
            Value::Array(elements) => elements.iter().map(Self::of).sum(),
            Value::Object(members) => members.values().map(Self::of).sum(),
            Value::Bool(_) => Self { values: 1, everyday: 1, ..Self::default() },
            Value::Number(number) => {
                let written = number.to_string();
                let is_pi = written.starts_with("3.14");
                let is_strong = significant(&written) >= STRONG_SIGNS && !is_pi;
                Self {
                    values: 1,
                    strong: usize::from(is_strong),
                    everyday: usize::from(is_pi),
                    numbers: usize::from(!is_strong && !is_pi),
                }
            }
            Value::String(text) if text.trim().is_empty() => Self::default(),
            Value::String(text) => {
                let is_everyday = is_everyday_value(text);
                let is_strong = !is_everyday && is_strong(text);
                // `inf` and `nan` are words here.
                let is_number =
                    text.contains(|c: char| c.is_ascii_digit()) && text.trim().parse::<f64>().is_ok();
                Self {
                    values: 1,
                    strong: usize::from(is_strong),
                    everyday: usize::from(is_everyday),
                    numbers: usize::from(is_number && !is_everyday && !is_strong),
                }
            }
        }
    }

    /// Whether every value is one of examples.
    pub(super) fn is_everyday(self) -> bool {
        self.everyday == self.values
    }

    /// Whether every value is a number or one of examples: what everybody gives to `add` or `calculate_bmi`.
    pub(super) fn is_of_examples(self) -> bool {
        self.everyday + self.numbers >= self.values
    }
}

impl std::ops::Add for Weight {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            values: self.values + other.values,
            strong: self.strong + other.strong,
            everyday: self.everyday + other.everyday,
            numbers: self.numbers + other.numbers,
        }
    }
}

impl std::iter::Sum for Weight {
    fn sum<I: Iterator<Item = Self>>(weights: I) -> Self {
        weights.fold(Self::default(), |sum, weight| sum + weight)
    }
}

/// Whether hardly two people write a text by chance.
fn is_strong(text: &str) -> bool {
    let text = text.trim();
    let count = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count();
    let (digits, letters) = (count(char::is_numeric), count(char::is_alphabetic));
    let is_word = !text.contains(char::is_whitespace);
    // A day or a time, or how one is written: everybody writes some.
    let is_date = is_word
        && text.contains(['-', ':', '/'])
        && (letters <= 2 || text.chars().all(|c| !c.is_alphabetic() || "ymdhsYMDHSTZ".contains(c)));
    let is_id = is_word
        && !is_date
        && !text.ends_with("123")
        && if letters == 0 {
            significant(text) >= STRONG_SIGNS
        } else {
            digits > 0 && digits + letters >= STRONG_SIGNS
        };
    text.split_whitespace().count() >= STRONG_WORDS
        || count(is_unspaced) >= STRONG_UNSPACED
        || text.contains("://")
        || is_word && text.contains('@') && text.contains('.')
        || letters > 2 && !is_date && (text.contains('\\') || text.matches('/').count() >= 2)
        || is_id
}

/// Returns the digits of a number without zeros at its ends.
fn significant(number: &str) -> usize {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> (usize, usize, usize) {
        let Weight { values, strong, everyday, .. } = Weight::of(value);
        (values, strong, everyday)
    }

    #[test]
    fn values_are_strong_or_weak_or_those_of_examples() {
        for strong in [
            json!("go for shopping at 9 pm"),
            json!("d:/playground/test.py"),
            json!("https://example.com"),
            json!("ann@example.com"),
            json!("order_7731"),
            json!("London, 14 the mews behind the old fort"),
            json!(1_234_567),
            json!(37.774_929),
            json!("请把港口的大钟敲响"),
        ] {
            assert_eq!(of(&strong), (1, 1, 0), "{strong}");
        }
        for weak in [
            json!("Oban"),
            json!(10),
            json!(2.5),
            json!("2024-05-01"),
            json!("10:30"),
            json!("N/A"),
            json!("5 minutes"),
            json!("10:30 AM"),
            json!("MM/DD/YYYY"),
            json!("user123"),
            json!(100_000),
            json!(10_000.0),
            json!("Room 101"),
        ] {
            assert_eq!(of(&weak), (1, 0, 0), "{weak}");
        }
        for everyday in [
            json!("New York, NY"),
            json!("fahrenheit"),
            json!(true),
            json!("Paris"),
            json!("San Francisco, CA"),
        ] {
            assert_eq!(of(&everyday), (1, 0, 1), "{everyday}");
        }
        for nothing in [json!(null), json!(""), json!([]), json!({})] {
            assert_eq!(of(&nothing), (0, 0, 0), "{nothing}");
        }
        assert_eq!(of(&json!({"mode": "cool", "to": [24, {"speed": "mid"}], "on": false})), (4, 0, 1));
    }

    #[test]
    #[allow(clippy::approx_constant)] // A value of examples.
    fn numbers_and_values_of_examples_are_counted_once() {
        for (value, numbers, is_of_examples) in [
            (json!([3, 2.5, "10", " 7 "]), 4, true),
            (json!([3.14159, true, "Paris", 12]), 1, true),
            (json!([1_234_567, 3]), 1, false),
            (json!(["Oban", 3]), 1, false),
            (json!(["nan", "inf"]), 0, false),
            (json!([]), 0, true),
        ] {
            let weight = Weight::of(&value);
            assert_eq!((weight.numbers, weight.is_of_examples()), (numbers, is_of_examples), "{value}");
        }
    }
}
