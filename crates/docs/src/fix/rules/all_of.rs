//! A schema is combined from compatible parts.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;
use crate::join::Joint;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/all-of",
    what: "A schema is combined from compatible parts.",
    why: "BFCL has one schema per value. Parts that do not contradict each other are merged; others are reported.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "allOf": [{"type": "dict", "properties": {}}, {"properties": {}}]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "allOf": [{"type": "string"}, {"type": "integer"}]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::Array(parts)) = schema.get("allOf") else { return };
        let mut joined = schema.clone();
        joined.shift_remove("allOf");
        let mut joint = Joint::default();
        let mut fits = |part: &Value| part.as_object().is_some_and(|part| joint.join(&mut joined, part));
        if parts.len() < 2 || !parts.iter().all(&mut fits) {
            return;
        }
        let change = Change::at(site.pointer).remove("allOf", before);
        let new = joined.into_iter().filter(|(key, value)| schema.get(key) != Some(value));
        opinion.change(
            new.fold(change, |change, (key, value)| change.set(schema, &crate::patch::token(&key), value)),
        );
    });
}
