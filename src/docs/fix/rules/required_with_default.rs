//! A parameter is required and has a default.

use serde_json::Value;

use crate::docs::fix::walk::{Place, each_schema};
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/required-with-default",
    what: "A parameter is required and has a default.",
    why: "One of the two is wrong; the official data has a few.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "default": "en"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "default": "en"}}}}"#,
    judge: |opinion| {
        let functions = opinion.functions;
        each_schema(functions, |site, schema| {
            let Place::Parameter(name) = site.place else { return };
            let required = functions[site.function].pointer("/parameters/required").and_then(Value::as_array);
            let listed = required.is_some_and(|required| required.iter().any(|listed| *listed == name));
            if listed && schema.contains_key("default") {
                opinion.find(
                    format!("{}/default", site.pointer),
                    format!("{name:?} is required and has a default"),
                );
            }
        });
    },
};
