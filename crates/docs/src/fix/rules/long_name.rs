//! The name of a function is longer than the APIs of models allow.

use serde_json::Value;

use crate::fix::names::MAX_NAME_CHARS;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/long-name",
    what: "The name of a function has more than 64 characters.",
    why: "APIs of models refuse it, and no official doc has such a name. A shorter name has to be chosen by hand.",
    safety: Safety::Suggest,
    fires: r#"{"name": "ring_the_bell_in_the_tower_of_the_church_on_the_hill_above_the_old_town", "description": "d"}"#,
    quiet: r#"{"name": "ring_the_bell_in_the_tower", "description": "d"}"#,
    judge: |opinion| {
        each_function(opinion.functions, |pointer, function| {
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            let n_chars = name.chars().count();
            if n_chars > MAX_NAME_CHARS {
                opinion.find(format!("{pointer}/name"), format!("the name has {n_chars} characters"));
            }
        });
    },
};
