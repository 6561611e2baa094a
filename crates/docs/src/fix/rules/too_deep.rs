//! The list is nested deeper than a dataset allows.

use crate::fix::rule::{FixRule, Safety};
use callsieve_notation::levels::{MAX_KEPT, is_within};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/too-deep",
    what: "A function is nested so deep that JSON readers would refuse a dataset with it.",
    why: "Fixes may add levels to docs that are already deep. A doc that cannot be read again is in no dataset.",
    safety: Safety::Suggest,
    fires: concat!(
        r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "any", "description": "x", "default": "#,
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        "}}}}"
    ),
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "any", "description": "x", "default": [[[[[1]]]]]}}}}"#,
    judge: |opinion| {
        let functions = opinion.functions.functions.iter().enumerate();
        // The list itself is one level.
        let deep = functions.filter(|(_, function)| !is_within(function, MAX_KEPT - 1));
        for (at, _) in deep.collect::<Vec<_>>() {
            opinion.find(format!("/{at}"), format!("with it the list is more than {MAX_KEPT} levels deep"));
        }
    },
};
