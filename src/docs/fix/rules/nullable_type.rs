//! A type is written as itself or null, or wrapped in a list of one.

use crate::docs::combining::BRANCHING;
use crate::docs::fix::alternatives::{listed_types, real_branches};
use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::walk::each_schema;
use crate::docs::join::agrees;

pub(super) static RULE: Rule = Rule {
    code: "schema/nullable-type",
    what: "A type is written as itself or null, or wrapped in a list of one.",
    why: "BFCL has one type a value; null is what an optional parameter may be anyway. The one real type is kept.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "x", "default": null}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": ["string", "integer"], "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        if let Some((before, types)) = listed_types(schema)
            && let [kind] = types.as_slice()
        {
            opinion.change(Change::at(site.pointer).replace("type", before, *kind));
            return;
        }
        let found = schema.iter().find_map(|(key, before)| {
            let combines = BRANCHING.contains(&key.as_str());
            match combines.then(|| real_branches(before))??.as_slice() {
                [branch] => Some((key, before, *branch)),
                _ => None,
            }
        });
        if let Some((key, before, branch)) = found
            // Where the two speak against one another, neither is the one that is meant.
            && branch.iter().all(|(inner, value)| agrees(schema, inner, value))
        {
            let own = branch.iter().filter(|(inner, _)| !schema.contains_key(*inner));
            let change = Change::at(site.pointer).remove(key, before);
            opinion.change(own.fold(change, |change, (inner, value)| {
                change.add(&crate::docs::patch::token(inner), value.clone())
            }));
        }
    });
}
