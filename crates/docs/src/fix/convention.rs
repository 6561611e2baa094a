//! The convention by which a list of functions marks required or optional parameters.
//!
//! A collection marks one kind of parameter and leaves the other unmarked, and a function whose parameters are all of
//! the unmarked kind shows nothing of it. So the whole list is read. Functions with a list of required names say
//! themselves what is required, and take no part.

use serde_json::{Map, Value};

use super::form::{self, Form, is_parameter};
use super::marks;
use super::required::REQUIRED;
use super::shape::{as_schema, described};
use super::wording::{is_marked_optional, is_marked_required};

/// Which parameters a list of functions marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Convention {
    /// The required ones, so unmarked parameters are optional.
    Required,
    /// The optional ones, so unmarked parameters are required.
    Optional,
    /// None of them.
    None,
}

impl Convention {
    /// Returns the convention of a list.
    pub(super) fn of(functions: &[Value]) -> Self {
        let mut found = Self::None;
        for function in functions {
            match Self::of_function(function) {
                Self::Required => return Self::Required,
                Self::Optional => found = Self::Optional,
                Self::None => {}
            }
        }
        found
    }

    fn of_function(function: &Value) -> Self {
        let has_list = |value: &Value| value.get(REQUIRED).is_some_and(Value::is_array);
        let Some(parameters) = function.get("parameters").filter(|all| !has_list(function) && !has_list(all))
        else {
            return Self::None;
        };
        let marks: Vec<bool> = match (parameters, form::of(parameters)) {
            (Value::Array(list), _) => list.iter().filter_map(mark).collect(),
            (Value::Object(map), Form::Flat) => {
                let own = map.iter().filter(|(key, value)| is_parameter(map, key, value));
                own.filter_map(|(_, value)| mark(&as_schema(value))).collect()
            }
            (Value::Object(map), Form::Schema) => {
                map.get("properties").and_then(Value::as_object).map_or(Vec::new(), marks_of_all)
            }
            _ => Vec::new(),
        };
        match marks.iter().max() {
            Some(true) => Self::Required,
            Some(false) => Self::Optional,
            None => Self::None,
        }
    }
}

fn marks_of_all(properties: &Map<String, Value>) -> Vec<bool> {
    properties.values().filter_map(mark).collect()
}

/// Returns whether a parameter is marked as required or as optional, by a key or in its description.
fn mark(parameter: &Value) -> Option<bool> {
    let parameter = parameter.as_object()?;
    let text = described(parameter);
    let in_text = || is_marked_required(text).then_some(true).or(is_marked_optional(text).then_some(false));
    marks::of(parameter).or_else(in_text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_function_shows_the_convention_of_the_list() {
        let unmarked = json!({"name": "g", "parameters": {"b": {"type": "str", "description": "Which."}}});
        for (parameters, expected) in [
            (json!({"a": {"type": "str", "description": "[REQUIRED] Which."}}), Convention::Required),
            (json!({"a": "Required. integer. How often."}), Convention::Required),
            (json!([{"name": "a", "type": "str", "required": true}]), Convention::Required),
            (
                json!({"properties": {"a": {"type": "string", "description": "Which (required)"}}}),
                Convention::Required,
            ),
            (json!({"a": {"type": "str", "description": "Which (optional)."}}), Convention::Optional),
            (
                json!({"a": {"type": "str", "description": "Optional: which."},
                "b": {"type": "str", "description": "Required. Which."}}),
                Convention::Required,
            ),
            (
                json!({"a": {"type": "str", "description": "This is required for all towers."}}),
                Convention::None,
            ),
            (json!({"a": {"type": "str", "description": "The time required."}}), Convention::None),
            (json!({"a": {"type": "str", "description": "Optional headers."}}), Convention::None),
            (
                json!({"a": {"type": "str", "description": "Required. Which."}, "required": ["a"]}),
                Convention::None,
            ),
            (json!("Required. Which."), Convention::None),
        ] {
            let functions = [unmarked.clone(), json!({"name": "f", "parameters": parameters})];
            assert_eq!(Convention::of(&functions), expected, "{parameters}");
        }
    }
}
