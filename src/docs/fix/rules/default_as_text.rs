//! A default of another type is written as text.

use serde_json::{Number, Value, json};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::walk::each_schema;
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/default-as-text",
    what: "A default of another type is written as text.",
    why: "`\"10\"` for an integer says 10; it is cast where the text is exactly how the value is written.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "false"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "dontcare"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
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
