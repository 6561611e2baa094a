//! A limit, a format or a pattern has its own key.

use serde_json::{Map, Value};

use crate::fix::keys::PHRASES;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};
use crate::fix::wording::sentence::with_sentence;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/constraint-keyword",
    what: "A limit, a format or a pattern has its own key.",
    why: "BFCL has no keys for them. As in its own converters, they become sentences of the description. \
          `exclusiveMinimum: true` makes the minimum next to it exclusive; `false` has no effect.",
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
        // A description that is not a text is reported, and its constraints stay.
        let described = schema.get("description").is_none_or(|text| text.is_string() || text.is_null());
        if site.place == SchemaPlace::Parameters || phrases.is_empty() || !described {
            return;
        }
        let mut description =
            schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut change = Change::at(site.pointer);
        for (key, value, phrase) in phrases {
            change = change.remove(key, value);
            if let Some(phrase) = phrase.filter(|phrase| !description.contains(phrase)) {
                description = with_sentence(&description, &phrase);
            }
        }
        opinion.change(change.set(schema, "description", description));
    });
}

/// Returns the constraints of a schema as `(key, value, sentence)`; the sentence is `None` if another one covers it.
fn phrases(schema: &Map<String, Value>) -> Vec<(&'static str, &Value, Option<String>)> {
    let known = |(key, value)| Some((PHRASES.iter().position(|(known, _)| known == key)?, value));
    let mut found: Vec<(usize, &Value)> = schema.iter().filter_map(known).collect();
    found.sort_unstable_by_key(|(rank, _)| *rank);
    found
        .into_iter()
        .filter_map(|(rank, value)| {
            let key = PHRASES[rank].0;
            match flag(key, value) {
                Some(_) => has_bound(schema, key).then_some((key, value, None)),
                None => Some((key, value, Some(phrase(rank, value, schema)?))),
            }
        })
        .collect()
}

/// The limits that a flag of the fourth draft of JSON Schema makes exclusive.
const EXCLUSIVE: [(&str, [&str; 2], &str); 2] = [
    ("exclusiveMinimum", ["minimum", "min"], "Exclusive minimum value"),
    ("exclusiveMaximum", ["maximum", "max"], "Exclusive maximum value"),
];

/// Returns the value of a flag under this key.
fn flag(key: &str, value: &Value) -> Option<bool> {
    EXCLUSIVE.iter().find(|(flag, ..)| *flag == key)?;
    match value {
        Value::Bool(is_exclusive) => Some(*is_exclusive),
        Value::String(text) => text.trim().to_ascii_lowercase().parse().ok(),
        _ => None,
    }
}

/// Returns true if the limit of a flag is present.
fn has_bound(schema: &Map<String, Value>, flag: &str) -> bool {
    let bounds = EXCLUSIVE.iter().find(|(key, ..)| *key == flag).map(|(_, bounds, _)| bounds);
    let is_bound = |key: &&str| schema.get(*key).is_some_and(|value| value.is_number() || value.is_string());
    bounds.is_some_and(|bounds| bounds.iter().any(is_bound))
}

/// Returns one constraint as a sentence; `None` for a value that restricts nothing.
fn phrase(rank: usize, value: &Value, schema: &Map<String, Value>) -> Option<String> {
    let (key, words) = PHRASES[rank];
    let exclusive = EXCLUSIVE.iter().find(|(flag, bounds, _)| {
        bounds.contains(&key) && schema.get(*flag).and_then(|value| self::flag(flag, value)) == Some(true)
    });
    let words = exclusive.map_or(words, |(.., words)| words);
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
    use crate::fix::fix;

    #[test]
    fn each_constraint_is_in_the_description_once() {
        let property =
            json!({"type": "integer", "description": "x", "maximum": 5, "minimum": 1, "examples": [2]});
        let function = json!({"name": "f", "description": "d",
            "parameters": {"type": "dict", "required": ["n"], "properties": {"n": property}}});
        let fixed = fix(&[function], Safety::Safe).functions;
        let expected = r#"{"type":"integer","description":"x. Minimum value: 1. Maximum value: 5."}"#;
        assert_eq!(fixed[0]["parameters"]["properties"]["n"].to_string(), expected);
    }

    #[test]
    fn exclusive_bounds_are_read_in_both_spellings() {
        for (bounds, expected) in [
            (json!({"exclusiveMinimum": 0}), "x. Exclusive minimum value: 0."),
            (json!({"minimum": 0, "exclusiveMinimum": true}), "x. Exclusive minimum value: 0."),
            (json!({"exclusiveMaximum": true, "maximum": 9}), "x. Exclusive maximum value: 9."),
            (json!({"minimum": 0, "exclusiveMinimum": false}), "x. Minimum value: 0."),
            (
                json!({"minimum": 0, "exclusiveMinimum": 1}),
                "x. Minimum value: 0. Exclusive minimum value: 1.",
            ),
            (json!({"exclusiveMinimum": true}), "x"),
        ] {
            let mut property = json!({"type": "integer", "description": "x"});
            property.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
            let function = json!({"name": "f", "description": "d",
                "parameters": {"type": "dict", "required": ["n"], "properties": {"n": property}}});
            let fixed = fix(&[function], Safety::Safe).functions;
            let expected = json!({"type": "integer", "description": expected});
            assert_eq!(fixed[0]["parameters"]["properties"]["n"], expected, "{bounds}");
        }
    }
}
