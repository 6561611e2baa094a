//! A default is not one of the allowed values.

use serde_json::Value;

use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::brief;
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/default-not-in-enum",
    what: "A default is not one of the allowed values.",
    why: "Either the default or the enum is wrong, and the doc does not show which; the official data has such \
          defaults.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["a", "b"], "default": "c"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "array", "description": "x", "items": {"type": "string"}, "enum": ["a", "b"], "default": ["b"]}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            let (Some(default), Some(Value::Array(choices))) = (schema.get("default"), schema.get("enum"))
            else {
                return;
            };
            // An array's enum lists the allowed elements.
            let among = |value: &Value| value.is_null() || choices.contains(value);
            let elements_among = default.as_array().is_some_and(|elements| elements.iter().all(among));
            if !among(default) && !elements_among {
                opinion
                    .find(format!("{}/default", site.pointer), format!("the default is {}", brief(default)));
            }
        });
    },
};
