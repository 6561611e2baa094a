//! Calls of a model with function calling: names with JSON arguments.

use serde_json::Value;

use super::DecodeError;
use crate::checker::value::{PyDict, PyValue};

/// Decodes the `result` of a model with function calling: a list of objects with one name, whose value is the JSON text
/// of the arguments, or the arguments themselves.
///
/// Members after the first one of a call are ignored, as the official decoder does.
///
/// # Errors
/// If the result is no such list, for example a text because the model answered in words, or arguments are no JSON.
pub fn decode_calls(result: &Value) -> Result<PyValue, DecodeError> {
    let Value::Array(calls) = result else {
        return Err(DecodeError::new("AttributeError", "the result is no list of calls"));
    };
    calls.iter().map(decode_call).collect::<Result<_, _>>().map(PyValue::List)
}

fn decode_call(call: &Value) -> Result<PyValue, DecodeError> {
    let Value::Object(members) = call else {
        return Err(DecodeError::new("AttributeError", "a call is no object"));
    };
    let Some((name, arguments)) = members.iter().next() else {
        return Err(DecodeError::new("IndexError", "a call has no name"));
    };
    let arguments = match arguments {
        Value::String(text) => serde_json::from_str(text).map_err(|fault| {
            DecodeError::new("JSONDecodeError", format!("the arguments of {name:?} are no JSON: {fault}"))
        })?,
        arguments => arguments.clone(),
    };
    let call = [(PyValue::text(name), PyValue::from_json(&arguments))];
    Ok(PyValue::Dict(call.into_iter().collect::<PyDict>()))
}
