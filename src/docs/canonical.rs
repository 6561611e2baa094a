//! One text, and one key, for all ways of writing the same functions.
//!
//! Keys are sorted, blanks are gone, numbers are spelled one way. Order inside
//! arrays is content and stays, so lists that hold the same functions in another
//! order have different keys. Used to find docs that are exactly the same; near
//! copies are a matter of `text` and `similarity`.

use std::fmt::Write as _;

use serde_json::{Number, Value};
use xxhash_rust::xxh3::xxh3_128;

/// The functions as JSON with sorted keys and no blanks.
pub fn text(functions: &[Value]) -> String {
    let mut out = String::with_capacity(1024);
    write_all(functions, &mut out);
    out
}

/// Any JSON value in the same form.
pub fn value_text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// The 128-bit hash of the canonical text: equal for equal functions, whatever their key order.
pub fn key(functions: &[Value]) -> u128 {
    xxh3_128(text(functions).as_bytes())
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

/// Quotes a string; only what JSON forces is escaped, so most text is copied in one piece.
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

/// `1.10`, `1.1` and `11e-1` are one number; whole numbers keep every digit, and `1` stays apart from `1.0`.
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
    use crate::notation::arbitrary::json_value;

    #[test]
    fn keys_are_sorted_at_every_depth_and_arrays_keep_their_order() {
        let functions = [json!({"name": "f", "a": {"z": 1, "b": ["y", "x"]}})];
        assert_eq!(text(&functions), r#"[{"a":{"b":["y","x"],"z":1},"name":"f"}]"#);
    }

    #[test]
    fn numbers_are_spelled_one_way_and_keep_their_kind() {
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
        fn the_text_reads_back_as_the_same_value(value in json_value()) {
            let functions = [value];
            let read: Vec<Value> = serde_json::from_str(&text(&functions)).unwrap();
            prop_assert_eq!(text(&read), text(&functions));
        }
    }
}
