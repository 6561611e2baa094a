//! Keys other than `parameters` under which functions hold their parameters.
//!
//! `dialect` unwraps some of them and `fix` converts others. Where neither can read the value, it stays in place and
//! is reported, because unreadable parameters are not the same as no parameters. Every key in the tables of `dialect`
//! and `fix` is also listed here.

use serde_json::{Map, Value};

/// All keys other than `parameters` that may hold parameters.
pub(super) const HOLDERS: [&str; 19] = [
    "required_parameters",
    "optional_parameters",
    "arguments",
    "args",
    "params",
    "parameter",
    "input_schema",
    "inputSchema",
    "parameters_json_schema",
    "parametersJsonSchema",
    "parameter_definitions",
    "input_parameters",
    "api_arguments",
    "args_schema",
    "inputs",
    "path_parameters",
    "query_parameters",
    "header_parameters",
    "body_parameters",
];

/// How many of the first keys `fix` converts; `dialect` handles the others.
const N_HELD_BY_FIX: usize = 6;

/// Keys that hold only some of the parameters.
const PARTS: [&str; 6] = [
    "required_parameters",
    "optional_parameters",
    "path_parameters",
    "query_parameters",
    "header_parameters",
    "body_parameters",
];

/// Schema keys that restrict nothing if there are no properties.
const FRAME: [&str; 5] = ["type", "type_", "$schema", "title", "additionalProperties"];

/// Returns the parameters that a function holds under other keys, with these keys.
pub(super) fn held(function: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> + Clone {
    function.iter().filter(|(key, value)| HOLDERS.contains(&key.as_str()) && !takes_nothing(value))
}

/// Returns true if a key holds only some of the parameters.
pub(super) fn is_part(key: &str) -> bool {
    PARTS.contains(&key)
}

/// Returns true if a function has parameters in a form that `fix` converts.
pub(super) fn are_held_for_fix(function: &Map<String, Value>) -> bool {
    function.contains_key("parameters")
        || HOLDERS[..N_HELD_BY_FIX].iter().any(|key| function.contains_key(*key))
}

/// Returns true if there are no parameters: an empty value, or a schema without properties.
pub(super) fn takes_nothing(parameters: &Value) -> bool {
    match parameters {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(schema) => schema.iter().all(|(key, value)| match key.as_str() {
            "properties" | "required" => takes_nothing(value) && !value.is_string(),
            key => FRAME.contains(&key) && !value.is_object(),
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_without_members_takes_nothing() {
        for parameters in [
            json!(null),
            json!({}),
            json!([]),
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        ] {
            assert!(takes_nothing(&parameters), "{parameters}");
        }
        for parameters in [
            json!({"properties": {"a": {}}}),
            json!({"type": {"type": "string"}}),
            json!({"$ref": "#/a"}),
            json!({"city": "string"}),
            json!(["city"]),
        ] {
            assert!(!takes_nothing(&parameters), "{parameters}");
        }
    }
}
