//! Calls of a model with function calling: names with JSON arguments.

use serde_json::Value;

use super::DecodeError;
use crate::value::{PyDict, PyValue};

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
        Value::String(text) => super::json::loads(text).map_err(|fault| {
            DecodeError::new(
                fault.exception,
                format!("the arguments of {name:?} are no JSON: {}", fault.detail),
            )
        })?,
        arguments => PyValue::from_json(arguments),
    };
    let call = [(PyValue::text(name), arguments)];
    Ok(PyValue::Dict(call.into_iter().collect::<PyDict>()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_like_python() {
        let of = |arguments: &str| {
            decode_calls(&json!([{ "f": arguments }]))
                .map_or_else(|error| error.exception.to_owned(), |calls| calls.repr())
        };
        for (arguments, expected) in [
            (r#"{"a": NaN}"#, "[{'f': {'a': nan}}]"),
            (r#"{"a": -Infinity}"#, "[{'f': {'a': -inf}}]"),
            (r#"{"a": "\ud800"}"#, "[{'f': {'a': '\u{fffd}'}}]"),
            (r#"{"a": 1e400}"#, "[{'f': {'a': inf}}]"),
            ("{'a': 1}", "JSONDecodeError"),
            ("", "JSONDecodeError"),
        ] {
            assert_eq!(of(arguments), expected, "{arguments}");
        }
        assert!(of(&format!("{{\"a\": {}1{}}}", "[".repeat(200), "]".repeat(200))).starts_with("[{'f'"));
        assert_eq!(of(&format!("{{\"a\": {}}}", "1".repeat(5000))), "ValueError");
    }
}
