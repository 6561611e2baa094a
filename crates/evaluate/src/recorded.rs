//! The executable categories of V1, on recorded results. Nothing is executed.
//!
//! A line of the file is `{"id", "outputs", "expected"}`: the results of the model's calls and those of the ground
//! truth; in the category `rest` it is `{"id", "status", "body"}`: the response to the model's request.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::category::Scoring;
use super::dataset::{Entry, objects};
use super::error::{EvaluateError, Result};

/// The recorded results of one output.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded(serde_json::Map<String, Value>);

/// Allowed difference of a result that changes with time, as a share.
const REAL_TIME: f64 = 0.2;
const REST_OK: u64 = 200;

/// Why a recorded result is wrong: error type and message.
type Failure = (&'static str, String);

/// Reads recorded results by id.
///
/// # Errors
/// If the file cannot be read, a line has no id, or an id has two lines.
pub(super) fn read(path: &Path) -> Result<HashMap<String, Recorded>> {
    let mut by_id = HashMap::new();
    for (line, object) in objects(path)? {
        let fault = |what: String| EvaluateError::Line {
            path: path.to_owned(),
            line,
            what,
            hint: "a line is {\"id\", \"outputs\", \"expected\"}, for REST {\"id\", \"status\", \"body\"}",
        };
        let id = object.get("id").and_then(Value::as_str).map(str::to_owned);
        let id = id.ok_or_else(|| fault("\"id\": expected a text".to_owned()))?;
        if !object.contains_key("outputs") && !object.contains_key("status") {
            return Err(fault("expected \"outputs\" or \"status\", found neither".to_owned()));
        }
        if by_id.insert(id.clone(), Recorded(object)).is_some() {
            return Err(fault(format!("\"id\": {id:?} has two lines")));
        }
    }
    Ok(by_id)
}

/// Checks the recorded results of an output.
pub(super) fn check(
    scoring: Scoring,
    entry: &Entry,
    recorded: &Recorded,
) -> std::result::Result<(), Failure> {
    let field = |key: &str| recorded.0.get(key).unwrap_or(&Value::Null);
    if scoring == Scoring::Rest {
        return rest(&entry.ground_truth, field("status"), field("body"));
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    let (outputs, expected) = (list(field("outputs")), list(field("expected")));
    let types = list(&entry.result_types);
    if outputs.len() != expected.len() {
        let message = format!(
            "Wrong number of functions provided. Expected {}, but got {}.",
            expected.len(),
            outputs.len()
        );
        return Err(("value_error:exec_result_count", message));
    }
    let mut is_used = vec![false; outputs.len()];
    let is_single = expected.len() == 1;
    for (at, expected) in expected.iter().enumerate() {
        let kind = types.get(at).and_then(Value::as_str).unwrap_or("exact_match");
        let mut last = None;
        let free: Vec<usize> = (0..outputs.len()).filter(|&at| !is_used[at]).collect();
        let found = free.into_iter().find(|&at| match same(kind, &outputs[at], expected) {
            Ok(()) => true,
            Err(failure) => {
                last = Some(failure);
                false
            }
        });
        match (found, last) {
            (Some(found), _) => is_used[found] = true,
            (None, Some(failure)) if is_single => return Err(failure),
            (None, last) => {
                let why = last.map_or_else(String::new, |(_, message)| format!(" {message}"));
                let message =
                    format!("Could not find a matching result for call {at} of the ground truth.{why}");
                return Err(("executable_checker:cannot_find_match", message));
            }
        }
    }
    Ok(())
}

/// Compares a result in the way of its type.
fn same(kind: &str, output: &Value, expected: &Value) -> std::result::Result<(), Failure> {
    let wrong = format!("Wrong execution result. Expected: {expected}, but got: {output}.");
    match kind {
        "exact_match" if equal(output, expected) => Ok(()),
        "exact_match" => Err(("executable_checker:wrong_result", wrong)),
        "real_time_match" => {
            let within = output.as_f64().zip(expected.as_f64()).is_some_and(|(output, expected)| {
                expected * (1.0 - REAL_TIME) <= output && output <= expected * (1.0 + REAL_TIME)
            });
            let message = format!("{wrong} 20 % difference allowed.");
            if within { Ok(()) } else { Err(("executable_checker:wrong_result_real_time", message)) }
        }
        _ => same_structure(output, expected),
    }
}

/// Compares values as Python does, where 1 equals 1.0.
fn equal(a: &Value, b: &Value) -> bool {
    callsieve_checker::PyValue::from_json(a).equals(&callsieve_checker::PyValue::from_json(b))
}

fn same_structure(output: &Value, expected: &Value) -> std::result::Result<(), Failure> {
    match (output, expected) {
        (Value::Object(output), Value::Object(expected)) => {
            if output.len() != expected.len() {
                let message = format!("Expected {} keys, but got {}.", expected.len(), output.len());
                return Err(("executable_checker:wrong_result_type:dict_length", message));
            }
            match expected.keys().find(|key| !output.contains_key(*key)) {
                None => Ok(()),
                Some(key) => Err((
                    "executable_checker:wrong_result_type:dict_key_not_found",
                    format!("Expected the key {key:?}, but it is not in the output."),
                )),
            }
        }
        (Value::Array(output), Value::Array(expected)) if output.len() != expected.len() => {
            let message = format!("Expected a list of {}, but got {}.", expected.len(), output.len());
            Err(("executable_checker:wrong_result_type:list_length", message))
        }
        (output, expected) if type_name(output) == type_name(expected) => Ok(()),
        (output, expected) => {
            let message = format!("Expected type {}, but got {}.", type_name(expected), type_name(output));
            Err(("executable_checker:wrong_result_type", message))
        }
    }
}

/// Compares the response of a server with the stored one: status, type, number of elements, keys.
fn rest(ground_truth: &Value, status: &Value, body: &Value) -> std::result::Result<(), Failure> {
    if status.as_u64() != Some(REST_OK) {
        let message = format!("Execution result status code is not 200, got {status}");
        return Err(("executable_checker_rest:wrong_status_code", message));
    }
    let parsed = |value: &Value| match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    };
    let inconsistent = || Err(("executable_checker_rest:wrong_key", "Key inconsistency".to_owned()));
    let same_keys = |a: &Value, b: &Value| match (a, b) {
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && a.keys().all(|key| b.contains_key(key)),
        (a, b) => type_name(a) == type_name(b),
    };
    match (parsed(ground_truth), parsed(body)) {
        (expected @ Value::Object(_), body @ Value::Object(_)) => {
            if same_keys(&expected, &body) {
                Ok(())
            } else {
                inconsistent()
            }
        }
        (Value::Array(expected), Value::Array(body)) => {
            if expected.len() != body.len() {
                let message = "Response list length inconsistency.".to_owned();
                return Err(("value_error:exec_result_rest_count", message));
            }
            let all = expected.iter().zip(&body).all(|(expected, body)| same_keys(expected, body));
            if all { Ok(()) } else { inconsistent() }
        }
        (expected, body) => {
            let message = format!("Expected {}, but got {}", type_name(&expected), type_name(&body));
            Err(("executable_checker_rest:wrong_type", message))
        }
    }
}

/// Returns the name of the type in Python.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind_of(kind: &str, output: &Value, expected: &Value) -> Option<&'static str> {
        same(kind, output, expected).err().map(|(error_type, _)| error_type)
    }

    #[test]
    fn results_are_compared_in_the_way_of_their_type() {
        assert_eq!(kind_of("exact_match", &json!(1.0), &json!(1)), None);
        assert_eq!(kind_of("exact_match", &json!(2), &json!(1)), Some("executable_checker:wrong_result"));
        assert_eq!(kind_of("real_time_match", &json!(12), &json!(10)), None);
        let real_time = "executable_checker:wrong_result_real_time";
        assert_eq!(kind_of("real_time_match", &json!(12.5), &json!(10)), Some(real_time));
        assert_eq!(kind_of("structural_match", &json!({"a": 1}), &json!({"a": 2})), None);
        let missing = "executable_checker:wrong_result_type:dict_key_not_found";
        assert_eq!(kind_of("structural_match", &json!({"b": 1}), &json!({"a": 2})), Some(missing));
        let length = "executable_checker:wrong_result_type:list_length";
        assert_eq!(kind_of("structural_match", &json!([1]), &json!([1, 2])), Some(length));
        let kind = "executable_checker:wrong_result_type";
        assert_eq!(kind_of("structural_match", &json!(1), &json!(1.5)), Some(kind));
    }

    #[test]
    fn a_response_is_compared_by_status_type_count_and_keys() {
        let truth = json!("[{\"a\": 1}, {\"a\": 2}]");
        let error =
            |status: u64, body: Value| rest(&truth, &json!(status), &body).err().map(|(kind, _)| kind);
        assert_eq!(error(200, json!([{"a": 5}, {"a": null}])), None);
        assert_eq!(error(404, json!([])), Some("executable_checker_rest:wrong_status_code"));
        assert_eq!(error(200, json!({"a": 5})), Some("executable_checker_rest:wrong_type"));
        assert_eq!(error(200, json!([{"a": 5}])), Some("value_error:exec_result_rest_count"));
        assert_eq!(error(200, json!([{"a": 5}, {"b": 5}])), Some("executable_checker_rest:wrong_key"));
    }
}
