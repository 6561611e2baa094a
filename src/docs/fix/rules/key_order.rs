//! The keys of a function stand in another order than name, description, parameters.

use crate::docs::fix::keys::FUNCTION;
use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::walk::each_function;

pub(super) static RULE: Rule = Rule {
    code: "schema/key-order",
    what: "The keys of a function stand in another order than name, description, parameters.",
    why: "Every official doc has them so, and models read docs from the front.",
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
