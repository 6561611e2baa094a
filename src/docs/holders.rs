//! Keys under which functions hold their parameters, BFCL's own aside.
//!
//! `dialect` takes some as frames, `fix` turns others over, and what neither can read stays where
//! it is and is told of: parameters that cannot be read are not the same as none. A key in one of
//! the tables of those two belongs here too.

use serde_json::{Map, Value};

/// Every key that may hold parameters beside `parameters`.
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

/// How many of them, from the first, `fix` turns over; the others are for `dialect`.
const N_HELD_BY_FIX: usize = 6;

/// Keys that hold some of the parameters, so none of them is all there is.
const PARTS: [&str; 6] = [
    "required_parameters",
    "optional_parameters",
    "path_parameters",
    "query_parameters",
    "header_parameters",
    "body_parameters",
];

/// Keys of a schema that bound nothing where there are no members.
const FRAME: [&str; 5] = ["type", "type_", "$schema", "title", "additionalProperties"];

/// The parameters that a function holds under other keys, with those keys.
pub(super) fn held(function: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> + Clone {
    function.iter().filter(|(key, value)| HOLDERS.contains(&key.as_str()) && !takes_nothing(value))
}

/// Whether a key holds some of the parameters only.
pub(super) fn is_part(key: &str) -> bool {
    PARTS.contains(&key)
}

/// Whether a function has parameters in a form that is for `fix`.
pub(super) fn are_held_for_fix(function: &Map<String, Value>) -> bool {
    function.contains_key("parameters")
        || HOLDERS[..N_HELD_BY_FIX].iter().any(|key| function.contains_key(*key))
}

/// Whether parameters are none at all: nothing, or a schema without members.
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
