//! Converts BFCL schemas to the subset of `OpenAPI` 3.0 that Gemini accepts.
//!
//! Types are upper case. Keys outside the subset move to the description, worded as in BFCL's own converter, or are
//! omitted.

use serde_json::{Map, Value};

use super::ChangeLog;
use super::reasons::{DEFAULT_IN_DESCRIPTION, ENUM_IN_DESCRIPTION, KEY_LEFT_OUT, TYPE_REPLACED};
use crate::fix::values::mentions_default;
use crate::patch::token;
use callsieve_bfcl::types::Type;

/// Keys that Gemini accepts with BFCL's values.
const SAME_KEYS: [&str; 14] = [
    "title",
    "format",
    "nullable",
    "required",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "example",
];

/// Returns the schema of a function's parameters; `None` without parameters, as Gemini refuses the empty schema.
pub(super) fn parameters(bfcl: &Map<String, Value>, at: &str, story: &mut ChangeLog) -> Option<Value> {
    let has_parameters = bfcl.get("properties").is_none_or(|members| !is_empty(members));
    has_parameters.then(|| schema(bfcl, at, story))
}

fn schema(bfcl: &Map<String, Value>, at: &str, story: &mut ChangeLog) -> Value {
    let mut schema = Map::new();
    let mut sentences = Vec::new();
    for (key, value) in bfcl {
        let at = format!("{at}/{}", token(key));
        let converted = match key.as_str() {
            "type" => typed(value, at, story),
            "description" => value.clone(),
            "items" => inner(value, &at, story),
            "anyOf" => listed(value, &at, story),
            // Gemini refuses an object with empty properties.
            "properties" if !is_empty(value) => by_name(value, &at, story),
            "enum" if is_string_enum(bfcl, value) => value.clone(),
            "enum" => {
                sentences.push(format!("Enum values: {value}."));
                story.add(&ENUM_IN_DESCRIPTION, at, value, Value::Null);
                continue;
            }
            // A null default means no default. Omitting the key means the same in a parameter, unless the description mentions
            // one; in a nested schema nothing adds it again.
            "default" if value.is_null() => {
                if mentions_default(bfcl) || is_nested(&at) {
                    story.add(&KEY_LEFT_OUT, at, value, Value::Null);
                }
                continue;
            }
            "default" => {
                sentences.push(format!("Default is: {}.", spelled(value)));
                story.add(&DEFAULT_IN_DESCRIPTION, at, value, Value::Null);
                continue;
            }
            same if SAME_KEYS.contains(&same) => value.clone(),
            _ => {
                story.add(&KEY_LEFT_OUT, at, value, Value::Null);
                continue;
            }
        };
        schema.insert(key.clone(), converted);
    }
    describe(&mut schema, &sentences);
    schema.into()
}

/// Returns whether a key is deeper than those of a parameter, `/0/parameters/properties/NAME/KEY`.
fn is_nested(at: &str) -> bool {
    at.matches('/').count() > 5
}

/// Appends sentences to the description unless it already has them.
fn describe(schema: &mut Map<String, Value>, sentences: &[String]) {
    let mut description = match schema.get("description") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(_) => return,
    };
    for sentence in sentences {
        if !description.contains(sentence.as_str()) {
            let gap = if description.is_empty() { "" } else { " " };
            description += &format!("{gap}{sentence}");
        }
    }
    if !sentences.is_empty() {
        schema.insert("description".to_owned(), description.into());
    }
}

fn typed(value: &Value, at: String, story: &mut ChangeLog) -> Value {
    let Some(declared) = value.as_str().and_then(Type::named) else { return value.clone() };
    let kind = if declared == Type::Any { Type::String } else { declared };
    let kind = kind.json_schema_name().to_ascii_uppercase();
    if matches!(declared, Type::Any | Type::Tuple) {
        story.add(&TYPE_REPLACED, at, value, kind.clone().into());
    }
    kind.into()
}

fn is_string_enum(schema: &Map<String, Value>, values: &Value) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    schema.get("type").is_some_and(|kind| *kind == "string" || *kind == "any")
        && values.as_array().is_some_and(|values| values.iter().all(is_text))
}

fn is_empty(members: &Value) -> bool {
    members.as_object().is_some_and(Map::is_empty)
}

/// Returns a value as written in a sentence: a text without quotes, unless it is blank.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) if !text.trim().is_empty() => text.clone(),
        other => other.to_string(),
    }
}

fn inner(value: &Value, at: &str, story: &mut ChangeLog) -> Value {
    match value {
        Value::Object(bfcl) => schema(bfcl, at, story),
        other => other.clone(),
    }
}

fn listed(value: &Value, at: &str, story: &mut ChangeLog) -> Value {
    let Value::Array(all) = value else { return value.clone() };
    all.iter().enumerate().map(|(n, each)| inner(each, &format!("{at}/{n}"), story)).collect()
}

fn by_name(value: &Value, at: &str, story: &mut ChangeLog) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let member = |(name, each): (&String, &Value)| {
        (name.clone(), inner(each, &format!("{at}/{}", token(name)), story))
    };
    Value::Object(members.iter().map(member).collect())
}
