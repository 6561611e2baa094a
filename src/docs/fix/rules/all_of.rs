//! A schema is put together from parts that fit one another.

use serde_json::Value;

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::walk::each_schema;
use crate::docs::join::join;

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
        if parts.len() < 2
            || !parts.iter().all(|part| part.as_object().is_some_and(|part| join(&mut joined, part)))
        {
            return;
        }
        let change = Change::at(site.pointer).remove("allOf", before);
        let new = joined.into_iter().filter(|(key, value)| schema.get(key) != Some(value));
        opinion.change(new.fold(change, |change, (key, value)| {
            change.set(schema, &crate::docs::patch::token(&key), value)
        }));
    });
}
