//! A nested schema has a list of required properties.

use serde_json::{Map, Value};

use crate::fix::keys::DESCRIPTION;
use crate::fix::marks;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::REQUIRED;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};
use crate::fix::wording::sentence::with_sentence;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/nested-required",
    what: "A nested schema has a list of required properties.",
    why: "BFCL supports `required` only for the function's own parameters; no official doc has it deeper, and every \
          property is taken as required. A list of some of the properties becomes a sentence of the description \
          (`Required keys: a, b.`), as does the mark of a single property (`Optional.`).",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "required": [], "properties": {}}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {}}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        if site.place == SchemaPlace::Parameters {
            return;
        }
        for (key, before) in schema {
            let mark = marks::read(key, before);
            // The mark of a parameter belongs in the list of its function.
            let is_left = mark.is_some() && matches!(site.place, SchemaPlace::Parameter(_));
            if is_left || mark.is_none() && key != REQUIRED {
                continue;
            }
            let sentence = match (mark, site.place) {
                (None, _) => listed(before, schema),
                (Some(mark), SchemaPlace::Member(_)) => marked(mark, schema),
                (Some(_), _) => None,
            };
            let change = Change::at(site.pointer).remove(key, before);
            opinion.change(match sentence.and_then(|sentence| described(schema, &sentence)) {
                Some(text) => change.set(schema, DESCRIPTION, text),
                None => change,
            });
            // The next key is handled after this description has changed.
            return;
        }
    });
}

/// Returns the required properties if there are others.
fn listed(required: &Value, schema: &Map<String, Value>) -> Option<String> {
    let members = schema.get("properties")?.as_object()?;
    let names: Vec<_> = required.as_array()?.iter().filter_map(Value::as_str).collect();
    let is_needed = |name: &&String| names.contains(&name.as_str());
    let needed: Vec<_> = members.keys().filter(is_needed).map(String::as_str).collect();
    let says_something = !needed.is_empty() && needed.len() < members.len();
    says_something.then(|| format!("Required keys: {}.", needed.join(", ")))
}

/// Returns the mark of a property as a sentence, unless its description already states it.
fn marked(is_required: bool, schema: &Map<String, Value>) -> Option<String> {
    let text = schema.get(DESCRIPTION).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let (word, sentence) = if is_required { ("required", "Required.") } else { ("optional", "Optional.") };
    (!text.contains(word)).then(|| sentence.to_owned())
}

/// Returns the description with a sentence appended; `None` if it is not a text, or has the sentence.
fn described(schema: &Map<String, Value>, sentence: &str) -> Option<String> {
    match schema.get(DESCRIPTION) {
        None | Some(Value::Null) => Some(sentence.to_owned()),
        Some(Value::String(text)) => (!text.contains(sentence)).then(|| with_sentence(text, sentence)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    fn fixed(member: &Value) -> Value {
        let function = json!({"name": "f", "description": "d",
            "parameters": {"type": "dict", "required": ["a"], "properties": {"a": member}}});
        fix(&[function], Safety::Safe).functions[0]["parameters"]["properties"]["a"].clone()
    }

    #[test]
    fn differences_between_properties_are_kept_as_text() {
        let of = |description: &str| json!({"type": "string", "description": description});
        let members = json!({"b": of("x"), "c": of("y")});
        for (required, expected) in [
            (json!(["c"]), "Where. Required keys: c."),
            (json!(["b", "c"]), "Where"),
            (json!([]), "Where"),
            (json!(["ghost"]), "Where"),
        ] {
            let dict =
                json!({"type": "dict", "description": "Where", "required": required, "properties": members});
            let expected = json!({"type": "dict", "description": expected, "properties": members});
            assert_eq!(fixed(&dict), expected);
        }
    }

    #[test]
    fn the_mark_of_a_nested_property_becomes_a_sentence() {
        let dict = json!({"type": "dict", "description": "Where", "properties": {
            "b": {"type": "string", "description": "x", "required": true},
            "c": {"type": "string", "description": "y", "optional": true},
            "e": {"type": "string", "description": "Optional. z", "required": false}}});
        let expected = json!({"type": "dict", "description": "Where", "properties": {
            "b": {"type": "string", "description": "x. Required."},
            "c": {"type": "string", "description": "y. Optional."},
            "e": {"type": "string", "description": "Optional. z"}}});
        assert_eq!(fixed(&dict), expected);
    }
}
