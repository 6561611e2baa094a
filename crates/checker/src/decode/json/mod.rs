//! Calls in JSON: `[{"function": "f", "parameters": {…}}]` (`json_parser.py`).
//!
//! The evaluator searches for the list with two patterns. The second ends at the first `}` that a `]` follows, so it
//! cuts calls whose arguments have a list of objects; what is no JSON then decodes to the empty list.

mod parse;

pub(super) use parse::json as loads;

use std::sync::LazyLock;

use regex::Regex;

use super::DecodeError;
use crate::value::{PyDict, PyValue};

/// A list of objects; `~` is a space as in Python.
static LIST_OF_OBJECTS: LazyLock<Regex> = LazyLock::new(|| {
    let space =
        r"[\t-\r\x1c-\x20\u{85}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}]";
    let text = r"(?s)\[~*\{.*?\}~*(?:,~*\{.*?\}~*)*\]".replace('~', space);
    Regex::new(&text).expect("the pattern is a constant, and a test uses it")
});

/// Decodes a list of objects. Elements that are no objects are skipped.
pub(super) fn decode(text: &str) -> Result<PyValue, DecodeError> {
    let text = match (text.find('['), text.rfind(']')) {
        (Some(start), Some(end)) if start < end => &text[start..=end],
        _ => text,
    };
    let text = LIST_OF_OBJECTS.find(text).map_or(text, |found| found.as_str());
    let parsed = match parse::json(text) {
        Ok(parsed) => parsed,
        Err(error) if error.exception == parse::SYNTAX => return Ok(PyValue::List(Vec::new())),
        Err(error) => return Err(error),
    };
    match parsed {
        PyValue::List(calls) => {
            let objects = calls.iter().filter_map(PyValue::as_dict);
            objects.map(call).collect::<Result<_, _>>().map(PyValue::List)
        }
        // Python iterates over the keys of an object and the characters of a text; none of them is an object.
        PyValue::Dict(_) | PyValue::Str(_) => Ok(PyValue::List(Vec::new())),
        _ => Err(DecodeError::new("TypeError", "the text is no list of calls")),
    }
}

fn call(members: &PyDict) -> Result<PyValue, DecodeError> {
    let member = |key: &str| {
        let member = members.get_str(key).cloned();
        member.ok_or_else(|| DecodeError::new("KeyError", format!("a call has no member {key:?}")))
    };
    let (name, arguments) = (member("function")?, member("parameters")?);
    if !name.is_hashable() {
        return Err(DecodeError::new("TypeError", "the name of a function is a list or an object"));
    }
    Ok(PyValue::Dict([(name, arguments)].into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use crate::decode::{OutputFormat, decode_text};

    fn decoded(text: &str) -> String {
        match decode_text(text, OutputFormat::Json, false) {
            Ok(value) => value.repr(),
            Err(error) => error.exception.to_owned(),
        }
    }

    #[test]
    fn calls_are_found_in_prose() {
        for (text, expected) in [
            (r#"Sure: [{"function": "f", "parameters": {"x": 1}}] [done]"#, "[{'f': {'x': 1}}]"),
            (
                r#"{"function": "f", "parameters": {}}, {"parameters": {"y": null}, "function": "g"}"#,
                "[{'f': {}}, {'g': {'y': None}}]",
            ),
            (r#"[1, {"function": 5, "parameters": 6}]"#, "[{5: 6}]"),
            (r#"[{"function": "f"}]"#, "KeyError"),
            (r#"[{"function": [], "parameters": {}}]"#, "TypeError"),
            ("", "[]"),
            ("no calls", "[]"),
            ("[NaN, {}]", "KeyError"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn a_list_of_objects_as_last_argument_cuts_the_calls() {
        assert_eq!(decoded(r#"[{"function": "f", "parameters": {"x": [{"a": 1}]}}]"#), "[]");
        let first = r#"[{"function": "f", "parameters": {"x": [{"a": 1}], "y": 2}}]"#;
        assert_eq!(decoded(first), "[]");
        let flat = r#"[{"function": "f", "parameters": {"x": [1]}}]"#;
        assert_eq!(decoded(flat), "[{'f': {'x': [1]}}]");
    }
}
