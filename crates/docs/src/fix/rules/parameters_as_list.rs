//! `parameters` is a list of named parameters.

use std::cell::LazyCell;

use serde_json::{Value, json};

use crate::fix::convention::Convention;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::{named_all, schema_of};
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/parameters-as-list",
    what: "`parameters` is a list of named parameters.",
    why: "Each becomes a property. The list does not state which are required, so all are, except those with a \
          default or called optional, which is a guess. Further marks and descriptions of single parameters are \
          handled one by one.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": [{"name": "a", "description": "x"}]}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": ["a"]}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let convention = LazyCell::new(|| Convention::of(&functions));
    each_function(functions, |pointer, function| {
        let Some(before @ Value::Array(list)) = function.get("parameters").filter(|list| **list != json!([]))
        else {
            return;
        };
        if let Some(properties) = named_all(list) {
            opinion.change(Change::at(pointer).replace(
                "parameters",
                before,
                schema_of(&properties, *convention),
            ));
        }
    });
}
