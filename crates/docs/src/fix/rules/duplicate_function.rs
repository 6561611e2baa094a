//! A function is in the list twice.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/duplicate-function",
    what: "A function is in the list twice.",
    why: "No call could distinguish the two; the first is kept. Two functions that differ in more than the order of \
          keys are only reported.",
    safety: Safety::Safe,
    fires: r#"[{"name": "f", "description": "d"}, {"description": "d", "name": "f"}]"#,
    quiet: r#"[{"name": "f", "description": "d"}, {"name": "f", "description": "e"}]"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    // From last to first, so that the indexes of the others stay valid.
    for at in repeated(&functions).into_iter().rev() {
        opinion.change(Change::at("").remove(&at.to_string(), &functions[at]));
    }
}

/// Returns the indexes of all functions that repeat an earlier one.
fn repeated(functions: &[Value]) -> Vec<usize> {
    let mut firsts: HashMap<&str, &Value> = HashMap::new();
    let mut others: HashSet<&Value> = HashSet::new();
    let mut places = Vec::new();
    for (at, function) in functions.iter().enumerate() {
        let Some(name) = function.get("name").and_then(Value::as_str) else { continue };
        match firsts.entry(name) {
            Entry::Vacant(place) => drop(place.insert(function)),
            Entry::Occupied(first) if *first.get() == function || !others.insert(function) => places.push(at),
            Entry::Occupied(_) => {}
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    #[test]
    fn repeated_functions_are_removed_and_the_first_of_each_keeps_its_place() {
        let (a, b, c) = (
            json!({"name": "ring", "description": "a"}),
            json!({"name": "ring", "description": "b"}),
            json!({"name": "toll", "description": "c"}),
        );
        let sent = [&a, &b, &a, &c, &b, &a].map(Clone::clone);
        assert_eq!(repeated(&sent), [2, 4, 5]);
        let fixed = fix(&sent, Safety::Safe);
        let said: Vec<_> = fixed.functions.iter().map(|function| function["description"].clone()).collect();
        assert_eq!(said, ["a", "b", "c"]);
        let gone = fixed.edits.iter().filter(|edit| edit.rule.code == RULE.code);
        assert_eq!(gone.count(), 3);
    }
}
