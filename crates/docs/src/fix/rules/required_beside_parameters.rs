//! The list of required parameters is outside of `parameters`.

use serde_json::{Value, json};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::REQUIRED;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/required-outside-parameters",
    what: "The list of required parameters is outside of `parameters`.",
    why: "It belongs inside and is moved there.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}}, "required": []}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}, "required": []}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let Some(before @ Value::Array(_)) = function.get(REQUIRED) else { return };
        let Some(Value::Object(parameters)) = function.get("parameters") else { return };
        match parameters.get(REQUIRED) {
            None => {
                let change = Change::at(pointer).remove(REQUIRED, before);
                opinion.change(change.add("parameters/required", before.clone()));
            }
            Some(inner) if *inner == json!([]) && *before != json!([]) => {
                let change = Change::at(pointer).remove(REQUIRED, before);
                opinion.change(change.replace("parameters/required", inner, before.clone()));
            }
            Some(_) => {}
        }
    });
}
