//! `properties` is a list of named parameters.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::named_all;
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/properties-as-list",
    what: "`properties` is a list of named parameters.",
    why: "Each becomes a property under its name, in the same order.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": [
        {"name": "a", "type": "string", "description": "x"}]}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": ["a"]}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::Array(list)) = schema.get("properties") else { return };
        if let Some(properties) = named_all(list).filter(|all| !all.is_empty()) {
            opinion.change(Change::at(site.pointer).replace("properties", before, properties));
        }
    });
}
