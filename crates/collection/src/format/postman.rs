//! Postman collections: a collection is a tool, a request is a function.
//!
//! `docs::spec` reads the functions; method, address and saved responses are read here from the same items.

use serde_json::{Map, Value};

use super::description::{api, functions};
use super::{CollectionFormat, postman_census};
use crate::document::Document;
use crate::reading::{Reading, owned};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "postman",
    what: "A Postman collection of version 2.0 or 2.1.",
    recognises: |document| document.object().is_some_and(|map| collection(map).is_some()),
    read,
    census: |document| document.object().map(postman_census::count),
};

/// Returns the collection in an object, by itself or in the wrapper of Postman's own API.
pub(super) fn collection(map: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let map = map.get("collection").and_then(Value::as_object).unwrap_or(map);
    let info = map.get("info")?.as_object()?;
    let is_postman =
        info.get("schema").and_then(Value::as_str).is_some_and(|schema| schema.contains("postman"))
            || info.contains_key("_postman_id");
    (is_postman && map.get("item").is_some_and(Value::is_array)).then_some(map)
}

fn read(document: &Document, reading: &mut Reading) {
    let Some(root) = document.object() else { return };
    let Some(read) = functions(root, document.n_bytes, reading) else { return };
    let info = collection(root).and_then(|map| map.get("info")?.as_object());
    let mut tool = Tool {
        name: info
            .and_then(|info| owned(info, &["name"]))
            .unwrap_or_else(|| document.source.stem().to_owned()),
        description: info.and_then(described).unwrap_or_default().trim().to_owned(),
        origin: reading.source.at(""),
        ..Tool::default()
    };
    let whole = Value::Object(root.clone());
    for operation in read {
        let Some(mut api) = api(&operation, reading) else { continue };
        if let Some(item) = whole.pointer(&operation.at) {
            with_request(&mut api, item);
        }
        let address = api.path.as_deref().and_then(host);
        tool.host = tool.host.take().or(address);
        reading.add(&mut tool, api);
    }
    reading.tools.push(tool);
}

/// Returns a description: a text, or an object with one.
pub(super) fn described(map: &Map<String, Value>) -> Option<&str> {
    let description = map.get("description")?;
    description.as_str().or_else(|| description.get("content")?.as_str())
}

/// Adds what a request states besides its parameters.
fn with_request(api: &mut Api, item: &Value) {
    let request = item.get("request");
    let url = request.map(|request| request.get("url").unwrap_or(request));
    api.path = url.and_then(|url| url.as_str().or_else(|| url.get("raw")?.as_str())).map(str::to_owned);
    let method = request.and_then(|request| request.get("method")?.as_str()).unwrap_or("GET");
    api.method = Some(method.to_uppercase());
    let saved = item.get("response").and_then(Value::as_array).into_iter().flatten();
    let successful =
        |saved: &&Value| saved.get("code").and_then(Value::as_u64).is_none_or(|code| code / 100 == 2);
    let body = saved.filter(successful).find_map(|saved| saved.get("body")?.as_str());
    api.example = body.map(|body| serde_json::from_str(body).unwrap_or_else(|_| Value::from(body)));
}

/// Returns scheme and host of an address, or the variable in their place.
fn host(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let host = rest.split(['/', '?']).next().filter(|host| !host.is_empty())?;
    Some(if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") })
}
