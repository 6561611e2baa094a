//! Descriptions mark the optional parameters of a list of functions, and this one is unmarked.

use serde_json::{Map, Value};

use crate::fix::convention::Convention;
use crate::fix::marks;
use crate::fix::opinion::Opinion;
use crate::fix::required::{REQUIRED, list_needed};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::{has_no_way_out, is_stated_optional};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/optional-convention",
    what: "Descriptions mark the optional parameters of a list of functions, and this one is unmarked.",
    why: "If no function has a list of required names, and `Optional.` or `(optional)` in a description is the only \
          mark, parameters without it are required, except those with a default. JSON Schema would call them \
          optional, so the edit is a guess, with one edit per parameter.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "x"},
        "b": {"type": "string", "description": "Optional. y"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "x"},
        "b": {"type": "string", "description": "Optional headers."}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions: &[Value] = &opinion.functions;
    let lists_required =
        |function: &Value| function.pointer("/parameters/required").is_some_and(Value::is_array);
    let is_open = |function: &Value| {
        function
            .get("parameters")
            .is_some_and(|all| all.get("properties").is_some() && all.get(REQUIRED).is_none())
    };
    let rules_list = functions.iter().any(is_open)
        && !functions.iter().any(lists_required)
        && Convention::of(functions) == Convention::Optional;
    if !rules_list {
        return;
    }
    list_needed(opinion, |properties| {
        // Marks of the parameters themselves decide about their function.
        if properties.values().any(|property| property.as_object().and_then(marks::of).is_some()) {
            return Vec::new();
        }
        let needed = properties.iter().filter(|(_, property)| property.as_object().is_some_and(is_needed));
        needed.map(|(name, _)| name.as_str()).collect()
    });
}

fn is_needed(property: &Map<String, Value>) -> bool {
    has_no_way_out(property) && !is_stated_optional(property)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    fn function(properties: &Value) -> Value {
        json!({"name": "f", "description": "d", "parameters": {"type": "dict", "properties": properties}})
    }

    fn required(functions: &[Value], allow: Safety) -> Vec<Value> {
        let fixed = fix(functions, allow).functions;
        fixed.iter().map(|function| function["parameters"][REQUIRED].clone()).collect()
    }

    #[test]
    fn unmarked_parameters_of_the_whole_list_are_required() {
        let of = |description: &str| json!({"type": "string", "description": description});
        let marked = function(
            &json!({"a": of("Which."), "b": of("(optional) Which."), "c": of("Size (default: 'l')")}),
        );
        let mut unmarked = function(&json!({"d": of("Which."), "e": of("Which.")}));
        unmarked["name"] = json!("g");
        let list = [marked, unmarked.clone()];
        assert_eq!(required(&list, Safety::Unsafe), [json!(["a"]), json!(["d", "e"])]);
        assert_eq!(required(&list, Safety::Safe), [json!([]), json!([])]);
        assert_eq!(required(&[unmarked], Safety::Unsafe), [json!([])]);
    }

    #[test]
    fn a_function_with_a_list_shows_that_marks_do_not_rule() {
        let of = |description: &str| json!({"type": "string", "description": description});
        let marked = function(&json!({"a": of("Which."), "b": of("Optional. Which.")}));
        let mut listed = function(&json!({"d": of("Which.")}));
        listed["name"] = json!("g");
        listed["parameters"][REQUIRED] = json!(["d"]);
        assert_eq!(required(&[marked, listed], Safety::Unsafe), [json!([]), json!(["d"])]);
    }
}
