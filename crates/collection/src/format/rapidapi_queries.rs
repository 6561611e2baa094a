//! Instructions with the functions they may use: ToolBench's `G1_query.json` to `G3_query.json`.
//!
//! The same function is in the lists of many instructions and becomes one. Functions with one name whose docs differ are
//! several. An entry with names alone is a reference to a function and not one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::CollectionFormat;
use super::rapidapi::{LISTS, api, api_list, count_function};
use crate::census::Census;
use crate::document::Document;
use crate::fault::FaultKind;
use crate::reading::{Reading, cut, owned, text};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "rapidapi-queries",
    what: "Instructions with their `api_list`, as in ToolBench's `G1_query.json`.",
    recognises: |document| document.values().any(is_query),
    read,
    census: |document| Some(count(document)),
};

fn is_query(value: &Value) -> bool {
    let entries = || api_list(value).into_iter().flatten();
    value.get("query").is_some() && entries().any(|entry| entry.get("api_name").is_some())
}

/// The tools found so far, by category and name, and their functions.
#[derive(Default)]
struct Found {
    tools: BTreeMap<(Option<String>, String), usize>,
    functions: BTreeMap<(usize, String), usize>,
}

fn read(document: &Document, reading: &mut Reading) {
    let mut found = Found::default();
    for (at, record) in document.records() {
        for (index, entry) in api_list(record).into_iter().flatten().enumerate() {
            let at = format!("{at}/api_list/{index}");
            take(entry, &at, &mut found, reading);
        }
    }
}

fn take(entry: &Value, at: &str, found: &mut Found, reading: &mut Reading) {
    let Some(map) = reading.object(entry, at) else { return };
    let Some(tool) = reading.name(map, &["tool_name"], at) else { return };
    let key = (owned(map, &["category_name", "category"]), tool.to_owned());
    if is_reference(entry) {
        let message =
            format!("{:?} of {:?} has no doc", cut(text(map, &["api_name"]).unwrap_or_default()), cut(tool));
        return reading.fault(at, FaultKind::NotAFunction, message);
    }
    let content = (found.tools.get(&key).copied().unwrap_or(reading.tools.len()), content(entry));
    if let Some(known) = found.functions.get(&content) {
        return complete(&mut reading.tools[content.0].functions[*known], entry);
    }
    let Some(api) = api(entry, reading, at) else { return };
    let at = *found.tools.entry(key.clone()).or_insert_with(|| {
        let origin = api.origin.clone();
        reading.tools.push(Tool { name: key.1, category: key.0, origin, ..Tool::default() });
        reading.tools.len() - 1
    });
    let mut tool = std::mem::take(&mut reading.tools[at]);
    let before = tool.functions.len();
    reading.add(&mut tool, api);
    if tool.functions.len() > before {
        found.functions.insert(content, before);
    }
    reading.tools[at] = tool;
}

/// Adds the schema of the response, which only some instructions have.
fn complete(api: &mut Api, entry: &Value) {
    if api.response.is_none() {
        api.response = entry.as_object().and_then(super::rapidapi::response);
    }
}

fn is_reference(entry: &Value) -> bool {
    let is_doc = |key: &str| entry.get(key).is_some_and(|value| !value.is_null());
    !is_doc("api_description") && !is_doc("description") && !LISTS.iter().any(|(key, _)| is_doc(key))
}

/// Returns what makes a function another one: everything except its response.
fn content(entry: &Value) -> String {
    let mut entry = entry.clone();
    if let Some(map) = entry.as_object_mut() {
        map.shift_remove("template_response");
    }
    entry.to_string()
}

fn count(document: &Document) -> Census {
    let mut entries = BTreeMap::new();
    let mut tools = BTreeMap::new();
    for record in document.values() {
        let documented = api_list(record).into_iter().flatten().filter(|entry| !is_reference(entry));
        for entry in documented {
            tools.insert(
                (
                    entry.get("category_name").map(Value::to_string),
                    entry.get("tool_name").map(Value::to_string),
                ),
                entry,
            );
            entries.insert(content(entry), entry);
        }
    }
    let mut census = Census::default();
    for entry in tools.values() {
        census.tool(entry.get("tool_name").and_then(Value::as_str).unwrap_or_default(), None);
    }
    for entry in entries.values() {
        count_function(entry, &mut census);
    }
    census
}
