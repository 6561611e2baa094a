//! Handlers that read a list of calls with a member for the name and one for the arguments.

use serde_json::Value;

use super::decoder::{RawOutput, call, call_of, no_call, stripped};
use crate::decode::{DecodeError, literal, python_json};
use crate::value::PyValue;

/// The exception of a text that is no JSON. Others, such as that of integers with too many digits, are raised as they are.
const NO_JSON: &str = "JSONDecodeError";

const NAMED: (&str, &str) = ("name", "arguments");

/// Returns the elements of a value as Python iterates over it. Keys of an object and characters of a text are no calls.
fn elements(value: PyValue) -> Result<Vec<PyValue>, DecodeError> {
    let no_call = || DecodeError::new("TypeError", "an element of the output is no call");
    match value {
        PyValue::List(elements) | PyValue::Tuple(elements) => Ok(elements),
        PyValue::Dict(members) if members.is_empty() => Ok(Vec::new()),
        PyValue::Str(text) if text.is_empty() => Ok(Vec::new()),
        PyValue::Bytes(bytes) if bytes.is_empty() => Ok(Vec::new()),
        _ => Err(no_call()),
    }
}

/// Returns the value of a result file.
fn value_of(output: RawOutput<'_>) -> PyValue {
    match output {
        RawOutput::Text(text) => PyValue::text(text),
        RawOutput::Json(value) => PyValue::from_json(value),
    }
}

fn calls_of(elements: &[PyValue], (name, arguments): (&str, &str)) -> Result<PyValue, DecodeError> {
    elements
        .iter()
        .map(|element| call_of(element, name, arguments))
        .collect::<Result<_, _>>()
        .map(PyValue::List)
}

/// Returns the elements of a list, or the value as the only one.
fn listed(value: PyValue) -> Vec<PyValue> {
    if let PyValue::List(elements) = value { elements } else { vec![value] }
}

/// Decodes names with JSON texts of arguments (OpenAI, Claude, Mistral and most others with function calling).
pub(super) fn calls(output: RawOutput<'_>) -> Result<PyValue, DecodeError> {
    let one = |element: &PyValue| {
        let members = element.as_dict();
        let members = members.ok_or_else(|| DecodeError::new("AttributeError", "a call is no object"))?;
        let first = members.iter().next();
        let (name, arguments) = first.ok_or_else(|| DecodeError::new("IndexError", "a call has no name"))?;
        let text = arguments.as_str();
        let text =
            text.ok_or_else(|| DecodeError::new("TypeError", "the arguments of a call are no JSON text"))?;
        call(name.clone(), python_json(text)?)
    };
    elements(value_of(output))?.iter().map(one).collect::<Result<_, _>>().map(PyValue::List)
}

/// Returns a list as it is (Nova, Ministral), or if its elements are objects (Arch, Granite 3, Phi with function calling).
pub(super) fn list(output: RawOutput<'_>, has_objects: bool) -> Result<PyValue, DecodeError> {
    match output {
        RawOutput::Json(Value::Array(list)) if !has_objects || list.iter().all(Value::is_object) => {
            Ok(value_of(output))
        }
        _ => Err(DecodeError::new("ValueError", "the output is no list of function calls")),
    }
}

/// Returns a list as it is, and anything else as a list (Gemini with function calling).
pub(super) fn any(output: RawOutput<'_>) -> PyValue {
    PyValue::List(listed(value_of(output)))
}

/// Decodes `tool_name` and `parameters` (Cohere). What is no list has no call.
pub(super) fn tool_names(output: RawOutput<'_>) -> Result<PyValue, DecodeError> {
    match value_of(output) {
        PyValue::List(elements) => calls_of(&elements, ("tool_name", "parameters")),
        _ => Ok(no_call()),
    }
}

/// Decodes `name` and `arguments` of a list that is no text (Mining, DM-Cito).
pub(super) fn named(output: RawOutput<'_>) -> Result<PyValue, DecodeError> {
    calls_of(&elements(value_of(output))?, NAMED)
}

/// Decodes a JSON list, or one object (`BitAgent`).
pub(super) fn json_list(text: &str) -> Result<PyValue, DecodeError> {
    calls_of(&listed(python_json(text)?), NAMED)
}

/// Decodes a JSON list, one object, or values with `;` between them (xLAM).
pub(super) fn json_or_semicolons(text: &str) -> Result<PyValue, DecodeError> {
    let values = match python_json(text) {
        Ok(value) => listed(value),
        Err(error) if error.exception == NO_JSON => {
            text.split(';').map(|part| python_json(stripped(part))).collect::<Result<_, _>>()?
        }
        Err(error) => return Err(error),
    };
    calls_of(&values, NAMED)
}

/// Decodes a JSON list; the marks of fences are removed anywhere, and what is no JSON has no call (Hammer).
pub(super) fn fenced_json_list(text: &str) -> Result<PyValue, DecodeError> {
    let value = python_json(&text.replace("```", "")).unwrap_or_else(|_| no_call());
    calls_of(&elements(value)?, NAMED)
}

/// Decodes the JSON list behind the first `</think>`, all `'` being `"`; without it there is no call (`ThinkAgent`).
pub(super) fn after_thinking(text: &str) -> Result<PyValue, DecodeError> {
    let text = stripped(text).replace('\'', "\"");
    let Some((_, list)) = text.split_once("</think>") else { return Ok(no_call()) };
    calls_of(&elements(python_json(stripped(list))?)?, NAMED)
}

