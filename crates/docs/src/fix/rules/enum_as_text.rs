//! The allowed values are one text with separators.

use serde_json::{Value, json};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;

/// Separators of values; the first one present is used.
const MARKS: [char; 4] = [',', '|', ';', '\n'];

pub(super) static RULE: FixRule = FixRule {
    code: "schema/enum-as-text",
    what: "The allowed values are one text with separators.",
    why: "BFCL requires a list. The text is split at its commas or bars, which could be part of a value, so the edit \
          is not safe.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "enum": "a, b, c"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["a, b"]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(text)) = schema.get("enum") else { return };
        let mark = MARKS.into_iter().find(|mark| text.contains(*mark)).unwrap_or(',');
        let values: Vec<_> = text
            .split(mark)
            .map(|value| json!(unquoted(value.trim())))
            .filter(|value| *value != "")
            .collect();
        opinion.change(Change::at(site.pointer).replace("enum", before, values));
    });
}

/// Returns a value without the quotes around it.
fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::fix;

    #[test]
    fn values_are_split_at_their_separator() {
        for (text, expected) in [
            ("a, b", json!(["a", "b"])),
            ("a|b, c", json!(["a|b", "c"])),
            ("a | b", json!(["a", "b"])),
            ("'a'; 'b'", json!(["a", "b"])),
            ("['a', 'b']", json!(["a", "b"])),
        ] {
            let function = json!({"name": "f", "description": "d", "parameters": {"type": "dict",
                "required": ["a"], "properties": {"a": {"type": "string", "description": "x", "enum": text}}}});
            let fixed = fix(&[function], Safety::Unsafe).functions;
            assert_eq!(fixed[0]["parameters"]["properties"]["a"]["enum"], expected, "{text}");
        }
    }
}
