//! A function has variadic parameters.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_function;

/// The key under which source readers put them.
const REST: &str = "rest";

pub(super) static RULE: FixRule = FixRule {
    code: "schema/variadic-parameters",
    what: "A function has variadic parameters.",
    why: "BFCL requires a name for every parameter, so `*args` and `**kwargs` cannot be called and are dropped. \
          Calls without them stay valid, so the edit is safe; it is a separate edit, so that the loss is visible.",
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

/// Returns true if a value is a list of variadic parameters as Python writes them: each begins with a star.
fn are_unnamed(rest: &Value) -> bool {
    let is_starred = |name: &Value| name.as_str().is_some_and(|name| name.starts_with('*'));
    rest.as_array().is_some_and(|rest| !rest.is_empty() && rest.iter().all(is_starred))
}