/// Decodes `name` and `parameters` of JSON values with `;` between them, or of a literal of Python (Llama 3.1 with function
/// calling). The handler evaluates the text without `;`; only literals have a value here.
pub(super) fn python_tag(text: &str) -> Result<PyValue, DecodeError> {
    let text = text.replace("<|python_tag|>", "");
    let values = if text.contains(';') {
        text.split(';').map(python_json).collect::<Result<_, _>>()?
    } else {
        match literal(&text)? {
            one @ PyValue::Dict(_) => vec![one],
            other => elements(other)?,
        }
    };
    calls_of(&values, ("name", "parameters"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::decoder::{Decoder, decoded};
    use super::*;
    use crate::decode::OutputFormat;
    use crate::mode::Mode;

    const RING: &str = r#"{"name": "ring", "arguments": {"bell": 1}}"#;
    const RUNG: &str = "{'ring': {'bell': 1}}";

    #[test]
    fn lists_in_texts_are_read_like_the_handlers_read_them() {
        let (one, two) = (format!("[{RUNG}]"), format!("[{RUNG}, {RUNG}]"));
        let quotes = RING.replace('"', "'");
        for (decoder, text, expected) in [
            (Decoder::JsonList, format!("[{RING}, {RING}]"), two.as_str()),
            (Decoder::JsonList, RING.to_owned(), &one),
            (Decoder::JsonList, format!("{RING};{RING}"), "JSONDecodeError"),
            (Decoder::JsonList, "[]".to_owned(), "[]"),
            (Decoder::JsonList, "5".to_owned(), "TypeError"),
            (Decoder::JsonOrSemicolons, format!("{RING} ;\u{a0}{RING}"), &two),
            (Decoder::JsonOrSemicolons, format!("{RING};"), "JSONDecodeError"),
            (Decoder::JsonOrSemicolons, format!("[{RING}];[{RING}]"), "TypeError"),
            (Decoder::FencedJsonList, format!("```\n[{RING}]\n```"), &one),
            (Decoder::FencedJsonList, format!("```json\n[{RING}]\n```"), "[]"),
            (Decoder::FencedJsonList, "I cannot.".to_owned(), "[]"),
            (Decoder::FencedJsonList, RING.to_owned(), "TypeError"),
            (Decoder::FencedJsonList, "[{\"name\": \"ring\"}]".to_owned(), "KeyError"),
            (Decoder::AfterThinking, format!("<think>Two.</think>\n[{RING}]"), &one),
            (Decoder::AfterThinking, format!("</think>[{quotes}]"), &one),
            (Decoder::AfterThinking, format!("[{RING}]"), "[]"),
            (Decoder::AfterThinking, format!("</think>{RING}"), "TypeError"),
        ] {
            assert_eq!(decoded(decoder, &text), expected, "{text}");
        }
    }

    #[test]
    fn calls_behind_a_python_tag_are_json_or_literals() {
        let call = r#"{"name": "ring", "parameters": {"bell": "1"}}"#;
        let (one, two) = ("[{'ring': {'bell': '1'}}]", "[{'ring': {'bell': '1'}}, {'ring': {'bell': '1'}}]");
        for (text, expected) in [
            (format!("<|python_tag|>{call}; {call}"), two),
            (format!("{call}, {call}"), two),
            (format!(" [{call}]"), one),
            (call.to_owned(), one),
            (call.replace('"', "'"), one),
            (call.replace("\"1\"", "true"), "ValueError"),
            (format!("{call};"), "JSONDecodeError"),
            ("{\"name\": \"ring\"}".to_owned(), "KeyError"),
            ("5".to_owned(), "TypeError"),
            ("I cannot.".to_owned(), "SyntaxError"),
        ] {
            assert_eq!(decoded(Decoder::PythonTag, &text), expected, "{text}");
        }
    }

    #[test]
    fn lists_of_result_files_are_read_like_the_handlers_read_them() {
        let decoded = |decoder: Decoder, value: &Value| {
            let output = value.as_str().map_or(RawOutput::Json(value), RawOutput::Text);
            decoder
                .decode(Mode::Official, output, OutputFormat::Python, false)
                .map_or_else(|error| error.exception.to_owned(), |value| value.repr())
        };
        let (one, texts) = (json!([{"ring": {"bell": 1}}]), json!([{"ring": "{\"bell\": 1}"}]));
        for (decoder, value, expected) in [
            (Decoder::Calls, texts.clone(), "[{'ring': {'bell': 1}}]"),
            (Decoder::Calls, one.clone(), "TypeError"),
            (Decoder::Calls, json!("I cannot."), "TypeError"),
            (Decoder::Calls, json!(""), "[]"),
            (Decoder::Calls, json!([{}]), "IndexError"),
            (Decoder::List, one.clone(), "[{'ring': {'bell': 1}}]"),
            (Decoder::List, json!(["ring"]), "['ring']"),
            (Decoder::List, json!("ring"), "ValueError"),
            (Decoder::ListOfObjects, json!(["ring"]), "ValueError"),
            (Decoder::ListOfObjects, one.clone(), "[{'ring': {'bell': 1}}]"),
            (Decoder::Any, json!("ring"), "['ring']"),
            (Decoder::Any, one, "[{'ring': {'bell': 1}}]"),
            (Decoder::ToolNames, json!([{"tool_name": "ring", "parameters": {}}]), "[{'ring': {}}]"),
            (Decoder::ToolNames, json!("I cannot."), "[]"),
            (Decoder::ToolNames, texts, "KeyError"),
            (Decoder::NamedCalls, json!([{"name": "ring", "arguments": {}}]), "[{'ring': {}}]"),
            (Decoder::NamedCalls, json!("I cannot."), "TypeError"),
            (Decoder::NamedCalls, json!(""), "[]"),
            (Decoder::Prompting, json!([]), "TypeError"),
        ] {
            assert_eq!(decoded(decoder, &value), expected, "{decoder:?} {value}");
        }
    }
}
