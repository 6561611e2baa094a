//! A function has no `parameters`, or nothing in them.

use serde_json::{Map, Value, json};

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::values::{is_nothing, is_undescribed};
use crate::docs::fix::walk::each_function;
use crate::docs::holders;

pub(super) static RULE: Rule = Rule {
    code: "schema/missing-parameters",
    what: "A function has no `parameters`, or nothing in them.",
    why: "A function that takes nothing says so with an empty schema.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": null}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        // Parameters that cannot be read are not the same as none.
        let is_held = holders::held(function).next().is_some();
        if !is_held && !is_other_record(function) && function.get("parameters").is_none_or(is_nothing) {
            let nothing = json!({"type": "dict", "required": [], "properties": {}});
            opinion.change(Change::at(pointer).set(function, "parameters", nothing));
        }
    });
}

/// Keys that a function without description and parameters may have and still be one.
const BESIDE: [&str; 8] =
    ["name", "title", "type", "parameters", "required", "returns", "responses", "$schema"];

/// Whether an object has a name, and nothing else that makes it a function: a person, a call, a package.
fn is_other_record(function: &Map<String, Value>) -> bool {
    let says_something = |value: &Value| value.is_string() || value.is_number() || value.is_object();
    is_undescribed(function)
        && !function.contains_key("title")
        && function.iter().any(|(key, value)| !BESIDE.contains(&key.as_str()) && says_something(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::fix::fix;

    #[test]
    fn what_has_only_a_name_in_common_with_a_function_is_told_of() {
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
