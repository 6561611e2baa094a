//! A type is a union with null, or a list with one type.

use crate::combining::BRANCHING;
use crate::fix::alternatives::{listed_types, real_branches};
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;
use crate::join::agrees;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/nullable-type",
    what: "A type is a union with null, or a list with one type.",
    why: "BFCL has one type per value, and an optional parameter may always be null. The one other type is kept.",
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
            // If the two contradict each other, neither is certain.
            && branch.iter().all(|(inner, value)| agrees(schema, inner, value))
        {
            let own = branch.iter().filter(|(inner, _)| !schema.contains_key(*inner));
            let change = Change::at(site.pointer).remove(key, before);
            opinion.change(own.fold(change, |change, (inner, value)| {
                change.add(&crate::patch::token(inner), value.clone())
            }));
        }
    });
}
