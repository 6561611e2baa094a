//! Postman collections of versions 2.0 and 2.1: one function per request, in folders too.
//!
//! A collection has examples instead of schemas. Values of a query and of forms are text; the types of a JSON body are
//! inferred from its values, which is recorded as a step. Only path variables are required. Disabled entries are
//! omitted, as are headers, which contain secrets and formats.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use super::body::BODY;
use super::function::{Function, FunctionDoc, MAX_PARAMETERS, Parameter, TOO_MANY};
use super::openapi::{is_true, string};
use super::{Read, Tally, Unreadable, note};
use crate::parse::step::ParseStep;
use callsieve_notation::allowance::Allowance;
use callsieve_notation::json::strict;

/// Returns true if an object is a collection, by itself or in the wrapper of Postman's own API.
pub(super) fn is_one(map: &Map<String, Value>) -> bool {
    collection(map).is_some()
}

fn collection(map: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let map = map.get("collection").and_then(Value::as_object).unwrap_or(map);
    let info = map.get("info")?.as_object()?;
    let is_postman = string(info, "schema").is_some_and(|schema| schema.contains("postman"))
        || info.contains_key("_postman_id");
    (is_postman && map.get("item").is_some_and(Value::is_array)).then_some(map)
}

pub(super) fn functions(map: &Map<String, Value>, steps: &mut Vec<ParseStep>, allowance: &Allowance) -> Read {
    note(steps, ParseStep::Postman);
    let mut tally = Tally::new(allowance);
    let root = if map.get("collection").is_some_and(Value::is_object) { "/collection" } else { "" };
    let mut take = |path: &[(&str, usize)], item: &Value| {
        let name = || {
            let names = path.iter().map(|(name, _)| format!("{name:?}"));
            format!("request {}", names.collect::<Vec<_>>().join(" / "))
        };
        let at = || path.iter().fold(root.to_owned(), |at, (_, index)| format!("{at}/item/{index}"));
        tally.add(name, at, request(item, steps, allowance));
    };
    if let Some(items) = collection(map).and_then(|map| map.get("item")) {
        walk(items, &mut Vec::new(), &mut take);
    }
    tally.finish()
}

/// Visits each item that is not a folder, with the names and positions that lead to it.
fn walk<'v>(
    items: &'v Value,
    path: &mut Vec<(&'v str, usize)>,
    take: &mut impl FnMut(&[(&str, usize)], &Value),
) {
    let Some(list) = items.as_array() else { return take(path, items) };
    for (index, item) in list.iter().enumerate() {
        path.push((item.get("name").and_then(Value::as_str).unwrap_or_default(), index));
        match item.get("item") {
            Some(inner) => walk(inner, path, take),
            None => take(path, item),
        }
        path.pop();
    }
}

fn request(item: &Value, steps: &mut Vec<ParseStep>, allowance: &Allowance) -> Result<Function, Unreadable> {
    let item = item.as_object().ok_or("expected an object")?;
    let name = string(item, "name").filter(|name| !name.trim().is_empty()).ok_or("it has no name")?;
    let request = item.get("request").ok_or("it has no request")?;
    let nothing = Map::new();
    let (url, request) = match request {
        Value::String(_) => (Some(request), &nothing),
        Value::Object(map) => (map.get("url"), map),
        _ => return Err("its request is not an object".to_owned()),
    };
    let texts = [description(request), description(item), Some(name)];
    let mut function = FunctionDoc::new(name.to_owned(), texts);
    let in_url = url.map(in_url).unwrap_or_default();
    if in_url.len() >= MAX_PARAMETERS {
        return Err(TOO_MANY.to_owned());
    }
    for parameter in in_url {
        function.add(parameter, steps);
    }
    if let Some(body) =
        request.get("body").and_then(Value::as_object).filter(|body| !is_true(body, "disabled"))
    {
        let in_body = in_body(body, steps, allowance)?;
        if in_body.len() >= MAX_PARAMETERS {
            return Err(TOO_MANY.to_owned());
        }
        for parameter in in_body {
            function.add(parameter, steps);
        }
        function.body_type = body_type(body);
    }
    Ok(function.finish())
}

