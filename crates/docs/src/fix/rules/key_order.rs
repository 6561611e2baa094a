//! The keys of a function are not in the order name, description, parameters.

use crate::fix::keys::FUNCTION;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/key-order",
    what: "The keys of a function are not in the order name, description, parameters.",
    why: "Every official doc has this order, and models read docs from the start.",
    safety: Safety::Safe,
    fires: r#"{"description": "d", "name": "f", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}, "required": []}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let change = Change::at(pointer).order(function.keys().map(String::as_str), &FUNCTION);
        if !change.is_empty() {
            opinion.change(change);
        }
    });
}
