//! The tools of Seal-Tools: one record a line, each a tool with one function.
//!
//! `field` is a category and a part of it, divided by a slash. The list of required names and the map of responses stand
//! beside the parameters.

use serde_json::Value;

use super::{CollectionFormat, parameters, record};
use crate::census::Census;
use crate::document::Document;
use crate::reading::{Reading, owned, text, value};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "seal-tools",
    what: "Records with `api_name`, `field`, `parameters` and `responses`, as in Seal-Tools.",
    recognises: |document| document.values().next().is_some_and(is_one),
    read,
    census: |document| {
        let mut census = Census::default();
        for value in document.values() {
            let Some(map) = value.as_object() else { continue };
            let name = text(map, &["api_name"]).unwrap_or_default();
            census.tool(name, text(map, &["api_description"]).map(str::trim));
            census.function(name, text(map, &["api_description"]));
            if let Some(parameters) = map.get("parameters").and_then(Value::as_object) {
                record::count_map(parameters, &mut census);
            }
        }
        Some(census)
    },
};

fn is_one(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("api_name") && has("parameters") && (has("field") || has("responses")) && !has("tool_name")
}

fn read(document: &Document, reading: &mut Reading) {
    for (at, value) in document.records() {
        let Some(map) = reading.object(value, &at) else { continue };
        let Some(name) = reading.name(map, &["api_name"], &at) else { continue };
        let field = owned(map, &["field"]);
        let (category, part) = field.as_deref().map_or((None, None), |field| match field.split_once('/') {
            Some((category, part)) => (Some(category), Some(part)),
            None => (Some(field), None),
        });
        let mut tool = Tool {
            name: name.to_owned(),
            description: owned(map, &["api_description"]).unwrap_or_default(),
            category: category.map(|text| text.trim().to_owned()),
            collection: part.map(|text| text.trim().to_owned()),
            origin: reading.source.at(&at),
            ..Tool::default()
        };
        let api = function(name, map, reading, &at);
        reading.add(&mut tool, api);
        reading.tools.push(tool);
    }
}

fn function(name: &str, map: &serde_json::Map<String, Value>, reading: &mut Reading, at: &str) -> Api {
    let required = map.get("required").and_then(Value::as_array).map(Vec::as_slice);
    let schema = match map.get("parameters").and_then(Value::as_object) {
        Some(parameters) => parameters::of_map(parameters, required, reading, at),
        None => parameters::of_lists(&[], reading, at),
    };
    let mut api = Api::new(name, text(map, &["api_description"]), schema, reading.source.at(at));
    api.response = record::response(map.get("responses"), reading, at);
    api.example = value(map, &["example"]).cloned();
    api
}