/// Returns a description: a text, or an object with one.
fn description(map: &Map<String, Value>) -> Option<&str> {
    let text = map.get("description")?;
    text.as_str().or_else(|| text.get("content")?.as_str())
}

fn in_url(url: &Value) -> Vec<Parameter> {
    let raw = url.as_str().or_else(|| url.get("raw")?.as_str()).unwrap_or_default();
    let listed = |key: &str| url.get(key).and_then(Value::as_array);
    let described = listed("variable").map(Vec::as_slice).unwrap_or_default();
    let entries = described.iter().rev().filter_map(|entry| Some((key_of(entry)?, entry)));
    let entries: FxHashMap<&str, &Value> = entries.collect();
    let mut found: Vec<Parameter> = path_variables(url, raw)
        .into_iter()
        .take(MAX_PARAMETERS)
        .map(|name| {
            let text = entries.get(name.as_str()).copied().and_then(Value::as_object).and_then(description);
            text_parameter(name, "path", text)
        })
        .collect();
    match listed("query") {
        Some(entries) => {
            found
                .extend(entries.iter().filter_map(|entry| listed_entry(entry, "query")).take(MAX_PARAMETERS));
        }
        None => found
            .extend(query_names(raw).map(|name| text_parameter(name, "query", None)).take(MAX_PARAMETERS)),
    }
    found
}

/// Returns the names of `:name` segments, in the order of the path.
fn path_variables(url: &Value, raw: &str) -> Vec<String> {
    let segments: Vec<&str> = match url.get("path") {
        Some(Value::Array(segments)) => segments
            .iter()
            .filter_map(|segment| segment.as_str().or_else(|| segment.get("value")?.as_str()))
            .collect(),
        Some(Value::String(path)) => path.split('/').collect(),
        _ => raw.split(['?', '#']).next().unwrap_or_default().split('/').skip(1).collect(),
    };
    let mut seen = FxHashSet::default();
    let names = segments.into_iter().filter_map(|segment| segment.strip_prefix(':'));
    names.filter(|name| !name.is_empty() && seen.insert(*name)).map(str::to_owned).collect()
}

/// Returns the names in the query of an address, each once.
fn query_names(raw: &str) -> impl Iterator<Item = String> {
    let query = raw.split('#').next().and_then(|raw| raw.split_once('?')).map_or("", |(_, query)| query);
    let mut seen = FxHashSet::default();
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    names.filter(move |name| !name.is_empty() && seen.insert(*name)).map(str::to_owned)
}

fn key_of(entry: &Value) -> Option<&str> {
    entry.get("key").or_else(|| entry.get("id"))?.as_str()
}

/// Returns one entry of a query or a form; `None` if it is disabled or has no name.
fn listed_entry(entry: &Value, place: &str) -> Option<Parameter> {
    let map = entry.as_object().filter(|map| !is_true(map, "disabled"))?;
    let name = key_of(entry).filter(|name| !name.is_empty())?;
    let mut parameter = text_parameter(name.to_owned(), place, description(map));
    if string(map, "type") == Some("file") {
        parameter.schema.insert("type".to_owned(), json!("file"));
    }
    Some(parameter)
}

fn text_parameter(name: String, place: &str, text: Option<&str>) -> Parameter {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("string"));
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        schema.insert("description".to_owned(), json!(text));
    }
    let (is_member, is_required) = (place == BODY, place == "path");
    Parameter { name, place: place.to_owned(), is_member, is_required, schema }
}

