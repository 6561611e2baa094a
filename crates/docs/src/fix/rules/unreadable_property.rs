//! A part of a schema has an unexpected JSON type.

use serde_json::Value;

use crate::fix::required::REQUIRED;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::brief;
use crate::fix::walk::{SchemaPlace, each_function, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/unreadable-property",
    what: "A part of a schema has an unexpected JSON type.",
    why: "Properties and items are schemas, a description is text, and `required` is a list.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {"a": 7}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: |opinion| {
        let functions = opinion.functions;
        each_function(functions, |pointer, function| {
            if let Some(value) = function.get("description").filter(|value| !value.is_string()) {
                opinion.find(format!("{pointer}/description"), format!("description is {}", brief(value)));
            }
        });
        each_schema(functions, |site, schema| {
            let mut find = |key: String, value: &Value| {
                opinion.find(format!("{}/{key}", site.pointer), format!("{key} is {}", brief(value)));
            };
            match schema.get("properties") {
                Some(Value::Object(members)) => {
                    let wrong = members.iter().filter(|(_, member)| !member.is_object());
                    wrong.for_each(|(name, member)| {
                        find(format!("properties/{}", crate::patch::token(name)), member);
                    });
                }
                Some(other) => find("properties".to_owned(), other),
                None => {}
            }
            if site.place == SchemaPlace::Parameters
                && let Some(required) = schema.get(REQUIRED).filter(|required| !required.is_array())
            {
                find(REQUIRED.to_owned(), required);
            }
            let wrong = |key: &str, fits: fn(&Value) -> bool| schema.get(key).filter(|value| !fits(value));
            for (key, value) in [
                ("items", wrong("items", Value::is_object)),
                ("description", wrong("description", Value::is_string)),
                ("enum", wrong("enum", Value::is_array)),
            ] {
                if let Some(value) = value {
                    find(key.to_owned(), value);
                }
            }
        });
    },
};
