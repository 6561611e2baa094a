//! Several schemas or types where BFCL has one: `anyOf`, `oneOf`, `allOf`, lists of types.

use serde_json::{Map, Value, json};

use super::notation;
use super::opinion::{Change, Opinion};
use super::walk::{Place, each_schema};
use super::{Rule, Safety};

/// Keys that hold alternatives.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];

pub(super) static NULLABLE: Rule = Rule {
    code: "schema/nullable-type",
    what: "A type is written as itself or null, or wrapped in a list of one.",
    why: "BFCL has one type a value; null is what an optional parameter may be anyway. The one real type is kept.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "x", "default": null}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": ["string", "integer"], "description": "x"}}}}"#,
    judge: nullable,
};

fn nullable(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        if let Some((before, types)) = listed_types(schema)
            && let [kind] = types.as_slice()
        {
            opinion.change(Change::at(site.pointer).replace("type", before, *kind));
            return;
        }
        let found = schema.iter().find_map(|(key, before)| {
            let combines = ["anyOf", "oneOf", "allOf"].contains(&key.as_str());
            match combines.then(|| real_branches(before))??.as_slice() {
                [branch] => Some((key, before, *branch)),
                _ => None,
            }
        });
        if let Some((key, before, branch)) = found {
            let own = branch.iter().filter(|(inner, _)| !schema.contains_key(*inner));
            let change = Change::at(site.pointer).remove(key, before);
            opinion.change(own.fold(change, |change, (inner, value)| {
                change.add(&crate::docs::patch::token(inner), value.clone())
            }));
        }
    });
}

pub(super) static SEVERAL_TYPES: Rule = Rule {
    code: "schema/several-types",
    what: "A value may have one of several types.",
    why: "BFCL has one type a value. `any` is the nearest, and the alternatives are lost.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": ["string", "integer"], "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": ["string", "null"], "description": "x", "default": null}}}}"#,
    judge: several_types,
};

fn several_types(opinion: &mut Opinion<'_>) {
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

/// The types of a list, null left out.
fn listed_types(schema: &Map<String, Value>) -> Option<(&Value, Vec<&str>)> {
    let before @ Value::Array(list) = schema.get("type")? else { return None };
    let types = list.iter().filter(|kind| !kind.is_null()).map(Value::as_str).collect::<Option<Vec<_>>>()?;
    let mut real: Vec<_> = types.into_iter().filter(|kind| *kind != "null").collect();
    real.dedup();
    Some((before, real))
}

/// The branches that are not null; nothing where one is no schema.
fn real_branches(value: &Value) -> Option<Vec<&Map<String, Value>>> {
    let branches = value.as_array()?.iter().map(Value::as_object).collect::<Option<Vec<_>>>()?;
    Some(branches.into_iter().filter(|branch| branch.get("type") != Some(&json!("null"))).collect())
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