fn in_body(
    body: &Map<String, Value>,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Result<Vec<Parameter>, Unreadable> {
    let mode = string(body, "mode").unwrap_or_default();
    match mode {
        "urlencoded" | "formdata" => {
            let entries = body.get(mode).and_then(Value::as_array).into_iter().flatten();
            Ok(entries.filter_map(|entry| listed_entry(entry, BODY)).take(MAX_PARAMETERS).collect())
        }
        "raw" => raw_body(body, steps, allowance),
        "file" => Ok(vec![body_parameter(json!({"type": "file"}))]),
        "" | "none" => Ok(Vec::new()),
        other => Err(format!("a body of the kind {other:?} is not supported")),
    }
}

/// Returns the media type of a body that is not JSON.
fn body_type(body: &Map<String, Value>) -> Option<String> {
    let kind = match string(body, "mode")? {
        "urlencoded" => "application/x-www-form-urlencoded",
        "formdata" => "multipart/form-data",
        "file" => "application/octet-stream",
        "raw" if !is_json(body) => "text/plain",
        _ => return None,
    };
    Some(kind.to_owned())
}

/// Returns a body as one parameter.
fn body_parameter(schema: Value) -> Parameter {
    let schema = if let Value::Object(schema) = schema { schema } else { Map::new() };
    let [name, place] = [BODY, BODY].map(str::to_owned);
    Parameter { name, place, is_member: false, is_required: false, schema }
}

/// Returns true if a body that is text is JSON.
fn is_json(body: &Map<String, Value>) -> bool {
    let text = string(body, "raw").unwrap_or_default().trim();
    let options = body.get("options").and_then(|options| options.get("raw"));
    let language = options.and_then(|raw| raw.get("language")?.as_str());
    language == Some("json") || (language.is_none() && text.starts_with(['{', '[']))
}

fn raw_body(
    body: &Map<String, Value>,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Result<Vec<Parameter>, Unreadable> {
    let text = string(body, "raw").unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if !is_json(body) {
        return Ok(vec![body_parameter(json!({"type": "string"}))]);
    }
    let read = strict::read_within(text, allowance);
    let read = read.or_else(|_| strict::read_within(&without_variables(text), allowance));
    let value = read.map_err(|error| format!("its body is not JSON: {error}"))?.value;
    note(steps, ParseStep::TypesInferred);
    let Value::Object(members) = value else { return Ok(vec![body_parameter(inferred(&value))]) };
    let parameter = |(name, value): (String, Value)| Parameter {
        name,
        is_member: true,
        ..body_parameter(inferred(&value))
    };
    Ok(members.into_iter().map(parameter).collect())
}

/// Returns a schema for which an example value is valid.
fn inferred(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_i64() || number.is_u64() => json!({"type": "integer"}),
        Value::Number(_) => json!({"type": "number"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => {
            let mut kinds: Vec<Value> = items.iter().map(inferred).collect();
            kinds.dedup();
            match kinds.as_slice() {
                [kind] => json!({"type": "array", "items": kind}),
                _ => json!({"type": "array"}),
            }
        }
        Value::Object(members) => {
            let properties: Map<_, _> =
                members.iter().map(|(name, value)| (name.clone(), inferred(value))).collect();
            json!({"type": "object", "properties": properties})
        }
    }
}

/// Replaces each `{{variable}}` outside of strings with `null`.
fn without_variables(text: &str) -> String {
    let (mut out, mut rest, mut is_string) = (String::new(), text, false);
    while let Some(c) = rest.chars().next() {
        let mut width = c.len_utf8();
        if !is_string && let Some(after) = after_variable(rest) {
            out += "null";
            rest = after;
            continue;
        }
        match c {
            '"' => is_string = !is_string,
            '\\' if is_string => width += rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => {}
        }
        out += &rest[..width];
        rest = &rest[width..];
    }
    out
}

/// Returns the text after a `{{variable}}` at its start.
fn after_variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("{{")?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | ' ');
    name.trim_start_matches(is_name).strip_prefix("}}")
}
