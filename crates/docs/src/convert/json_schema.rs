//! Converts BFCL schemas to JSON Schema.

use serde_json::{Map, Value};

use super::ChangeLog;
use super::reasons::TYPE_REPLACED;
use crate::patch::token;
use callsieve_bfcl::types::Type;

/// Keys whose value is a schema, or a list of schemas.
const WITH_SCHEMA: [&str; 7] =
    ["items", "not", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems"];

/// Keys whose value is an object of schemas by name.
const WITH_SCHEMAS_BY_NAME: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// Returns a schema with JSON Schema types. The type `any` is omitted: without a type, every value is valid.
pub(super) fn schema(bfcl: &Map<String, Value>, at: &str, story: &mut ChangeLog) -> Value {
    let mut schema = Map::new();
    for (key, value) in bfcl {
        let at = format!("{at}/{}", token(key));
        match key.as_str() {
            "type" if *value == "any" => continue,
            "type" => schema.insert(key.clone(), typed(value, at, story)),
            key_of_one if WITH_SCHEMA.contains(&key_of_one) => {
                schema.insert(key.clone(), schema_or_list(value, &at, story))
            }
            key_of_all if WITH_SCHEMAS_BY_NAME.contains(&key_of_all) => {
                schema.insert(key.clone(), by_name(value, &at, story))
            }
            _ => schema.insert(key.clone(), value.clone()),
        };
    }
    schema.into()
}

fn typed(value: &Value, at: String, story: &mut ChangeLog) -> Value {
    if *value == "tuple" {
        story.add(&TYPE_REPLACED, at, value, "array".into());
    }
    match value {
        Value::String(word) => json_type(word).into(),
        other => other.clone(),
    }
}

/// Returns the JSON Schema type of a BFCL type; other words are unchanged.
fn json_type(bfcl: &str) -> &str {
    Type::named(bfcl).map_or(bfcl, |kind| kind.json_schema_name())
}

fn schema_or_list(value: &Value, at: &str, story: &mut ChangeLog) -> Value {
    match value {
        Value::Object(inner) => schema(inner, at, story),
        Value::Array(all) => {
            let each = all.iter().enumerate();
            each.map(|(n, inner)| schema_or_list(inner, &format!("{at}/{n}"), story)).collect()
        }
        other => other.clone(),
    }
}

fn by_name(value: &Value, at: &str, story: &mut ChangeLog) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let member = |(name, inner): (&String, &Value)| {
        (name.clone(), schema_or_list(inner, &format!("{at}/{}", token(name)), story))
    };
    Value::Object(members.iter().map(member).collect())
}
