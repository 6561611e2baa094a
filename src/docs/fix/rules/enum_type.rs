//! An allowed value is of another type than its parameter.

use serde_json::Value;

use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::values::{brief, fits};
use crate::docs::fix::walk::each_schema;

pub(super) static RULE: Rule = Rule {
    code: "schema/enum-type",
    what: "An allowed value is of another type than its parameter, or there is none.",
    why: "A call can never give it; the official data has such values.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "boolean", "description": "x", "enum": ["True", "False", "dontcare"]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "float", "description": "x", "enum": [1, 2.5]}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            let Some(Value::Array(choices)) = schema.get("enum") else { return };
            let items = schema.get("items").and_then(Value::as_object);
            let elements_fit = |choice: &Value| items.is_some_and(|items| fits(choice, items));
            if choices.is_empty() {
                opinion.find(format!("{}/enum", site.pointer), "no value is allowed");
            }
            // Null fits where it is a default; as the value of a call it is of no type.
            let is_wrong =
                |choice: &Value| choice.is_null() || !fits(choice, schema) && !elements_fit(choice);
            if let Some(choice) = choices.iter().find(|choice| is_wrong(choice)) {
                opinion.find(
                    format!("{}/enum", site.pointer),
                    format!("one of the values is {}", brief(choice)),
                );
            }
        });
    },
};
