//! A function stands in the list twice.

use std::collections::HashMap;

use serde_json::Value;

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/duplicate-function",
    what: "A function stands in the list twice.",
    why: "No call could tell the two apart; the first is kept. Two that differ in anything but the order of keys are \
          only told of.",
    safety: Safety::Safe,
    fires: r#"[{"name": "f", "description": "d"}, {"description": "d", "name": "f"}]"#,
    quiet: r#"[{"name": "f", "description": "d"}, {"name": "f", "description": "e"}]"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let mut by_name: HashMap<&str, Vec<&Value>> = HashMap::new();
    for (at, function) in functions.iter().enumerate() {
        let Some(name) = function.get("name").and_then(Value::as_str) else { continue };
        let namesakes = by_name.entry(name).or_default();
        if namesakes.contains(&function) {
            // One at a time: the places of the others change with it.
            opinion.change(Change::at("").remove(&at.to_string(), function));
            return;
        }
        namesakes.push(function);
    }
}
