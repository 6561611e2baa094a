//! The list of required parameters is one of the properties.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::{REQUIRED, with_required};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/required-among-properties",
    what: "The list of required parameters is one of the properties.",
    why: "A list is not a schema, so it cannot be a parameter with that name; it is moved out.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"required": ["a"]}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "required": {"type": "boolean", "description": "x", "default": false}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::Array(list)) = schema.get("properties").and_then(|all| all.get(REQUIRED))
        else {
            return;
        };
        let change = Change::at(site.pointer).remove("properties/required", before);
        let moves = site.place == SchemaPlace::Parameters && !schema.contains_key(REQUIRED);
        let change = if moves { with_required(change, schema, list.clone()) } else { change };
        opinion.change(change);
    });
}
