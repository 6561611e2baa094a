//! What is taken where a parameter is left out.
//!
//! A default of the wrong kind is cast only where nothing is lost: `"10"` becomes 10
//! for an integer. Anything else (`"dontcare"` for a boolean) is left, as the editors
//! of the official data left it, and is a finding.

use serde_json::{Map, Number, Value, json};

use super::opinion::{Change, Opinion};
use super::walk::{Place, each_schema};
use super::{Rule, Safety};

pub(super) static ENUM_AS_TEXT: Rule = Rule {
    code: "schema/enum-as-text",
    what: "The allowed values are one text with commas.",
    why: "BFCL wants a list; the text is cut at its commas, which could be part of a value, so the edit is not safe.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "enum": "a, b, c"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["a, b"]}}}}"#,
    judge: enum_as_text,
};

fn enum_as_text(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(text)) = schema.get("enum") else { return };
        let values: Vec<_> =
            text.split(',').map(|value| json!(value.trim())).filter(|value| *value != "").collect();
        opinion.change(Change::at(site.pointer).replace("enum", before, values));
    });
}

pub(super) static DEFAULT_AS_TEXT: Rule = Rule {
    code: "schema/default-as-text",
    what: "A default of another type is written as text.",
    why: "`\"10\"` for an integer says 10; it is cast where the text is exactly how the value is written.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "false"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "dontcare"}}}}"#,
    judge: default_as_text,
};

fn default_as_text(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(text)) = schema.get("default") else { return };
        // An enum that holds the text as it is means the text.
        let chosen =
            schema.get("enum").and_then(Value::as_array).is_some_and(|choices| choices.contains(before));
        let kind = schema.get("type").and_then(Value::as_str).filter(|_| !chosen);
        if let Some(value) = kind.and_then(|kind| cast(text, kind)) {
            opinion.change(Change::at(site.pointer).replace("default", before, value));
        }
    });
}

pub(super) static OPTIONAL_WITHOUT_DEFAULT: Rule = Rule {
    code: "schema/optional-without-default",
    what: "A parameter may be left out, and nothing says what is taken then.",
    why: "The recipe wants a default, in its field or in the description. Null says that there is none.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "Page size. Default is 10."}}}}"#,
    judge: optional_without_default,
};

fn optional_without_default(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    each_schema(functions, |site, schema| {
        let Place::Parameter(name) = site.place else { return };
        let required = functions[site.function].pointer("/parameters/required").and_then(Value::as_array);
        let optional = required.is_some_and(|required| !required.contains(&json!(name)));
        if optional && !schema.contains_key("default") && !mentions_default(schema) {
            opinion.change(Change::at(site.pointer).add("default", Value::Null));
        }
    });
}

fn mentions_default(schema: &Map<String, Value>) -> bool {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    description.to_lowercase().contains("default")
}

/// The value of a text, where the text is exactly how a value of that type is written.
fn cast(text: &str, kind: &str) -> Option<Value> {
    match (kind, text) {
        ("boolean", "true" | "True") => Some(json!(true)),
        ("boolean", "false" | "False") => Some(json!(false)),
        ("integer", _) => text.parse::<i64>().ok().filter(|value| value.to_string() == text).map(Value::from),
        ("float", _) => {
            serde_json::from_str(text).ok().filter(|n: &Number| n.as_str() == text).map(Value::Number)
        }
        ("array", _) if text.starts_with('[') => serde_json::from_str(text).ok(),
        ("dict", _) if text.starts_with('{') => serde_json::from_str(text).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_exactly_a_value_is_cast() {
        for (kind, text, expected) in [
            ("integer", "10", Some("10")),
            ("integer", "010", None),
            ("integer", "10.0", None),
            ("integer", "dontcare", None),
            ("float", "1.50", Some("1.50")),
            ("float", "1,5", None),
            ("float", " 1", None),
            ("boolean", "False", Some("false")),
            ("boolean", "no", None),
            ("array", "[]", Some("[]")),
            ("string", "10", None),
        ] {
            assert_eq!(cast(text, kind).map(|value| value.to_string()).as_deref(), expected, "{kind} {text}");
        }
    }
}
