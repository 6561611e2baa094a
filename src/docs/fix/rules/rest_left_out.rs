//! A function takes any number of arguments that have no names of their own.

use serde_json::Value;

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::walk::each_function;

/// The key that readers of code put them under.
const REST: &str = "rest";

pub(super) static RULE: Rule = Rule {
    code: "schema/variadic-parameters",
    what: "A function takes any number of arguments that have no names of their own.",
    why: "BFCL has a name for every parameter, so `*args` and `**kwargs` cannot be given and are left out. Calls that \
          do without them stay right, so the edit is safe; it stands by itself, so that the loss can be seen.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}},
        "rest": ["*args", "**kwargs"]}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}},
        "rest": ["args"]}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        if let Some(rest) = function.get(REST).filter(|rest| are_unnamed(rest)) {
            opinion.change(Change::at(pointer).remove(REST, rest));
        }
    });
}

/// Whether a value is a list of arguments as Python writes them: each begins with a star.
fn are_unnamed(rest: &Value) -> bool {
    let is_starred = |name: &Value| name.as_str().is_some_and(|name| name.starts_with('*'));
    rest.as_array().is_some_and(|rest| !rest.is_empty() && rest.iter().all(is_starred))
}
