//! A parameter has no type.

use serde_json::{Map, Value};

use crate::combining::SUBSTITUTES;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};
use callsieve_bfcl::types::Type;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/missing-type",
    what: "A parameter has no type.",
    why: "The type is inferred from the properties, items, enum or default; otherwise it is string, which is a \
          guess.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "enum": ["c", "f"]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "type": "string"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let combined = SUBSTITUTES.iter().any(|key| schema.contains_key(*key));
        let absent = schema.get("type").is_none_or(|kind| kind.is_null() || *kind == "");
        if site.place != SchemaPlace::Parameters && absent && !combined {
            opinion.change(Change::at(site.pointer).set(schema, "type", inferred(schema)));
        }
    });
}

fn inferred(schema: &Map<String, Value>) -> Type {
    if schema.get("properties").is_some_and(Value::is_object) {
        return Type::Dict;
    }
    if schema.contains_key("items") {
        return Type::Array;
    }
    let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut types = choices.chain(schema.get("default")).filter_map(Type::of_value);
    match types.next() {
        Some(first) if types.all(|kind| kind == first) => first,
        _ => Type::String,
    }
}
