//! Tools of `RapidAPI`: the files `tools/<Category>/<tool>.json` of ToolBench, and the form of its prompts.
//!
//! A parameter has `name`, `type`, `description` and `default`. `RapidAPI` writes no default as an empty text, and the
//! default of a required parameter is the value its test page sends, so it is kept as an example. Words for types stay
//! as written. Upstream's converter loses all optional parameters of functions without required ones; this one has a
//! count for that.

use serde_json::{Map, Value};

use super::{CollectionFormat, parameters, template};
use crate::census::{Census, Kind};
use crate::document::Document;
use crate::fault::FaultKind;
use crate::reading::{Reading, cut, owned, text, value};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "rapidapi",
    what: "A tool of RapidAPI with its `api_list`, as ToolBench publishes and prompts it.",
    recognises: |document| document.all(is_tool),
    read,
    census: |document| {
        let mut census = Census::default();
        for value in document.values() {
            count_tool(value, &mut census);
        }
        Some(census)
    },
};

/// Keys of a tool, one of which distinguishes it from a list of functions alone.
const TOOL_KEYS: [&str; 7] =
    ["tool_description", "tool_name", "standardized_name", "title", "home_url", "host", "description"];

/// The two lists of parameters, and true if those of the list are required.
pub(super) const LISTS: [(&str, bool); 2] = [("required_parameters", true), ("optional_parameters", false)];

const FUNCTION_NAME: [&str; 2] = ["api_name", "name"];
const FUNCTION_DESCRIPTION: [&str; 2] = ["api_description", "description"];
const CATEGORY: [&str; 2] = ["category_name", "category"];

/// Returns the functions of a tool.
pub(super) fn api_list(value: &Value) -> Option<&Vec<Value>> {
    value.get("api_list")?.as_array()
}

fn is_tool(value: &Value) -> bool {
    api_list(value).is_some() && TOOL_KEYS.iter().any(|key| value.get(key).is_some_and(Value::is_string))
}

fn read(document: &Document, reading: &mut Reading) {
    for (at, record) in document.records() {
        let Some(map) = reading.object(record, &at) else { continue };
        let names = ["tool_name", "name", "title", "standardized_name"];
        let Some(name) = reading.name(map, &names, &at) else { continue };
        let functions = api_list(record).map(Vec::as_slice).unwrap_or_default();
        let of_functions = || functions.iter().find_map(|function| owned(function.as_object()?, &CATEGORY));
        let folder = || document.source.folder().map(str::to_owned);
        let mut tool = Tool {
            name: name.to_owned(),
            title: owned(map, &["title"]).filter(|title| title != name),
            description: owned(map, &["tool_description", "description"]).unwrap_or_default(),
            category: owned(map, &CATEGORY).or_else(of_functions).or_else(folder),
            collection: owned(map, &["collection_name", "collection"]),
            host: owned(map, &["host", "tool_host"]),
            licence: owned(map, &["license", "licence"]),
            origin: reading.source.at(&at),
            ..Tool::default()
        };
        for (index, function) in functions.iter().enumerate() {
            let at = format!("{at}/api_list/{index}");
            if let Some(api) = api(function, reading, &at) {
                tool.host = tool.host.take().or_else(|| host(api.path.as_deref()?));
                reading.add(&mut tool, api);
            }
        }
        if tool.functions.is_empty() {
            reading.fault(&at, FaultKind::EmptyTool, format!("tool {:?} has no functions", cut(name)));
        }
        reading.tools.push(tool);
    }
}

/// Returns the host of an address.
fn host(address: &str) -> Option<String> {
    let rest = address.split_once("://")?.1;
    Some(rest.split(['/', '?', '#']).next()?.to_owned()).filter(|host| !host.is_empty())
}

/// Returns one function, without a tool.
pub(super) fn api(function: &Value, reading: &mut Reading, at: &str) -> Option<Api> {
    let map = reading.object(function, at)?;
    let name = reading.name(map, &FUNCTION_NAME, at)?;
    let lists: Vec<(Value, Option<bool>)> = LISTS
        .iter()
        .filter_map(|(key, is_required)| Some((prepared(map.get(*key)?, *is_required), Some(*is_required))))
        .collect();
    let lists: Vec<(&Value, Option<bool>)> = lists.iter().map(|(list, is)| (list, *is)).collect();
    let schema = parameters::of_lists(&lists, reading, at);
    let mut api = Api::new(name, text(map, &FUNCTION_DESCRIPTION), schema, reading.source.at(at));
    api.method = owned(map, &["method"]).map(|method| method.to_uppercase());
    api.path = owned(map, &["url", "path", "endpoint"]);
    api.response = response(map);
    api.example = value(map, &["test_endpoint"]).filter(|example| is_stated(example)).cloned();
    Some(api)
}

/// Returns the schema of a response: a template, as a value or as text.
pub(super) fn response(map: &Map<String, Value>) -> Option<Value> {
    let written = value(map, &["template_response", "schema"])?;
    let inner = written.as_str().and_then(|text| serde_json::from_str(text).ok());
    template::schema(inner.as_ref().unwrap_or(written))
}

/// Returns a list of parameters without empty defaults; those of required parameters are examples.
fn prepared(list: &Value, is_required: bool) -> Value {
    let entry = |entry: &Value| {
        let Value::Object(map) = entry else { return entry.clone() };
        let is_default = |key: &str| key == "default";
        let kept = map.iter().filter(|(key, value)| !is_default(key) || is_stated(value));
        let key =
            |key: &String| if is_default(key) && is_required { "example".to_owned() } else { key.clone() };
        Value::Object(kept.map(|(name, value)| (key(name), value.clone())).collect())
    };
    list.as_array().into_iter().flatten().map(entry).collect()
}

fn is_stated(default: &Value) -> bool {
    !default.is_null() && default.as_str() != Some("")
}

fn count_tool(value: &Value, census: &mut Census) {
    let Some(map) = value.as_object() else { return };
    let Some(name) = text(map, &["tool_name", "name", "title", "standardized_name"]) else { return };
    census.tool(name, owned(map, &["tool_description", "description"]).as_deref());
    for function in api_list(value).into_iter().flatten() {
        count_function(function, census);
    }
}

/// Counts one function and its parameters.
pub(super) fn count_function(function: &Value, census: &mut Census) {
    let Some(map) = function.as_object() else { return };
    census.function(text(map, &FUNCTION_NAME).unwrap_or_default(), text(map, &FUNCTION_DESCRIPTION));
    for (key, is_required) in LISTS {
        for entry in map.get(key).and_then(Value::as_array).into_iter().flatten() {
            census.parameter();
            census.description(entry.get("description").and_then(Value::as_str));
            if let Some(default) = entry.get("default").filter(|default| is_stated(default)) {
                census.value(if is_required { Kind::Examples } else { Kind::Defaults }, default);
            }
            if let Some(values @ Value::Array(_)) = entry.get("enum") {
                census.value(Kind::Enums, values);
            }
        }
    }
}
