//! `required` has a name that is not a parameter, or a name twice.

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::{REQUIRED, each_with_properties};
use crate::fix::rule::{FixRule, Safety};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/required-without-property",
    what: "`required` has a name that is not a parameter, or a name twice.",
    why: "No call can set it, so every answer would be wrong; the name is removed from the list.",
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
