//! Canonical text and hash of a list of functions, to find exact duplicates.
//!
//! Keys are sorted, whitespace is removed, numbers have one spelling. The order of array elements is content, so
//! lists with the same functions in a different order have different keys. For near duplicates see `compared` and
//! `similarity`.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use callsieve_text::content_hash::content_hash;

/// Returns the functions as JSON with sorted keys and no whitespace.
pub fn text(functions: &[Value]) -> String {
    let mut out = String::with_capacity(1024);
    write_all(functions, &mut out);
    out
}

/// Returns any JSON value in the same form.
pub fn value_text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// Returns the 128-bit hash of the canonical text; it does not depend on the order of keys.
pub fn key(functions: &[Value]) -> u128 {
    content_hash(text(functions))
}

fn write_all(values: &[Value], out: &mut String) {
    out.push('[');
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_value(value, out);
    }
    out.push(']');
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by_key(|(name, _)| name.as_str());
            out.push('{');
            for (n, (name, member)) in members.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_text(name, out);
                out.push(':');
                write_value(member, out);
            }
            out.push('}');
        }
        Value::Array(values) => write_all(values, out),
        Value::String(string) => write_text(string, out),
        Value::Number(number) => write_number(number, out),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
    }
}

/// Writes a quoted string. Only what JSON requires is escaped, so most text is copied in one piece.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')) {
        out.push_str(&rest[..at]);
        let special = rest.as_bytes()[at];
        if special < b' ' {
            let _ = write!(out, "\\u{special:04x}");
        } else {
            out.extend(['\\', char::from(special)]);
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Writes a number in its only spelling: `1.10`, `1.1` and `11e-1` are equal; integers keep all digits.
fn write_number(number: &Number, out: &mut String) {
    let written = number.as_str();
    let fraction = written.contains(['.', 'e', 'E']);
    match number.as_f64().filter(|value| fraction && value.is_finite()) {
        Some(value) => {
            let _ = write!(out, "{value:?}");
        }
        None => out.push_str(written),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use callsieve_testkit::arbitrary::json_value;

    #[test]
    fn keys_are_sorted_at_every_depth_and_arrays_keep_their_order() {
        let functions = [json!({"name": "f", "a": {"z": 1, "b": ["y", "x"]}})];
        assert_eq!(text(&functions), r#"[{"a":{"b":["y","x"],"z":1},"name":"f"}]"#);
    }

    #[test]
    fn equal_numbers_have_one_spelling_and_integers_stay_integers() {
        let read = |text: &str| vec![serde_json::from_str::<Value>(text).unwrap()];
        assert_eq!(
            text(&read("[1.10, 11e-1, 1, 1.0, 123456789012345678901234567890, 1e999]")),
            "[[1.1,1.1,1,1.0,123456789012345678901234567890,1e+999]]"
        );
    }

    #[test]
    fn order_of_keys_does_not_change_the_key_but_order_of_functions_does() {
        let (f, g) = (json!({"name": "f", "description": "d"}), json!({"description": "d", "name": "f"}));
        assert_eq!(key(std::slice::from_ref(&f)), key(std::slice::from_ref(&g)));
        let h = json!({"name": "h"});
        assert_ne!(key(&[f.clone(), h.clone()]), key(&[h, f]));
    }

    proptest! {
        #[test]
        fn canonical_text_parses_to_the_same_value(value in json_value()) {
            let functions = [value];
            let read: Vec<Value> = serde_json::from_str(&text(&functions)).unwrap();
            prop_assert_eq!(text(&read), text(&functions));
        }
    }
}
