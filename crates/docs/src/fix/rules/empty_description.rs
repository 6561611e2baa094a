//! A description is an empty text.

use serde_json::{Map, Value};

use crate::fix::keys::DESCRIPTION;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_function, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/empty-description",
    what: "A description is an empty text.",
    why: "The author left it empty on purpose or by mistake; it is unchanged and reported.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": ""}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    judge: |opinion| {
        let functions = opinion.functions;
        let mut look = |pointer: &str, map: &Map<String, Value>| {
            if map.get(DESCRIPTION).and_then(Value::as_str).is_some_and(|text| text.trim().is_empty()) {
                opinion.find(format!("{pointer}/{DESCRIPTION}"), "the description is empty");
            }
        };
        each_function(functions, &mut look);
        each_schema(functions, |site, schema| {
            if matches!(site.place, SchemaPlace::Parameter(_) | SchemaPlace::Member(_)) {
                look(site.pointer, schema);
            }
        });
    },
};
