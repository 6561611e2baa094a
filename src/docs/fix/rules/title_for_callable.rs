//! The name is a title, and what is called stands beside it.

use serde_json::Value;

use crate::docs::fix::names::is_function_name;
use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::renames::Renamed;
use crate::docs::fix::walk::each_function;
use crate::docs::fix::{Rule, Safety};

/// The key that holds what is called.
const CALLABLE: &str = "api_call";

pub(super) static RULE: Rule = Rule {
    code: "schema/title-for-callable",
    what: "The name is a title, and what is called stands beside it.",
    why: "Calls give the callable (`api_call`), so it is the name. A whole call or an address there is no name and is \
          left alone.",
    safety: Safety::Safe,
    fires: r#"{"name": "Bell Ringer", "api_call": "bells.ring", "description": "d"}"#,
    quiet: r#"{"name": "Bell Ringer", "api_call": "bells.ring({times})", "description": "d"}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let is_taken =
        |name: &str| functions.iter().any(|function| function.get("name").is_some_and(|n| n == name));
    each_function(functions, |pointer, function| {
        let (Some(before), Some(callable @ Value::String(to))) =
            (function.get("name"), function.get(CALLABLE))
        else {
            return;
        };
        if !is_function_name(to) || is_taken(to) {
            return;
        }
        let at = pointer.trim_start_matches('/').parse().unwrap_or_default();
        let change = Change::at(pointer).replace("name", before, to.as_str()).remove(CALLABLE, callable);
        opinion.rename(change, vec![Renamed { function: at, parameter: None, to: to.clone() }]);
    });
}
