//! Reads the JSON of a line as programs write it, for logs and training sets alike: with `NaN`, `Infinity` and halves of surrogate
//! pairs as Python's `json` module writes them, as a dict or a list of them in Python syntax, or followed by the comma of a list.
//!
//! JSON has none of these, so strict parsers refuse the whole line. The numbers become null and the halves U+FFFD; nothing else
//! of the text is changed, and everything that is no JSON after that stays an error.

use std::borrow::Cow;

use serde_json::Value;

use callsieve_notation::python;

/// The numbers that only Python writes.
const NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Reads one JSON value.
///
/// # Errors
/// The error of the strict parser, if the text is no JSON in any of these forms either.
pub fn json(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let error = match serde_json::from_slice(bytes) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let Ok(text) = std::str::from_utf8(bytes) else { return Err(error) };
    let text = text.trim();
    if let Cow::Owned(repaired) = in_strict_json(text)
        && let Ok(value) = serde_json::from_str(&repaired)
    {
        return Ok(value);
    }
    let inside = text.strip_suffix(',').unwrap_or(text).trim_end();
    let is_whole = [('{', '}'), ('[', ']')]
        .iter()
        .any(|(open, end)| inside.starts_with(*open) && inside.ends_with(*end));
    if !is_whole {
        return Err(error);
    }
    let value = serde_json::from_str(&in_strict_json(inside)).ok();
    value.or_else(|| python::literal(inside).ok()).filter(holds_objects).ok_or(error)
}

/// Returns whether a value is an object, or a list of objects, such as the messages of a conversation.
fn holds_objects(value: &Value) -> bool {
    let is_list = |list: &Vec<Value>| !list.is_empty() && list.iter().all(Value::is_object);
    value.is_object() || value.as_array().is_some_and(is_list)
}

/// Replaces what strict parsers refuse; borrowed if there is nothing of it.
fn in_strict_json(text: &str) -> Cow<'_, str> {
    if !NUMBERS[1..].iter().any(|number| text.contains(number)) && !text.contains("\\u") {
        return text.into();
    }
    let (mut strict, mut rest, mut is_quoted, mut is_changed) =
        (String::with_capacity(text.len()), text, false, false);
    while let Some(character) = rest.chars().next() {
        let number = NUMBERS.iter().find(|number| !is_quoted && rest.starts_with(**number));
        let (taken, written) = if let Some(number) = number {
            (number.len(), Some("null"))
        } else if is_quoted && character == '\\' {
            escape(rest)
        } else {
            is_quoted ^= character == '"';
            (character.len_utf8(), None)
        };
        is_changed |= written.is_some();
        strict.push_str(written.unwrap_or(&rest[..taken]));
        rest = &rest[taken..];
    }
    if is_changed { strict.into() } else { text.into() }
}

/// Returns the length of an escape, with its second half, and what half a pair becomes.
fn escape(text: &str) -> (usize, Option<&'static str>) {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, None),
        (Some(0xd800..=0xdfff), _) => (6, Some("\u{fffd}")),
        (Some(_), _) => (6, None),
        (None, _) => (1 + text[1..].chars().next().map_or(0, char::len_utf8), None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Option<Value> {
        super::json(text.as_bytes()).ok()
    }

    #[test]
    fn what_python_writes_is_read_and_texts_keep_their_words() {
        for (text, expected) in [
            (r#"{"a": NaN, "b": [Infinity, -Infinity, 1]}"#, json!({"a": null, "b": [null, null, 1]})),
            (r#"{"a": "NaN \" NaN", "b": NaN}"#, json!({"a": "NaN \" NaN", "b": null})),
            (r#"{"a": "x\ud83dy \ud83d\ude00 \udc00"}"#, json!({"a": "x\u{fffd}y 😀 \u{fffd}"})),
            (r#"{"a": "\\ud83d", "b": NaN}"#, json!({"a": "\\ud83d", "b": null})),
            ("{'a': None, 'b': True}", json!({"a": null, "b": true})),
            (r#" {"a": 1},"#, json!({"a": 1})),
            (r#"[{"a": 1}],"#, json!([{"a": 1}])),
            ("[{'a': 1}]", json!([{"a": 1}])),
            (r#"{"a": NaN} , "#, json!({"a": null})),
            ("{'a': None},", json!({"a": null})),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_stays_an_error() {
        for text in [
            r#"{"a": NaN"#,
            "NaNs",
            "{'a': x}",
            "hello",
            r#"{"a": 1},,"#,
            "1,",
            "[1],",
            "['a']",
            r#"{"a": "\u12"}"#,
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
