//! A value may have one of several types.

use serde_json::{Map, Value, json};

use crate::docs::fix::alternatives::{listed_types, real_branches};
use crate::docs::fix::notation;
use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::walk::{Place, each_schema};
use crate::docs::fix::{Rule, Safety};

/// Keys that hold alternatives.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];

pub(super) static RULE: Rule = Rule {
    code: "schema/several-types",
    what: "A value may have one of several types.",
    why: "BFCL has one type a value. `any` is the nearest, and the alternatives are lost.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": ["string", "integer"], "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": ["string", "null"], "description": "x", "default": null}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        if site.place == Place::Parameters {
            return;
        }
        if let Some((before, types)) = listed_types(schema) {
            if types.len() > 1 {
                opinion.change(Change::at(site.pointer).replace("type", before, "any"));
            }
            return;
        }
        if let Some(before) = schema.get("type").filter(|kind| is_lossy_union(kind)) {
            opinion.change(Change::at(site.pointer).replace("type", before, "any"));
            return;
        }
        for key in ALTERNATIVES {
            let Some(before) = schema.get(key) else { continue };
            let Some(branches) = real_branches(before).filter(|branches| branches.len() > 1) else {
                continue;
            };
            let change = Change::at(site.pointer).remove(key, before);
            let change =
                if schema.contains_key("type") { change } else { change.add("type", common_type(&branches)) };
            opinion.change(change);
            return;
        }
    });
}

/// The type all branches share, or any.
fn common_type(branches: &[&Map<String, Value>]) -> Value {
    let mut types = branches.iter().map(|branch| branch.get("type").filter(|kind| kind.is_string()));
    let first = types.next().flatten();
    if types.all(|kind| kind == first) { first.cloned() } else { None }.unwrap_or_else(|| json!("any"))
}

fn is_lossy_union(kind: &Value) -> bool {
    kind.as_str().and_then(notation::read).is_some_and(|notation| notation.lossy)
}
