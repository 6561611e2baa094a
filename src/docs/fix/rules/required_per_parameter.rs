//! Parameters are marked as required or optional one by one.

use serde_json::{Value, json};

use crate::docs::fix::marks;
use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::{REQUIRED, each_with_properties, names, with_required};
use crate::docs::fix::{Rule, Safety};
use crate::docs::patch::token;

pub(super) static RULE: Rule = Rule {
    code: "schema/required-per-parameter",
    what: "Parameters are marked as required or optional one by one.",
    why: "The marks are collected into the one list, in the order of the properties.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "x", "required": true}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let listed = schema.get(REQUIRED).and_then(Value::as_array);
        let mut required: Vec<_> = listed.into_iter().flatten().cloned().collect();
        let mut known = names(schema).unwrap_or_default();
        let mut change = Change::at(site.pointer);
        for (name, property) in properties {
            for (key, before) in property.as_object().into_iter().flatten() {
                let Some(is_required) = marks::read(key, before) else { continue };
                change = change.remove(&format!("properties/{}/{key}", token(name)), before);
                if is_required && known.insert(name) {
                    required.push(json!(name));
                }
            }
        }
        if change.is_empty() {
            return None;
        }
        let same = listed.is_some_and(|listed| *listed == required);
        Some(if same { change } else { with_required(change, schema, required) })
    });
}
