//! A default has another type than its parameter.

use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::{brief, fits};
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/default-type",
    what: "A default has another type than its parameter.",
    why: "No conversion keeps its meaning; the official data has such defaults (`\"dontcare\"` for a boolean).",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "dontcare"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "float", "description": "x", "default": 1}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            if let Some(default) = schema.get("default").filter(|default| !fits(default, schema)) {
                opinion
                    .find(format!("{}/default", site.pointer), format!("the default is {}", brief(default)));
            }
        });
    },
};
