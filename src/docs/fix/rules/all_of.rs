//! A schema is put together from parts that fit one another.

use serde_json::{Map, Value};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::REQUIRED;
use crate::docs::fix::walk::each_schema;
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/all-of",
    what: "A schema is put together from parts.",
    why: "BFCL has one schema a value. Parts that do not speak against one another are joined; others are only told of.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "allOf": [{"type": "dict", "properties": {}}, {"properties": {}}]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "allOf": [{"type": "string"}, {"type": "integer"}]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::Array(parts)) = schema.get("allOf") else { return };
        let mut joined = schema.clone();
        joined.shift_remove("allOf");
        if parts.len() < 2 || !parts.iter().all(|part| join(&mut joined, part)) {
            return;
        }
        let change = Change::at(site.pointer).remove("allOf", before);
        let new = joined.into_iter().filter(|(key, value)| schema.get(key) != Some(value));
        opinion.change(new.fold(change, |change, (key, value)| {
            change.set(schema, &crate::docs::patch::token(&key), value)
        }));
    });
}

/// Adds a part to a schema; `false` where the two speak against one another.
fn join(schema: &mut Map<String, Value>, part: &Value) -> bool {
    let Value::Object(part) = part else { return false };
    part.iter().all(|(key, value)| match (key.as_str(), schema.get_mut(key), value) {
        ("$ref" | "anyOf" | "oneOf" | "allOf" | "not", ..) => false,
        ("properties", Some(Value::Object(own)), Value::Object(more)) => more
            .iter()
            .all(|(name, member)| own.entry(name.clone()).or_insert_with(|| member.clone()) == member),
        (REQUIRED, Some(Value::Array(own)), Value::Array(more)) => {
            let new: Vec<_> = more.iter().filter(|name| !own.contains(name)).cloned().collect();
            own.extend(new);
            true
        }
        // The words of the whole outweigh those of a part.
        ("description" | "title", Some(_), _) => true,
        (_, Some(own), _) => own == value,
        (_, None, _) => {
            schema.insert(key.clone(), value.clone());
            true
        }
    })
}
