//! `parameters` is not a schema and cannot be read as one.

use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::values::brief;
use crate::docs::fix::walk::each_function;
use crate::docs::holders;

pub(super) static RULE: Rule = Rule {
    code: "schema/unreadable-parameters",
    what: "`parameters` is not a schema and cannot be read as one.",
    why: "Nothing can be called without knowing its parameters.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": "city and date"}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": null}"#,
    judge: |opinion| {
        each_function(opinion.functions, |pointer, function| match function.get("parameters") {
            Some(schema) if schema.get("type").is_some_and(|kind| *kind == "dict") => {
                for (key, value) in holders::held(function) {
                    let message = format!("{key} beside parameters is {}", brief(value));
                    opinion.find(format!("{pointer}/{key}"), message);
                }
            }
            Some(value) => {
                opinion.find(format!("{pointer}/parameters"), format!("parameters is {}", brief(value)));
            }
            None => opinion.find(pointer, "the parameters are in a form that is not read"),
        });
    },
};
