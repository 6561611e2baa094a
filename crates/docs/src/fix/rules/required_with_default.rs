//! A parameter is required and has a default.

use crate::fix::required::names;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/required-with-default",
    what: "A parameter is required and has a default.",
    why: "Either the default or the list of required parameters is wrong; the official data has a few such \
          parameters.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "default": "en"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "default": "en"}}}}"#,
    judge: |opinion| {
        let mut required = None;
        each_schema(opinion.functions, |site, schema| match site.place {
            SchemaPlace::Parameters => required = names(schema),
            SchemaPlace::Parameter(name) => {
                let is_required = required.as_ref().is_some_and(|required| required.contains(name));
                if is_required && schema.contains_key("default") {
                    let message = format!("{name:?} is required and has a default");
                    opinion.find(format!("{}/default", site.pointer), message);
                }
            }
            SchemaPlace::Member(_) | SchemaPlace::Items => {}
        });
    },
};
