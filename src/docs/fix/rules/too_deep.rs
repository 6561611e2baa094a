//! The list nests deeper than values that are kept may.

use crate::docs::fix::rule::{Rule, Safety};
use crate::notation::levels::{MAX_KEPT, is_within};

pub(super) static RULE: Rule = Rule {
    code: "schema/too-deep",
    what: "A function nests so deep that readers of JSON would refuse a dataset that holds it.",
    why: "Fixes may add levels to docs that nest deep already; what cannot be read again is in no dataset.",
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
        // The list is a level.
        let deep = functions.filter(|(_, function)| !is_within(function, MAX_KEPT - 1));
        for (at, _) in deep.collect::<Vec<_>>() {
            opinion.find(format!("/{at}"), format!("with it the list is more than {MAX_KEPT} levels deep"));
        }
    },
};
