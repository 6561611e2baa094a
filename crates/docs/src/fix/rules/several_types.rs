//! A value may have one of several types.

use serde_json::{Map, Value, json};

use crate::combining::ALTERNATIVES;
use crate::fix::alternatives::{listed_types, real_branches};
use crate::fix::notation;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};
use callsieve_bfcl::types::Type;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/several-types",
    what: "A value may have one of several types.",
    why: "BFCL has one type per value. The closest type that contains all of them is used, which may be `any`; the \
          alternatives are lost.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": ["string", "integer"], "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": ["string", "null"], "description": "x", "default": null}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        if site.place == SchemaPlace::Parameters {
            return;
        }
        let change = Change::at(site.pointer);
        if let Some((before, types)) = listed_types(schema) {
            if types.len() > 1 {
                opinion.change(change.replace("type", before, common_type(&types)));
            }
        } else if let Some(before) = schema.get("type").filter(|kind| is_lossy_union(kind)) {
            opinion.change(change.replace("type", before, "any"));
        } else if let Some((key, before, branches)) = alternatives(schema) {
            let common: &[(&str, Value)] =
                if schema.contains_key("type") { &[] } else { &common_schema(&branches) };
            let added = common.iter().filter(|(key, _)| !schema.contains_key(*key));
            let change = change.remove(key, before);
            opinion.change(added.fold(change, |change, (key, value)| change.add(key, value.clone())));
        }
    });
}

type Branches<'s> = Vec<&'s Map<String, Value>>;

/// Returns the alternatives of a schema, if there are two or more.
fn alternatives(schema: &Map<String, Value>) -> Option<(&'static str, &Value, Branches<'_>)> {
    ALTERNATIVES.iter().copied().find_map(|key| {
        let before = schema.get(key)?;
        let branches = real_branches(before).filter(|branches| branches.len() > 1)?;
        Some((key, before, branches))
    })
}

/// Returns the common part of all branches: the type, and the elements of an array.
fn common_schema(branches: &[&Map<String, Value>]) -> Vec<(&'static str, Value)> {
    let types: Option<Vec<&str>> = branches.iter().map(|branch| branch.get("type")?.as_str()).collect();
    let kind = types.map_or(Type::Any, |types| common_type(&types));
    let mut common = vec![("type", json!(kind))];
    if kind == Type::Array {
        let mut items = branches.iter().map(|branch| branch.get("items"));
        let first = items.next().flatten().filter(|first| items.all(|items| items == Some(*first)));
        common.push(("items", first.cloned().unwrap_or_else(|| json!({"type": "any"}))));
    }
    common
}

/// Returns the type that contains all values: a shared type, float for numbers, otherwise any.
fn common_type(types: &[&str]) -> Type {
    let kinds: Option<Vec<Type>> = types.iter().map(|kind| Some(notation::read(kind)?.kind)).collect();
    kinds.as_deref().and_then(notation::common).unwrap_or(Type::Any)
}

fn is_lossy_union(kind: &Value) -> bool {
    kind.as_str().and_then(notation::read).is_some_and(|notation| notation.lossy)
}
