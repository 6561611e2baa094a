//! A name cannot be used in a call, and its valid form is empty or already used.

use serde_json::Value;

use crate::fix::names::{is_function_name, is_parameter_name};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_function, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/illegal-name",
    what: "A name cannot be used in a call, and its valid form is empty or already used.",
    why: "A rename would make two things indistinguishable.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a-b", "a_b"], "properties": {
        "a-b": {"type": "string", "description": "x"}, "a_b": {"type": "string", "description": "y"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a-b"], "properties": {
        "a-b": {"type": "string", "description": "x"}}}}"#,
    judge: |opinion| {
        let functions = opinion.functions;
        each_function(functions, |pointer, function| {
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            if !is_function_name(name) {
                opinion.find(format!("{pointer}/name"), format!("the function is called {name:?}"));
            }
        });
        each_schema(functions, |site, _| {
            if let SchemaPlace::Parameter(name) = site.place
                && !is_parameter_name(name)
            {
                opinion.find(site.pointer, format!("the parameter is called {name:?}"));
            }
        });
    },
};
