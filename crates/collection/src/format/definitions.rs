//! Definitions of functions in any form that `docs` knows: tools of OpenAI, Anthropic and Gemini, exports of smolagents,
//! `LangChain` and `LlamaIndex`, and plain lists.
//!
//! A list is one tool with the name of the file. `docs::dialect` removes the wrappers of each record on its own, so that
//! one bad entry does not make the list unreadable. Damaged text is read by `docs::parse`.

use callsieve_docs::dialect;
use callsieve_docs::parse::parse;
use serde_json::{Map, Value};

use super::{CollectionFormat, parameters, record};
use crate::census::Census;
use crate::document::{Content, Document, allowance};
use crate::fault::FaultKind;
use crate::reading::{Reading, cut, text, value};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "definitions",
    what: "Definitions of functions: tools of OpenAI, Anthropic and Gemini, exports of agent frameworks, plain lists.",
    recognises: |_| true,
    read,
    census,
};

/// Keys that wrap one definition, besides those that `docs` knows.
const WRAPPERS: [&str; 2] = ["metadata", "function_info"];
/// Keys that hold parameters if there are none under `parameters`.
const HOLDERS: [&str; 8] =
    ["parameters", "fn_schema", "tool_call_schema", "args_schema", "args", "arguments", "params", "inputs"];
const LISTS: [(&str, bool); 2] = [("required_parameters", true), ("optional_parameters", false)];
/// Keys that describe the result.
const RESPONSES: [&str; 7] = [
    "response",
    "output_schema",
    "outputSchema",
    "output_parameters",
    "returns",
    "return_type",
    "output_type",
];

fn read(document: &Document, reading: &mut Reading) {
    let name = document.source.stem().to_owned();
    let mut tool = Tool { name, origin: reading.source.at(""), ..Tool::default() };
    if let Content::Text(text) = &document.content {
        return read_text(text, tool, reading);
    }
    let allowance = allowance(document.n_bytes);
    let mut first_fault = None;
    let mut faults = Vec::new();
    for (at, record) in document.records() {
        match dialect::functions_within(listed_alone(record), &mut Vec::new(), &allowance) {
            Ok(functions) => {
                for function in &functions {
                    add_function(function, &at, &mut tool, reading);
                }
            }
            Err(fault) => {
                first_fault.get_or_insert_with(|| fault.message.clone());
                faults.push((at, fault.message));
            }
        }
    }
    if allowance.is_exceeded() {
        return reading.fault("", FaultKind::TooLarge, "its functions take far more memory than its text");
    }
    if tool.functions.is_empty() {
        reading.faults.retain(|fault| !matches!(fault.kind, FaultKind::NotAFunction));
        let message = first_fault.unwrap_or_else(|| "no entry is a function".to_owned());
        return reading.fault("", FaultKind::NoFunctions, message);
    }
    for (at, message) in faults {
        reading.fault(&at, FaultKind::NotAFunction, message);
    }
    reading.tools.push(tool);
}

fn read_text(text: &str, mut tool: Tool, reading: &mut Reading) {
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(fault) => return reading.fault("", FaultKind::Unreadable, fault.message),
    };
    for fault in parsed.faults {
        let at = fault.at.map_or_else(String::new, |at| format!("byte {at}"));
        reading.fault(&at, FaultKind::Repaired, fault.message);
    }
    for function in &parsed.functions {
        add_function(function, "", &mut tool, reading);
    }
    if tool.functions.is_empty() {
        return reading.fault("", FaultKind::NoFunctions, "the text has no function with a doc");
    }
    reading.tools.push(tool);
}

/// Returns a record as a list or an object; a text may hold one.
fn listed_alone(record: &Value) -> Value {
    if record.is_string() { Value::Array(vec![record.clone()]) } else { unwrapped(record).clone() }
}

/// Returns the definition in a wrapper.
fn unwrapped(record: &Value) -> &Value {
    let inner = WRAPPERS.iter().find_map(|key| record.get(key).filter(|inner| inner.get("name").is_some()));
    inner.filter(|_| record.get("name").is_none()).unwrap_or(record)
}

/// Adds a function that `docs` returned, unless it only has a name.
pub(super) fn add_function(function: &Value, at: &str, tool: &mut Tool, reading: &mut Reading) {
    let Some(map) = reading.object(function, at) else { return };
    let Some(name) = reading.name(map, &["name"], at) else { return };
    let description = text(map, &["description"]);
    let Some(schema) = schema(map, description.is_some(), reading, at) else {
        let message = format!("{:?} has neither a description nor parameters", cut(name));
        return reading.fault(at, FaultKind::NotAFunction, message);
    };
    let mut api = Api::new(name, description, schema, reading.source.at(at));
    api.response = response(map, reading, at);
    api.example = value(map, &["example_response"]).cloned();
    reading.add(tool, api);
}

