//! `parameters` has no `properties`.

use serde_json::json;

use crate::combining::COMBINING;
use crate::fix::keys::PARAMETERS;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_parameters;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/missing-properties",
    what: "`parameters` has no `properties`.",
    why: "For a function without parameters they are an empty object.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": []}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        let absent = schema.get("properties").is_none_or(|value| value.is_null() || *value == json!([]));
        let combined = COMBINING.iter().any(|key| schema.contains_key(*key));
        if absent && !combined {
            opinion.change(Change::at(site.pointer).set_in_order(
                schema,
                "properties",
                json!({}),
                &PARAMETERS,
            ));
        }
    });
}
