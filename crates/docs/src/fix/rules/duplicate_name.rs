//! Two functions of a list have the same name, or names that differ only in dots and underscores.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/duplicate-name",
    what: "Two functions of a list have the same name, or names that differ only in dots and underscores.",
    why: "A call could mean either.",
    safety: Safety::Suggest,
    fires: r#"[{"name": "f", "description": "d"}, {"name": "f", "description": "e"}]"#,
    quiet: r#"[{"name": "f", "description": "d"}, {"name": "g", "description": "d"}]"#,
    judge: |opinion| {
        let mut seen = FxHashSet::default();
        each_function(opinion.functions, |pointer, function| {
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            // Some models cannot write a dot, so the evaluator replaces it with an underscore.
            let called = if name.contains('.') { Cow::from(name.replace('.', "_")) } else { Cow::from(name) };
            if !seen.insert(called) {
                opinion.find(format!("{pointer}/name"), format!("another function is also called {name:?}"));
            }
        });
    },
};
