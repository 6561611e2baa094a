//! A dict does not list its properties.

use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/dict-without-properties",
    what: "A dict does not list its properties.",
    why: "The recipe requires the properties. They are not invented, and the official data has such dicts.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {}}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            if schema.get("type").is_some_and(|kind| *kind == "dict") && !schema.contains_key("properties") {
                opinion.find(site.pointer, "a dict without properties");
            }
        });
    },
};
