//! Schemas of responses without their functions: ToolBench's `response_examples/<Category>/<tool>.json`.
//!
//! They are joined with the functions of the same tool by `Collection`. The file has the tool's name in ToolBench's
//! standard form, and the folder has that of the category.

use serde_json::Value;

use super::CollectionFormat;
use super::rapidapi::{api_list, response};
use crate::census::Census;
use crate::document::Document;
use crate::fault::FaultKind;
use crate::reading::Reading;
use crate::tool::LooseResponse;

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "rapidapi-responses",
    what: "Schemas of the responses of a tool's functions, as in ToolBench's `response_examples`.",
    recognises: |document| {
        let entries =
            document.object().filter(|map| map.len() == 1).and_then(|map| map.get("api_list")?.as_array());
        entries.is_some_and(|entries| entries.iter().all(is_schema))
    },
    read,
    census: |_| Some(Census::default()),
};

fn is_schema(entry: &Value) -> bool {
    entry.as_object().is_some_and(|map| map.keys().all(|key| key == "name" || key == "schema"))
}

fn read(document: &Document, reading: &mut Reading) {
    let Some(map) = document.object() else { return };
    let list = api_list(&Value::Object(map.clone())).cloned().unwrap_or_default();
    for (index, entry) in list.iter().enumerate() {
        let at = format!("/api_list/{index}");
        let Some(map) = reading.object(entry, &at) else { continue };
        let Some(name) = reading.name(map, &["name"], &at) else { continue };
        let Some(response) = response(map) else {
            reading.fault(&at, FaultKind::LooseResponse, "the schema of the response is empty");
            continue;
        };
        reading.responses.push(LooseResponse {
            category: document.source.folder().map(str::to_owned),
            tool: document.source.stem().to_owned(),
            function: name.to_owned(),
            response,
            origin: reading.source.at(at),
        });
    }
}