/// Returns the parameters as a schema; `None` if the function states nothing about itself.
fn schema(map: &Map<String, Value>, is_described: bool, reading: &mut Reading, at: &str) -> Option<Value> {
    if let Some(held) = value(map, &HOLDERS) {
        return Some(as_schema(held, map.get("required"), reading, at));
    }
    let lists: Vec<_> = LISTS.iter().filter_map(|(key, is)| Some((map.get(*key)?, Some(*is)))).collect();
    let has_holder = !lists.is_empty() || HOLDERS.iter().any(|key| map.contains_key(*key));
    (is_described || has_holder).then(|| parameters::of_lists(&lists, reading, at))
}

fn as_schema(held: &Value, required: Option<&Value>, reading: &mut Reading, at: &str) -> Value {
    match held {
        Value::Array(_) => parameters::of_lists(&[(held, None)], reading, at),
        Value::Object(map) if is_schema(map) => held.clone(),
        Value::Object(map) => {
            let required = required.and_then(Value::as_array).map(Vec::as_slice);
            parameters::of_map(map, required, reading, at)
        }
        // Text and other values are for `docs::fix` to read or to report.
        other => other.clone(),
    }
}

/// Returns true if an object is a schema and not a map of parameters, one of which may be called `type`.
fn is_schema(map: &Map<String, Value>) -> bool {
    let is_type = map.get("type").is_some_and(|kind| kind.is_string() || kind.is_array());
    let has_properties =
        map.get("properties").is_some_and(|properties| properties.is_object() || properties.is_array());
    let refers = ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| map.contains_key(*key));
    has_properties || refers || is_type && map.values().all(|value| !value.is_object() || map.len() == 1)
}

fn response(map: &Map<String, Value>, reading: &mut Reading, at: &str) -> Option<Value> {
    let (key, written) = RESPONSES.iter().find_map(|key| Some((*key, map.get(*key)?)))?;
    match written {
        Value::Object(inner) if is_schema(inner) => Some(written.clone()),
        Value::Object(_) => record::response(Some(written), reading, at),
        Value::String(kind) if key.ends_with("type") => Some(serde_json::json!({"type": kind})),
        Value::String(text) if !text.trim().is_empty() => Some(serde_json::json!({"description": text})),
        _ => None,
    }
}

/// Counts definitions by their usual keys. A record of another form is not counted, and neither is text.
fn census(document: &Document) -> Option<Census> {
    if matches!(document.content, Content::Text(_)) {
        return None;
    }
    let mut census = Census::default();
    let records = document.records();
    let mut functions: Vec<&Value> =
        records.iter().flat_map(|(_, record)| listed(unwrapped(record))).collect();
    functions.retain(|function| is_counted(function));
    if !functions.is_empty() {
        census.tool(document.source.stem(), None);
    }
    for function in functions {
        let map = function.as_object()?;
        census.function(text(map, &NAMES).unwrap_or_default(), text(map, &DESCRIPTIONS));
        let key = PARAMETERS.iter().find(|key| map.get(**key).is_some_and(|value| !value.is_null()));
        match key.and_then(|key| map.get(*key)) {
            Some(held @ Value::Object(inner)) if is_schema(inner) => census.schema(held),
            Some(Value::Object(inner)) => record::count_map(inner, &mut census),
            Some(Value::Array(list)) => {
                for entry in list {
                    census.parameter();
                    record::count_parameter(entry, &mut census);
                }
            }
            _ => {}
        }
    }
    Some(census)
}

const NAMES: [&str; 4] = ["name", "api_name", "function_name", "tool_name"];
const DESCRIPTIONS: [&str; 4] =
    ["description", "api_description", "function_description", "tool_description"];
const PARAMETERS: [&str; 12] = [
    "parameters",
    "input_schema",
    "inputSchema",
    "parameters_json_schema",
    "parametersJsonSchema",
    "fn_schema",
    "tool_call_schema",
    "args_schema",
    "args",
    "arguments",
    "params",
    "inputs",
];

/// Returns the definitions in a record: those of its lists, that of its wrapper, or itself.
fn listed(record: &Value) -> Vec<&Value> {
    for key in ["tools", "functions", "functionDeclarations", "function_declarations"] {
        if let Some(list) = record.get(key).and_then(Value::as_array) {
            return list.iter().flat_map(listed).collect();
        }
    }
    let inner =
        ["function", "toolSpec"].iter().find_map(|key| record.get(key).filter(|inner| inner.is_object()));
    vec![inner.unwrap_or(record)]
}

fn is_counted(function: &Value) -> bool {
    let Some(map) = function.as_object() else { return false };
    let states = text(map, &DESCRIPTIONS).is_some() || PARAMETERS.iter().any(|key| map.contains_key(*key));
    text(map, &NAMES).is_some() && states
}
