//! Counts a Postman collection without `docs::spec`: requests with their path variables, queries and bodies.
//!
//! A JSON body with variables (`{{n}}`) in place of values is not JSON and not counted.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::postman::{collection, described};
use crate::census::Census;
use crate::reading::text;

/// Returns what a collection holds.
pub(super) fn count(root: &Map<String, Value>) -> Census {
    let mut census = Census::default();
    let Some(map) = collection(root) else { return census };
    let info = map.get("info").and_then(Value::as_object);
    let name = info.and_then(|info| text(info, &["name"])).unwrap_or_default();
    census.tool(name, info.and_then(described).map(str::trim));
    let mut items: Vec<&Value> = map.get("item").and_then(Value::as_array).into_iter().flatten().collect();
    while let Some(item) = items.pop() {
        match item.get("item") {
            Some(Value::Array(inner)) => items.extend(inner),
            Some(_) => {}
            None => count_request(item, &mut census),
        }
    }
    census
}

fn count_request(item: &Value, census: &mut Census) {
    let Some(name) = item.get("name").and_then(Value::as_str) else { return };
    let request = item.get("request").filter(|request| request.is_object() || request.is_string());
    let Some(request) = request else { return };
    let stated = |value: &Value| {
        value.as_object().and_then(described).map(str::to_owned).filter(|text| !text.trim().is_empty())
    };
    let description = stated(request).or_else(|| stated(item)).unwrap_or_else(|| name.to_owned());
    census.function(name, Some(&description));
    count_address(request.get("url").unwrap_or(request), census);
    let is_disabled = |body: &&Value| body.get("disabled") == Some(&Value::Bool(true));
    if let Some(body) = request.get("body").filter(|body| !is_disabled(body)) {
        count_body(body, census);
    }
}

fn count_address(url: &Value, census: &mut Census) {
    let raw = url.as_str().or_else(|| url.get("raw")?.as_str()).unwrap_or_default();
    let parts = raw.split(['?', '#']).next().unwrap_or_default().split('/');
    let variables: BTreeSet<&str> = parts.filter_map(|part| part.strip_prefix(':')).collect();
    for variable in variables {
        census.parameter();
        let mut all = url.get("variable").and_then(Value::as_array).into_iter().flatten();
        let entry = all.find(|entry| entry.get("key").and_then(Value::as_str) == Some(variable));
        census.description(entry.and_then(Value::as_object).and_then(described));
    }
    if let Some(query) = url.get("query").and_then(Value::as_array) {
        return count_entries(query, census);
    }
    let query = raw.split('#').next().and_then(|raw| raw.split_once('?')).map_or("", |(_, query)| query);
    let names: BTreeSet<&str> = query.split('&').filter_map(|pair| pair.split('=').next()).collect();
    for _ in names.iter().filter(|name| !name.is_empty()) {
        census.parameter();
    }
}

/// Counts the entries of a query or a form.
fn count_entries(entries: &[Value], census: &mut Census) {
    for map in entries.iter().filter_map(Value::as_object) {
        if map.get("disabled") != Some(&Value::Bool(true)) && text(map, &["key", "id"]).is_some() {
            census.parameter();
            census.description(described(map));
        }
    }
}

fn count_body(body: &Value, census: &mut Census) {
    let mode = body.get("mode").and_then(Value::as_str).unwrap_or_default();
    match mode {
        "urlencoded" | "formdata" => {
            count_entries(body.get(mode).and_then(Value::as_array).map_or(&[], Vec::as_slice), census);
        }
        "file" => census.parameter(),
        "raw" => {
            let raw = body.get("raw").and_then(Value::as_str).unwrap_or_default().trim();
            match serde_json::from_str::<Value>(raw) {
                Ok(Value::Object(members)) => count_members(&members, census),
                Ok(_) => census.parameter(),
                Err(_) if !raw.is_empty() && !raw.starts_with(['{', '[']) => census.parameter(),
                Err(_) => {}
            }
        }
        _ => {}
    }
}

fn count_members(members: &Map<String, Value>, census: &mut Census) {
    for member in members.values() {
        census.parameter();
        let inner = match member {
            // The elements of a list have one schema, if it is the same for all.
            Value::Array(items) if items.len() == 1 => &items[0],
            member => member,
        };
        if let Value::Object(members) = inner {
            count_members(members, census);
        }
    }
}
