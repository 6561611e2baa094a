//! A function's name is not an identifier, or identifiers separated by dots.

use std::collections::HashSet;

use serde_json::Value;

use crate::fix::names::{identifier, is_function_name, is_keyword};
use crate::fix::opinion::{Change, Opinion};
use crate::fix::renames::Renamed;
use crate::fix::rule::{FixRule, Safety};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/function-name",
    what: "A function's name is not an identifier, or identifiers separated by dots.",
    why: "No Python call can use it; invalid characters are replaced by an underscore.",
    safety: Safety::Safe,
    fires: r#"{"name": "Get Weather (v2)", "description": "d"}"#,
    quiet: r#"{"name": "requests.get", "description": "d"}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let legal = |(at, function)| legal_function_name(function).map(|(before, to)| (at, before, to));
    let fixed: Vec<_> = functions.iter().enumerate().filter_map(legal).collect();
    if fixed.is_empty() {
        return;
    }
    let mut taken: HashSet<_> =
        functions.iter().filter_map(|function| function.get("name")?.as_str()).collect();
    for (function, before, to) in &fixed {
        if taken.insert(to) {
            let change = Change::at(&format!("/{function}")).replace("name", before, to.as_str());
            opinion.rename(change, vec![Renamed { function: *function, parameter: None, to: to.clone() }]);
        }
    }
}

/// Returns the name of a function and its valid form, if they differ and there is one.
fn legal_function_name(function: &Value) -> Option<(&Value, String)> {
    let before = function.get("name")?;
    let name = before.as_str().filter(|name| !is_function_name(name))?;
    let parts: Vec<_> = name.split('.').filter_map(identifier).collect();
    let parts = parts.into_iter().map(|part| if is_keyword(&part) { format!("_{part}") } else { part });
    let to = parts.collect::<Vec<_>>().join(".");
    (!to.is_empty()).then_some((before, to))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dots_stay_and_keywords_between_them_are_marked() {
        let legal = |name: &str| legal_function_name(&json!({"name": name})).map(|(_, to)| to);
        assert_eq!(legal("requests.get"), None);
        assert_eq!(legal("a.class"), Some("a._class".to_owned()));
        assert_eq!(legal("a..b c"), Some("a.b_c".to_owned()));
    }
}
