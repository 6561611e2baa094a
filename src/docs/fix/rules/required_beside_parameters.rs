//! The list of required parameters stands beside `parameters`.

use serde_json::Value;

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::REQUIRED;
use crate::docs::fix::walk::each_function;
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/required-beside-parameters",
    what: "The list of required parameters stands beside `parameters`.",
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
        if !parameters.contains_key(REQUIRED) {
            let change =
                Change::at(pointer).remove(REQUIRED, before).add("parameters/required", before.clone());
            opinion.change(change);
        }
    });
}
