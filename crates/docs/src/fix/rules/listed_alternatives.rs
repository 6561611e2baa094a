//! The alternatives of a value are single values.

use serde_json::{Map, Value};

use crate::combining::ALTERNATIVES;
use crate::fix::alternatives::real_branches;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;
use callsieve_bfcl::types::Type;

/// Keys of a branch that only list its allowed values.
const VALUE_KEYS: [&str; 4] = ["const", "enum", "type", "title"];

pub(super) static RULE: FixRule = FixRule {
    code: "schema/listed-alternatives",
    what: "The alternatives of a value are single values.",
    why: "An enum expresses the same; the values become one list, in their order.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "anyOf": [{"const": "noon"}, {"enum": ["dawn", "dusk"]}]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "anyOf": [{"const": "noon"}, {"type": "integer"}]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        for key in ALTERNATIVES.iter().copied() {
            let Some(before) = schema.get(key).filter(|_| !schema.contains_key("enum")) else { continue };
            let Some(values) = real_branches(before).and_then(|branches| values(&branches)) else { continue };
            let Some(kind) = values.first().and_then(Type::of_value) else { continue };
            if values.iter().all(|value| Type::of_value(value) == Some(kind)) {
                let change = Change::at(site.pointer).remove(key, before);
                let change = if schema.contains_key("type") { change } else { change.add("type", kind) };
                opinion.change(change.add("enum", values));
                return;
            }
        }
    });
}

/// Returns the values of all branches, each once; `None` if a branch has more than values.
fn values(branches: &[&Map<String, Value>]) -> Option<Vec<Value>> {
    let mut all: Vec<Value> = Vec::new();
    for branch in branches {
        if branch.keys().any(|key| !VALUE_KEYS.contains(&key.as_str())) {
            return None;
        }
        let own = match (branch.get("const"), branch.get("enum")) {
            (Some(constant), None) => std::slice::from_ref(constant),
            (None, Some(Value::Array(list))) => list.as_slice(),
            _ => return None,
        };
        for value in own.iter().filter(|value| !value.is_null()) {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
    }
    Some(all)
}
