//! Writes JSON byte for byte as Python's `json.dumps` does with its defaults.
//!
//! The official dataset files have this format, so a dataset with the same format can be
//! compared with them line by line. A number keeps its original text: `1.50` stays `1.50`, where
//! Python would parse it and write `1.5`.

use std::io::{self, Write};

use serde_json::Value;

/// Writes a value in ASCII, with `", "` and `": "` as separators and keys in their order.
///
/// # Errors
/// If the writer fails.
pub fn write_value(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    match value {
        Value::Null => out.write_all(b"null"),
        Value::Bool(true) => out.write_all(b"true"),
        Value::Bool(false) => out.write_all(b"false"),
        Value::Number(number) => out.write_all(number.as_str().as_bytes()),
        Value::String(text) => write_string(out, text),
        Value::Array(elements) => write_array(out, elements),
        Value::Object(members) => write_object(out, members.iter().map(|(key, value)| (key.as_str(), value))),
    }
}

/// Writes an array of these values.
///
/// # Errors
/// If the writer fails.
pub fn write_array<'a>(out: &mut dyn Write, elements: impl IntoIterator<Item = &'a Value>) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.write_all(b", ")?;
        }
        write_value(out, element)?;
    }
    out.write_all(b"]")
}

/// Writes an object with these members, in this order.
///
/// # Errors
/// If the writer fails.
pub fn write_object<'a>(
    out: &mut dyn Write,
    members: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> io::Result<()> {
    out.write_all(b"{")?;
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.write_all(b", ")?;
        }
        write_string(out, key)?;
        out.write_all(b": ")?;
        write_value(out, value)?;
    }
    out.write_all(b"}")
}

/// Writes a string with quotes; characters that are not printable ASCII are escaped.
///
/// # Errors
/// If the writer fails.
pub fn write_string(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut plain_from = 0;
    for (at, character) in text.char_indices() {
        if matches!(character, ' '..='~') && !matches!(character, '"' | '\\') {
            continue;
        }
        out.write_all(&text.as_bytes()[plain_from..at])?;
        write_escape(out, character)?;
        plain_from = at + character.len_utf8();
    }
    out.write_all(&text.as_bytes()[plain_from..])?;
    out.write_all(b"\"")
}

fn write_escape(out: &mut dyn Write, character: char) -> io::Result<()> {
    match character {
        '"' => out.write_all(b"\\\""),
        '\\' => out.write_all(b"\\\\"),
        '\n' => out.write_all(b"\\n"),
        '\r' => out.write_all(b"\\r"),
        '\t' => out.write_all(b"\\t"),
        '\u{8}' => out.write_all(b"\\b"),
        '\u{c}' => out.write_all(b"\\f"),
        _ => character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}")),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn dumped(value: &Value) -> String {
        let mut out = Vec::new();
        write_value(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn separators_have_a_blank_and_keys_keep_their_order() {
        assert_eq!(dumped(&json!({"b": [1, true, null], "a": {}})), r#"{"b": [1, true, null], "a": {}}"#);
    }

    #[test]
    fn text_outside_printable_ascii_is_escaped_in_utf16_units() {
        assert_eq!(
            dumped(&json!("café 😀\u{7f}\u{1}\n\t\"\\/")),
            r#""caf\u00e9 \ud83d\ude00\u007f\u0001\n\t\"\\/""#
        );
    }

    #[test]
    fn numbers_keep_their_original_text() {
        let text = "[1.50, 1e+5, -0, 123456789012345678901234567890]";
        assert_eq!(dumped(&serde_json::from_str(text).unwrap()), text);
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "a skipped test prints a note")]
    fn the_output_equals_that_of_python() {
        let every_character: String = (0..0x2_0000).filter_map(char::from_u32).collect();
        let value = json!({"text": every_character, "nested": [[], {}, {"ü": [-7, 0.25, false]}]});
        let python = Command::new("python3")
            .args(["-c", "import json,sys; sys.stdout.write(json.dumps(json.load(sys.stdin)))"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut python) = python else {
            println!("skipped: no python3 here");
            return;
        };
        let text = serde_json::to_vec(&value).unwrap();
        python.stdin.take().unwrap().write_all(&text).unwrap();
        let theirs = python.wait_with_output().unwrap().stdout;
        assert_eq!(dumped(&value), String::from_utf8(theirs).unwrap());
    }

    proptest! {
        #[test]
        fn the_output_is_ascii_and_parses_to_the_same_value(value in any_json()) {
            let text = dumped(&value);
            prop_assert!(text.is_ascii());
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }
}
