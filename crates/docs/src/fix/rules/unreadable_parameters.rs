//! `parameters` is not a schema and cannot be read as one.

use crate::fix::form::is_stray_parameter;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::brief;
use crate::fix::walk::each_function;
use crate::holders;
use crate::patch::token;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/unreadable-parameters",
    what: "`parameters` is not a schema and cannot be read as one.",
    why: "A function cannot be called without its parameters.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": "city and date"}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": null}"#,
    judge: |opinion| {
        each_function(opinion.functions, |pointer, function| match function.get("parameters") {
            Some(schema) if schema.get("type").is_some_and(|kind| *kind == "dict") => {
                for (key, value) in holders::held(function) {
                    let message = format!("{key}, next to parameters, is {}", brief(value));
                    opinion.find(format!("{pointer}/{key}"), message);
                }
                for (key, value) in schema.as_object().into_iter().flatten() {
                    if is_stray_parameter(key, value) {
                        let message = format!("{key}, next to properties, is {}", brief(value));
                        opinion.find(format!("{pointer}/parameters/{}", token(key)), message);
                    }
                }
            }
            Some(value) => {
                opinion.find(format!("{pointer}/parameters"), format!("parameters is {}", brief(value)));
            }
            None => opinion.find(pointer, "the parameters are in an unsupported form"),
        });
    },
};
