//! A function stands in the list twice.

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
    let is_repeat = |at: usize, function: &Value| {
        let same_name = |other: &&Value| other.get("name") == function.get("name");
        function.is_object() && functions[..at].iter().filter(same_name).any(|other| other == function)
    };
    // One at a time: the places of the others change with it.
    if let Some((at, before)) = functions.iter().enumerate().find(|(at, function)| is_repeat(*at, function)) {
        opinion.change(Change::at("").remove(&at.to_string(), before));
    }
}
