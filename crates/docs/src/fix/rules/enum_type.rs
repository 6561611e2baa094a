//! An allowed value has another type than its parameter, or the list of allowed values is empty.

use serde_json::Value;

use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::{brief, fits};
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/enum-type",
    what: "An allowed value has another type than its parameter, or the list of allowed values is empty.",
    why: "A call can never use such a value; the official data has such values.",
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
            // Null is valid as a default; as the value of a call it has no type.
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
