//! The canonical JSON of a state, and its hash.
//!
//! Two values have the same canonical text if JSON Schema calls them equal: the order of keys and the spelling of numbers
//! (`1`, `1.0`, `1e0`) do not matter. Integers keep all digits; other numbers are compared as 64-bit floating point.

use callsieve_text::content_hash::content_hash;
use serde_json::{Number, Value};

/// Integers up to this size are exact as floating point.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the canonical text of a value.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Returns the hash of a visible state: 32 hexadecimal digits of the BLAKE3 hash of its canonical text.
pub fn state_hash(state: &Value) -> String {
    hash_of_canonical(&canonical(state))
}

/// Returns the hash of a canonical text.
pub(crate) fn hash_of_canonical(text: &str) -> String {
    format!("{:032x}", content_hash(text))
}

/// Adds the canonical text of a value.
pub(crate) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => write_list(items, out),
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (place, (key, value)) in members.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn write_list(items: &[Value], out: &mut String) {
    out.push('[');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

/// Adds a text with the few escapes that JSON requires.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            char if char < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => out.push(char),
        }
    }
    out.push('"');
}

fn write_number(number: &Number, out: &mut String) {
    let written = number.as_str();
    if written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        // `-0` is the only integer with two spellings.
        out.push_str(if written == "-0" { "0" } else { written });
        return;
    }
    match number.as_f64() {
        Some(value) if value.fract() == 0.0 && value.abs() < MAX_EXACT => {
            out.push_str(&format!("{}", value + 0.0));
        }
        Some(value) if value.is_finite() => out.push_str(&format!("{value:e}")),
        _ => out.push_str(written),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    fn of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(of(r#"{"b": [1.0, -0.0, 1e2], "a": "\u0041"}"#), r#"{"a":"A","b":[1,0,100]}"#);
        assert_eq!(of("0.10"), of("1e-1"));
        assert_ne!(of("1"), of("1.5"));
        assert_ne!(of(r#""1""#), of("1"));
        assert_eq!(of("123456789012345678901234567890"), "123456789012345678901234567890");
        assert_eq!(state_hash(&json!({})).len(), 32);
    }

    /// Reverses the order of all keys.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(reversed).collect(),
            Value::Object(members) => {
                let members = members.iter().rev().map(|(key, value)| (key.clone(), reversed(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn the_text_is_json_of_an_equal_value(value in callsieve_testkit::arbitrary::json_value()) {
            let text = canonical(&value);
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical(&read), text.clone());
            prop_assert_eq!(canonical(&reversed(&value)), text);
        }
    }
}
