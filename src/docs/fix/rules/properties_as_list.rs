//! `properties` is a list of named parameters.

use serde_json::{Map, Value};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::shape::named;
use crate::docs::fix::walk::each_schema;
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
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
        let properties: Option<Map<String, Value>> = list.iter().map(named).collect();
        // Two of one name would leave one behind.
        if let Some(properties) = properties.filter(|all| !all.is_empty() && all.len() == list.len()) {
            opinion.change(Change::at(site.pointer).replace("properties", before, properties));
        }
    });
}
