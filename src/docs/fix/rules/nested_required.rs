//! A schema inside `parameters` has a list of required members.

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::REQUIRED;
use crate::docs::fix::walk::{Place, each_schema};
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/nested-required",
    what: "A schema inside `parameters` has a list of required members.",
    why: "BFCL knows `required` only for the function's own parameters; no official doc has it deeper.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "required": [], "properties": {}}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {}}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        if let Some(before) = schema.get(REQUIRED).filter(|_| site.place != Place::Parameters) {
            opinion.change(Change::at(site.pointer).remove(REQUIRED, before));
        }
    });
}
