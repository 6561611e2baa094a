//! A value for a parameter, by its schema alone: what the schema states, or the least that satisfies it.
//!
//! Nothing is invented: a text without an example, a default or a list of values has none, and neither has an integer
//! without a minimum.

use serde_json::{Map, Value, json};

/// The most elements of a list that its schema can ask for.
const MAX_ITEMS: u64 = 20;

/// Returns an example, the default, the first allowed value, or the least valid value of a schema.
pub(super) fn value_of(schema: &Value) -> Option<Value> {
    let map = schema.as_object()?;
    let kind = kind(map);
    stated(map).map(|value| typed(value, kind.as_deref())).or_else(|| least(map, kind.as_deref()))
}

/// Returns the value that a schema states, the best first.
fn stated(map: &Map<String, Value>) -> Option<&Value> {
    let first = |value: &'_ Value| -> bool { !value.is_null() };
    let single = |key: &str| map.get(key).filter(|value| first(value));
    let of_examples = || match map.get("examples")? {
        Value::Array(examples) => examples.iter().find(|example| first(example)),
        // Version 3 of OpenAPI has named examples with a value.
        Value::Object(examples) => examples.values().find_map(|example| example.get("value")),
        _ => None,
    };
    let of_enum = || map.get("enum")?.as_array()?.iter().find(|value| first(value));
    single("example")
        .or_else(of_examples)
        .or_else(|| single("default"))
        .or_else(|| single("const"))
        .or_else(of_enum)
}

/// Returns the name of the type in lower case, as JSON Schema and other notations have it; the first one that is not null.
fn kind(map: &Map<String, Value>) -> Option<String> {
    let name = match map.get("type")? {
        Value::Array(names) => names.iter().find_map(|name| name.as_str().filter(|name| *name != "null")),
        name => name.as_str(),
    };
    let name = name?.to_lowercase();
    let name = match name.as_str() {
        "int" | "long" => "integer",
        "float" | "double" => "number",
        "bool" => "boolean",
        "str" => "string",
        "dict" => "object",
        "list" | "tuple" => "array",
        other => other,
    };
    Some(name.to_owned())
}

/// Returns a stated value in its type: collections write numbers as text, and texts as numbers.
fn typed(value: &Value, kind: Option<&str>) -> Value {
    let parsed = |fits: fn(&Value) -> bool| {
        let text = value.as_str()?.trim();
        serde_json::from_str(&text.to_lowercase()).ok().filter(fits)
    };
    let other = match (kind, value) {
        (Some("integer" | "number"), Value::String(_)) => parsed(Value::is_number),
        (Some("boolean"), Value::String(_)) => parsed(Value::is_boolean),
        (Some("string"), Value::Number(_) | Value::Bool(_)) => Some(value.to_string().into()),
        (Some("array"), Value::String(_) | Value::Number(_) | Value::Bool(_)) => Some(json!([value])),
        _ => None,
    };
    other.unwrap_or_else(|| value.clone())
}

/// Returns the least value that satisfies a schema which states none.
fn least(map: &Map<String, Value>, kind: Option<&str>) -> Option<Value> {
    for key in ["anyOf", "oneOf"] {
        if let Some(found) = map.get(key).and_then(Value::as_array) {
            return found.iter().find_map(value_of);
        }
    }
    match kind.or_else(|| map.contains_key("properties").then_some("object"))? {
        "boolean" => Some(false.into()),
        "integer" | "number" => minimum(map),
        "array" => {
            let n = map.get("minItems").and_then(Value::as_u64).unwrap_or(1).max(1);
            let item = value_of(map.get("items")?).filter(|_| n <= MAX_ITEMS)?;
            Some((0..n).map(|_| item.clone()).collect())
        }
        "object" => {
            let properties = map.get("properties").and_then(Value::as_object);
            let required = map.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            let member = |name: &str| Some((name.to_owned(), value_of(properties?.get(name)?)?));
            names.map(member).collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        _ => None,
    }
}

/// Returns the smallest number that a schema allows.
fn minimum(map: &Map<String, Value>) -> Option<Value> {
    let above = |number: &Value| number.as_i64().and_then(|number| number.checked_add(1)).map(Value::from);
    let least = map.get("minimum").filter(|minimum| minimum.is_number());
    match map.get("exclusiveMinimum") {
        Some(Value::Bool(true)) => above(least?),
        Some(number @ Value::Number(_)) => above(number),
        _ => least.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_stated_by_the_schema_or_the_least_valid_one() {
        for (schema, expected) in [
            (json!({"type": "string", "example": "Lindau", "default": "Ulm"}), json!("Lindau")),
            (json!({"type": "string", "examples": [null, "a"]}), json!("a")),
            (json!({"type": "string", "examples": {"one": {"value": "b"}}}), json!("b")),
            (json!({"type": "integer", "default": 3, "enum": [1, 2]}), json!(3)),
            (json!({"enum": [null, "x"]}), json!("x")),
            (json!({"const": 7}), json!(7)),
            (json!({"type": "NUMBER", "example": "5"}), json!(5)),
            (json!({"type": "BOOLEAN", "example": "True"}), json!(true)),
            (json!({"type": "string", "example": 5}), json!("5")),
            (json!({"type": "array", "example": "a"}), json!(["a"])),
            (json!({"type": ["null", "boolean"]}), json!(false)),
            (json!({"type": "integer", "minimum": 10}), json!(10)),
            (json!({"type": "integer", "minimum": 10, "exclusiveMinimum": true}), json!(11)),
            (json!({"type": "integer", "exclusiveMinimum": 0}), json!(1)),
            (json!({"type": "array", "minItems": 2, "items": {"type": "boolean"}}), json!([false, false])),
            (json!({"anyOf": [{"type": "string"}, {"type": "string", "enum": ["y"]}]}), json!("y")),
            (
                json!({"type": "object", "required": ["a"], "properties": {"a": {"default": 1}, "b": {"default": 2}}}),
                json!({"a": 1}),
            ),
        ] {
            assert_eq!(value_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn nothing_is_invented() {
        for schema in [
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "minItems": 1_000_000, "items": {"type": "boolean"}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
            json!({"type": "string", "default": null, "enum": []}),
            json!({}),
            json!(true),
        ] {
            assert_eq!(value_of(&schema), None, "{schema}");
        }
    }
}
