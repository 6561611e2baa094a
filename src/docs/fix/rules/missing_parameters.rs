//! A function has no `parameters`, or nothing in them.

use serde_json::json;

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::shape::{OPTIONAL_LIST, REQUIRED_LIST};
use crate::docs::fix::values::is_nothing;
use crate::docs::fix::walk::each_function;
use crate::docs::fix::{Rule, Safety};

/// Keys that hold parameters in a form no rule reads, where they are still there when the others are done.
const HOLDERS: [&str; 6] = [REQUIRED_LIST, OPTIONAL_LIST, "arguments", "args", "params", "parameter"];

pub(super) static RULE: Rule = Rule {
    code: "schema/missing-parameters",
    what: "A function has no `parameters`, or nothing in them.",
    why: "A function that takes nothing says so with an empty schema.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": null}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        // Parameters that cannot be read are not the same as none.
        let held = HOLDERS.iter().any(|key| function.get(*key).is_some_and(|value| !is_nothing(value)));
        if !held && function.get("parameters").is_none_or(is_nothing) {
            let nothing = json!({"type": "dict", "required": [], "properties": {}});
            opinion.change(Change::at(pointer).set(function, "parameters", nothing));
        }
    });
}
