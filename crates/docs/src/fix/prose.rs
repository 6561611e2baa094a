//! Reads a parameter described by a text: `integer`, `[REQUIRED] string: The name.`, `Optional. A page.`
//!
//! A mark and a type are removed only if a separator ends them; the rest is the description, unchanged. Words for a
//! kind of text (`Date: …`) stay in the description, as they are more specific than the type.

use serde_json::{Map, Value};

use super::notation;
use callsieve_bfcl::types::Type;

/// Prefixes that state whether the parameter is required.
const MARKS: [(&str, bool); 12] = [
    ("[required]", true),
    ("(required)", true),
    ("required.", true),
    ("required:", true),
    ("required,", true),
    ("required;", true),
    ("[optional]", false),
    ("(optional)", false),
    ("optional.", false),
    ("optional:", false),
    ("optional,", false),
    ("optional;", false),
];

/// The maximum length of a type before a separator.
const MAX_TYPE_CHARS: usize = 48;

/// Returns the text as a schema, with the mark `required` if it has one.
pub(super) fn schema(text: &str) -> Value {
    let (before, rest) = without_mark(text.trim());
    let (kind, rest) = without_type(rest);
    let (after, rest) = if kind.is_some() { without_mark(rest) } else { (None, rest) };
    let mut schema = Map::new();
    if let Some(kind) = kind {
        schema.insert("type".to_owned(), kind.into());
    }
    if !rest.is_empty() {
        schema.insert("description".to_owned(), rest.into());
    }
    if let Some(required) = before.or(after) {
        schema.insert("required".to_owned(), required.into());
    }
    Value::Object(schema)
}

fn without_mark(text: &str) -> (Option<bool>, &str) {
    let begins = |mark: &str| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    match MARKS.iter().find(|(mark, _)| begins(mark)) {
        Some((mark, required)) => (Some(*required), text[mark.len()..].trim_start()),
        None => (None, text),
    }
}

fn without_type(text: &str) -> (Option<&str>, &str) {
    // Brackets after a type contain the description, not a part of the type.
    if notation::read(text).is_some_and(|notation| notation.format.is_none()) {
        return (Some(text), "");
    }
    if let Some(kind) = text.strip_suffix('.').filter(|kind| is_type(kind)) {
        return (Some(kind), "");
    }
    for separator in [":", ". ", " - ", " ("] {
        let Some((kind, rest)) = text.split_once(separator) else { continue };
        let rest = rest.trim_start();
        let rest = if separator == " (" { rest.strip_suffix(')') } else { Some(rest) };
        if let Some(rest) = rest.filter(|_| is_type(kind)) {
            return (Some(kind.trim()), rest);
        }
    }
    (None, text)
}

fn is_type(text: &str) -> bool {
    let text = text.trim();
    text.len() <= MAX_TYPE_CHARS
        && notation::read(text).is_some_and(|notation| {
            notation.kind != Type::String
                || notation.optional
                || ["string", "str"].iter().any(|word| text.eq_ignore_ascii_case(word))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_types_before_a_separator_are_removed() {
        for (text, expected) in [
            ("integer", r#"{"type":"integer"}"#),
            ("string (optional)", r#"{"type":"string (optional)"}"#),
            (
                "[REQUIRED] string: The bell.",
                r#"{"type":"string","description":"The bell.","required":true}"#,
            ),
            (
                "Required. integer. How often.",
                r#"{"type":"integer","description":"How often.","required":true}"#,
            ),
            ("Required. integer. ", r#"{"type":"integer","required":true}"#),
            (
                "string (Optional. Which bell.)",
                r#"{"type":"string","description":"Which bell.","required":false}"#,
            ),
            ("List[int] - hours", r#"{"type":"List[int]","description":"hours"}"#),
            ("Required. The bell.", r#"{"description":"The bell.","required":true}"#),
            ("Latitude, decimal (-90; 90)", r#"{"description":"Latitude, decimal (-90; 90)"}"#),
            ("Date: when it rings", r#"{"description":"Date: when it rings"}"#),
            ("Required bells", r#"{"description":"Required bells"}"#),
            ("", "{}"),
        ] {
            assert_eq!(schema(text).to_string(), expected, "{text}");
        }
    }
}
