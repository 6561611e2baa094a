//! A bound, a format or a pattern stands in a key of its own.

use serde_json::{Map, Value};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::walk::{Place, each_schema};
use crate::docs::fix::{Rule, Safety};

/// JSON Schema's keywords and the phrase for each, in the order the phrases are written.
const PHRASES: [(&str, &str); 14] = [
    ("format", "Format"),
    ("pattern", "Pattern"),
    ("const", "Constant value"),
    ("minimum", "Minimum value"),
    ("min", "Minimum value"),
    ("exclusiveMinimum", "Exclusive minimum value"),
    ("maximum", "Maximum value"),
    ("max", "Maximum value"),
    ("exclusiveMaximum", "Exclusive maximum value"),
    ("multipleOf", "Multiple of"),
    ("minLength", "Minimum length"),
    ("maxLength", "Maximum length"),
    ("minItems", "Minimum items"),
    ("maxItems", "Maximum items"),
];

/// The keywords that become a phrase.
pub(in crate::docs::fix) fn keywords() -> impl Iterator<Item = &'static str> {
    PHRASES.iter().map(|(keyword, _)| *keyword)
}

pub(super) static RULE: Rule = Rule {
    code: "schema/constraint-keyword",
    what: "A bound, a format or a pattern stands in a key of its own.",
    why: "BFCL has no keys for them; its own converters put them into the description, and so does this.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["n"], "properties": {
        "n": {"type": "integer", "description": "x", "minimum": 1}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["min"], "properties": {
        "min": {"type": "integer", "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let phrases = phrases(schema);
        // A description of another kind than text is for people to look at, and its constraints wait.
        let described = schema.get("description").is_none_or(|text| text.is_string() || text.is_null());
        if site.place == Place::Parameters || phrases.is_empty() || !described {
            return;
        }
        let mut description =
            schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut change = Change::at(site.pointer);
        for (key, value, phrase) in phrases {
            change = change.remove(key, value);
            if !description.contains(&phrase) {
                let gap = if description.trim().is_empty() { "" } else { " " };
                description = format!("{}{gap}{phrase}", description.trim_end());
            }
        }
        opinion.change(change.set(schema, "description", description));
    });
}

/// The constraints of a schema as `(key, value, sentence)`.
fn phrases(schema: &Map<String, Value>) -> Vec<(&'static str, &Value, String)> {
    let known = |(key, value)| Some((PHRASES.iter().position(|(known, _)| known == key)?, value));
    let mut found: Vec<(usize, &Value)> = schema.iter().filter_map(known).collect();
    found.sort_unstable_by_key(|(rank, _)| *rank);
    found
        .into_iter()
        .filter_map(|(rank, value)| Some((PHRASES[rank].0, value, phrase(rank, value)?)))
        .collect()
}

/// One constraint as a sentence; nothing for a value that bounds nothing.
fn phrase(rank: usize, value: &Value) -> Option<String> {
    let (key, words) = PHRASES[rank];
    match value {
        Value::String(text) if !text.is_empty() => Some(format!("{words}: {text}.")),
        Value::Number(_) => Some(format!("{words}: {value}.")),
        _ if key == "const" => Some(format!("{words}: {value}.")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::docs::fix::fix;

    #[test]
    fn constraints_are_said_in_the_description_once() {
        let property =
            json!({"type": "integer", "description": "x", "maximum": 5, "minimum": 1, "examples": [2]});
        let function = json!({"name": "f", "description": "d",
            "parameters": {"type": "dict", "required": ["n"], "properties": {"n": property}}});
        let fixed = fix(&[function], Safety::Safe).functions;
        let expected = r#"{"type":"integer","description":"x Minimum value: 1. Maximum value: 5."}"#;
        assert_eq!(fixed[0]["parameters"]["properties"]["n"].to_string(), expected);
    }
}
