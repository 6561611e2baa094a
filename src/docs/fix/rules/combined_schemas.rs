//! A schema is put together from others, or refers to one that is not there.

use crate::docs::combining::COMBINING;
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::values::brief;
use crate::docs::fix::walk::each_schema;

pub(super) static RULE: Rule = Rule {
    code: "schema/combined-schemas",
    what: "A schema is put together from others, depends on one, or refers to one that is not there.",
    why: "BFCL has one schema a value, and no word for what a value may not be; which one is meant cannot be told.",
    safety: Safety::Suggest,
    fires: r##"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"$ref": "#/nowhere", "description": "x"}}}}"##,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            for key in COMBINING {
                if let Some(value) = schema.get(key) {
                    opinion.find(format!("{}/{key}", site.pointer), format!("{key} is {}", brief(value)));
                }
            }
        });
    },
};
