//! A function or a parameter has no description.

use serde_json::{Map, Value};

use crate::fix::keys::DESCRIPTION;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_function, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/missing-description",
    what: "A function or a parameter has no description.",
    why: "Every official doc has one. The only text available is the name, which adds no information, so the edit is \
          not safe. An empty description is unchanged and reported.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": {"type": "string"}}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let mut describe = |pointer: &str, map: &Map<String, Value>, name: &str| {
        if map.get(DESCRIPTION).is_none_or(Value::is_null) && !name.trim().is_empty() {
            opinion.change(Change::at(pointer).set(map, DESCRIPTION, name));
        }
    };
    each_function(functions, |pointer, function| {
        // Without parameters it may not be a function at all, and stays unchanged.
        let kind = function.get("parameters").and_then(|parameters| parameters.get("type"));
        if kind.is_some_and(|kind| *kind == "dict") {
            describe(pointer, function, function.get("name").and_then(Value::as_str).unwrap_or_default());
        }
    });
    each_schema(functions, |site, schema| {
        if let SchemaPlace::Parameter(name) | SchemaPlace::Member(name) = site.place {
            describe(site.pointer, schema, name);
        }
    });
}
