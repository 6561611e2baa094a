//! A type is not one of BFCL's eight and not a known name for one.

use serde_json::Value;

use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::brief;
use crate::fix::walk::each_schema;
use callsieve_bfcl::types::Type;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/unknown-type",
    what: "A type is not one of BFCL's eight and not a known name for one.",
    why: "The checker fails on it.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "thingummy", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "str", "description": "x"}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            let known = |kind: &&Value| kind.as_str().and_then(Type::named).is_some();
            if let Some(kind) = schema.get("type").filter(|kind| !known(kind)) {
                opinion.find(format!("{}/type", site.pointer), format!("the type is {}", brief(kind)));
            }
        });
    },
};
