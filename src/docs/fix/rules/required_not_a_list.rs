//! `required` is not a list.

use serde_json::{Value, json};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::{REQUIRED, each_with_properties};
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/required-not-a-list",
    what: "`required` is not a list.",
    why: "A name, or names with commas between, makes a list of them; `true` means all parameters, anything else none.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": "a", "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let before = schema.get(REQUIRED).filter(|required| !required.is_array())?;
        let names = match before {
            Value::String(name) if properties.contains_key(name) => vec![json!(name)],
            Value::String(names) => names.split(',').map(|name| json!(name.trim())).collect(),
            Value::Bool(true) => properties.keys().map(|name| json!(name)).collect(),
            _ => Vec::new(),
        };
        Some(Change::at(site.pointer).replace(REQUIRED, before, names))
    });
}
