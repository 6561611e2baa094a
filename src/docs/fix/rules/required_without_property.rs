//! `required` names a parameter that does not exist, or one twice.

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::{REQUIRED, each_with_properties};
use crate::docs::fix::rule::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/required-without-property",
    what: "`required` names a parameter that does not exist, or one twice.",
    why: "No call can give it, so every answer would be wrong; the name is taken off the list.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["ghost"], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let before @ Value::Array(list) = schema.get(REQUIRED)? else { return None };
        let mut seen = FxHashSet::default();
        let mut known: Vec<Value> = Vec::with_capacity(list.len());
        for name in list.iter().filter_map(Value::as_str) {
            if properties.contains_key(name) && seen.insert(name) {
                known.push(name.into());
            }
        }
        (known.len() < list.len()).then(|| Change::at(site.pointer).replace(REQUIRED, before, known))
    });
}
