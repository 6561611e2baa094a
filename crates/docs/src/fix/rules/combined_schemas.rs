//! A schema is combined from others, conditional, or refers to one that does not exist.

use crate::combining::COMBINING;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::brief;
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/combined-schemas",
    what: "A schema is combined from others, conditional, or refers to one that does not exist.",
    why: "BFCL has one schema per value and no word for exclusions; the intended schema is unknown.",
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
