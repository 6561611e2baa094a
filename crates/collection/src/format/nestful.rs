//! Functions with maps of parameters by their place in the request and of output fields: NESTFUL, and records of
//! API-Bank.
//!
//! Functions of one host are one tool. Without a host, the part of a name before its dot is the tool (`Buses.FindBus`),
//! otherwise the file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{CollectionFormat, parameters, record};
use crate::census::Census;
use crate::document::Document;
use crate::reading::{Reading, owned, text, value};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "nestful",
    what: "Functions with maps of parameters and `output_parameters`, as in NESTFUL and API-Bank.",
    recognises: |document| document.all(|value| value.get("output_parameters").is_some()),
    read,
    census: |document| Some(count(document)),
};

/// Keys of maps of parameters.
const MAPS: [&str; 7] = [
    "path_parameters",
    "query_parameters",
    "header_parameters",
    "body_parameters",
    "input_parameters",
    "parameters",
    "arguments",
];

const NAME: [&str; 3] = ["name", "api_name", "apiCode"];
const DESCRIPTION: [&str; 2] = ["description", "api_description"];

fn read(document: &Document, reading: &mut Reading) {
    let mut tools: BTreeMap<String, usize> = BTreeMap::new();
    for (at, value) in document.records() {
        let Some(map) = reading.object(value, &at) else { continue };
        let Some(name) = reading.name(map, &NAME, &at) else { continue };
        let tool = tool(map, name, document.source.stem());
        let api = function(name, map, reading, &at);
        let index = *tools.entry(tool.clone()).or_insert_with(|| {
            let (host, origin) = (owned(map, &["host"]), api.origin.clone());
            reading.tools.push(Tool { name: tool, host, origin, ..Tool::default() });
            reading.tools.len() - 1
        });
        let mut tool = std::mem::take(&mut reading.tools[index]);
        reading.add(&mut tool, api);
        reading.tools[index] = tool;
    }
}

/// Returns the name of the tool of a function.
fn tool(map: &Map<String, Value>, name: &str, stem: &str) -> String {
    let service = name.split_once('.').map(|(service, _)| service.to_owned());
    owned(map, &["host", "tool_name"]).or(service).unwrap_or_else(|| stem.to_owned())
}

fn function(name: &str, map: &Map<String, Value>, reading: &mut Reading, at: &str) -> Api {
    let mut all = Map::new();
    for (key, place) in MAPS.iter().filter_map(|key| Some((key, map.get(*key)?.as_object()?))) {
        for (name, parameter) in place {
            // The places of a request may have one name each.
            let name = if all.contains_key(name) {
                format!("{name}_{}", key.replace("_parameters", ""))
            } else {
                name.clone()
            };
            all.insert(name, parameter.clone());
        }
    }
    let required = map.get("required").and_then(Value::as_array).map(Vec::as_slice);
    let schema = parameters::of_map(&all, required, reading, at);
    let mut api = Api::new(name, text(map, &DESCRIPTION), schema, reading.source.at(at));
    api.method = owned(map, &["method"]).map(|method| method.to_uppercase());
    api.path = owned(map, &["endpoint", "path"]);
    api.response = record::response(map.get("output_parameters"), reading, at);
    api.example = value(map, &["example", "example_response"]).cloned();
    api
}

fn count(document: &Document) -> Census {
    let mut census = Census::default();
    let mut tools = BTreeSet::new();
    for value in document.values() {
        let Some(map) = value.as_object() else { continue };
        let name = text(map, &NAME).unwrap_or_default();
        tools.insert(tool(map, name, document.source.stem()));
        census.function(name, text(map, &DESCRIPTION));
        for place in MAPS.iter().filter_map(|key| map.get(*key)?.as_object()) {
            record::count_map(place, &mut census);
        }
    }
    for tool in &tools {
        census.tool(tool, None);
    }
    census
}
