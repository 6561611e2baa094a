//! A function has no `parameters`, or they are empty.

use serde_json::{Map, Value, json};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::{is_nothing, is_undescribed};
use crate::fix::walk::each_function;
use crate::holders;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/missing-parameters",
    what: "A function has no `parameters`, or they are empty.",
    why: "BFCL expresses this with an empty schema.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": null}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        // Unreadable parameters are not the same as no parameters.
        let is_held = holders::held(function).next().is_some();
        if !is_held && !is_other_record(function) && function.get("parameters").is_none_or(is_nothing) {
            let nothing = json!({"type": "dict", "required": [], "properties": {}});
            opinion.change(Change::at(pointer).set(function, "parameters", nothing));
        }
    });
}

/// Keys that a function may have in addition to its name, without description and parameters.
const BESIDE: [&str; 8] =
    ["name", "title", "type", "parameters", "required", "returns", "responses", "$schema"];

/// Returns true if an object has a name and no other key of a function: a person, a call, a package.
fn is_other_record(function: &Map<String, Value>) -> bool {
    let says_something = |value: &Value| value.is_string() || value.is_number() || value.is_object();
    is_undescribed(function)
        && !function.contains_key("title")
        && function.iter().any(|(key, value)| !BESIDE.contains(&key.as_str()) && says_something(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::fix;

    #[test]
    fn records_that_share_only_the_name_with_functions_are_reported() {
        for record in [
            json!({"name": "Ann", "age": 30}),
            json!({"name": "get_weather", "arguments": {"city": "Paris"}}),
            json!({"name": "get_weather", "parameters": {"city": "Paris"}}),
            json!({"name": "get_weather", "parameters": {"city": "Paris", "days": 3}}),
            json!({"name": "f", "description": "d", "parameters": {"a": "The a.", "b": 3}}),
            json!({"name": "f", "description": "d", "parameters": {"type": "array", "items": {"type": "string"}}}),
        ] {
            let fixed = fix(std::slice::from_ref(&record), Safety::Unsafe);
            assert_eq!(fixed.findings.len(), 1, "{record}");
            assert_eq!(fix(&fixed.functions, Safety::Unsafe).functions, fixed.functions);
        }
        assert!(fix(&[json!({"name": "now", "strict": true})], Safety::Unsafe).findings.is_empty());
    }
}
