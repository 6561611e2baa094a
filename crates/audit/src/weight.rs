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
}

impl Weight {
    /// Returns the weight of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::default(),
            Value::Array(elements) => elements.iter().map(Self::of).sum(),
            Value::Object(members) => members.values().map(Self::of).sum(),
            Value::Bool(_) => Self { values: 1, strong: 0, everyday: 1 },
            Value::Number(number) => {
                let digits = number.to_string().bytes().filter(u8::is_ascii_digit).count();
                Self { values: 1, strong: usize::from(digits >= STRONG_SIGNS), everyday: 0 }
            }
            Value::String(text) if text.trim().is_empty() => Self::default(),
            Value::String(text) => {
                let is_everyday = is_everyday_value(text);
                Self {
                    values: 1,
                    strong: usize::from(!is_everyday && is_strong(text)),
                    everyday: usize::from(is_everyday),
                }
            }
        }
    }

    /// Whether every value is one of examples.
    pub(super) fn is_everyday(self) -> bool {
        self.everyday == self.values
    }
}

impl std::ops::Add for Weight {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            values: self.values + other.values,
            strong: self.strong + other.strong,
            everyday: self.everyday + other.everyday,
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
    let digits = count(|c| c.is_numeric());
    let letters = count(char::is_alphabetic);
    // A day or a time: everybody writes some.
    let is_date = letters <= 2 && text.contains(['-', ':', '/']) && !text.contains(char::is_whitespace);
    text.split_whitespace().count() >= STRONG_WORDS
        || count(is_unspaced) >= STRONG_UNSPACED
        || text.contains("://")
        || text.contains('@') && text.contains('.')
        || letters > 2 && (text.contains('\\') || text.matches('/').count() >= 2)
        || !is_date && digits > 0 && digits + letters >= STRONG_SIGNS
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> (usize, usize, usize) {
        let Weight { values, strong, everyday } = Weight::of(&value);
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
            json!(1_234_567),
            json!(37.774_929),
            json!("请把港口的大钟敲响"),
        ] {
            assert_eq!(of(strong.clone()), (1, 1, 0), "{strong}");
        }
        for weak in [json!("Oban"), json!(10), json!(2.5), json!("2024-05-01"), json!("10:30"), json!("N/A")]
        {
            assert_eq!(of(weak.clone()), (1, 0, 0), "{weak}");
        }
        for everyday in [
            json!("New York, NY"),
            json!("fahrenheit"),
            json!(true),
            json!("Paris"),
            json!("San Francisco, CA"),
        ] {
            assert_eq!(of(everyday.clone()), (1, 0, 1), "{everyday}");
        }
        for nothing in [json!(null), json!(""), json!([]), json!({})] {
            assert_eq!(of(nothing.clone()), (0, 0, 0), "{nothing}");
        }
        assert_eq!(of(json!({"mode": "cool", "to": [24, {"speed": "mid"}], "on": false})), (4, 0, 1));
    }
}
