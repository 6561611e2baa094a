//! `OpenAPI` 3 and Swagger 2: a description is a tool, an operation is a function.
//!
//! `docs::spec` reads the functions with their parameters; the request, the response and the tool's own facts are read
//! here from the same document. The response is that of the first successful status, its schema with references
//! resolved.

use callsieve_docs::spec::{self, Resolver};
use serde_json::{Map, Value, json};

use super::{CollectionFormat, description_census};
use crate::document::{Document, allowance};
use crate::fault::FaultKind;
use crate::reading::{Reading, owned, text, value};
use crate::tool::{Api, Input, Tool};

pub(super) const OPENAPI: CollectionFormat = CollectionFormat {
    name: "openapi",
    what: "An API description in OpenAPI 3.",
    recognises: |document| is_description(document, "openapi"),
    read,
    census: |document| document.object().map(description_census::count),
};

pub(super) const SWAGGER: CollectionFormat = CollectionFormat {
    name: "swagger",
    what: "An API description in Swagger 2.",
    recognises: |document| is_description(document, "swagger"),
    read,
    census: |document| document.object().map(description_census::count),
};

/// Media types of responses, the most preferred first.
const MEDIA: [&str; 3] = ["application/json", "+json", "json"];

fn is_description(document: &Document, version: &str) -> bool {
    document.object().is_some_and(|map| {
        let has_version = map.get(version).is_some_and(|version| version.is_string() || version.is_number());
        has_version && map.get("paths").is_some_and(Value::is_object)
    })
}

fn read(document: &Document, reading: &mut Reading) {
    let Some(root) = document.object() else { return };
    let Some(read) = functions(root, document.n_bytes, reading) else { return };
    let mut tool = tool(root, document.source.stem());
    tool.origin = reading.source.at("");
    let mut resolver = Resolver::new(root);
    for operation in read {
        let Some(mut api) = api(&operation, reading) else { continue };
        let at = operation.at;
        if let Some(place) = Place::of(&at) {
            api.method = Some(place.method.to_uppercase());
            resolver.next_function();
            if let Some(operation) = place.operation(root, &resolver) {
                (api.response, api.example) = response(operation, &mut resolver);
                with_examples(&mut api, &place.inputs(root, operation, &resolver));
            }
            api.path = Some(place.path);
        }
        reading.add(&mut tool, api);
    }
    reading.tools.push(tool);
}

/// Returns the operations of a description or a collection of requests; its faults are recorded.
pub(super) fn functions(
    root: &Map<String, Value>,
    n_bytes: usize,
    reading: &mut Reading,
) -> Option<Vec<spec::Operation>> {
    let allowance = allowance(n_bytes);
    let Some(description) = spec::describe(root, &allowance) else {
        reading.fault("", FaultKind::NoFunctions, "its version is not supported");
        return None;
    };
    if allowance.is_exceeded() {
        reading.fault("", FaultKind::TooLarge, "its functions take far more memory than its text");
        return None;
    }
    if let Some(fault) = description.fault {
        reading.fault("", FaultKind::UnreadableOperation, fault.message);
    }
    if description.operations.is_empty() {
        reading.fault("", FaultKind::EmptyTool, "it describes no operation");
    }
    Some(description.operations)
}

/// Returns the function of an operation.
pub(super) fn api(operation: &spec::Operation, reading: &mut Reading) -> Option<Api> {
    let at = operation.at.as_str();
    let map = reading.object(&operation.function, at)?;
    let name = reading.name(map, &["name"], at)?;
    let mut parameters = map.get("parameters").cloned().unwrap_or_default();
    parameters["type"] = json!("object");
    let api = Api::new(name, text(map, &["description"]), parameters, reading.source.at(at));
    let inputs = operation.inputs.iter().filter_map(Input::of).collect();
    Some(Api { inputs, body_type: operation.body_type.clone(), ..api })
}

fn tool(root: &Map<String, Value>, stem: &str) -> Tool {
    let nothing = Map::new();
    let info = root.get("info").and_then(Value::as_object).unwrap_or(&nothing);
    let first = |value: &Value| value.as_array()?.first()?.as_str().map(str::to_owned);
    Tool {
        name: owned(info, &["title"]).unwrap_or_else(|| stem.to_owned()),
        description: owned(info, &["description", "summary"]).unwrap_or_default(),
        category: info.get("x-apisguru-categories").and_then(first),
        host: host(root),
        licence: info
            .get("license")
            .and_then(|licence| owned(licence.as_object()?, &["name", "identifier", "url"])),
        ..Tool::default()
    }
}

/// Returns the base address of the requests.
fn host(root: &Map<String, Value>) -> Option<String> {
    let server = root.get("servers").and_then(|servers| servers.get(0)?.get("url")?.as_str());
    if let Some(server) = server {
        return Some(server.to_owned());
    }
    let host = owned(root, &["host"])?;
    let scheme = root.get("schemes").and_then(|schemes| schemes.get(0)?.as_str()).unwrap_or("https");
    Some(format!("{scheme}://{host}{}", text(root, &["basePath"]).unwrap_or_default()))
}

/// The path and the method of an operation.
struct Place {
    path: String,
    method: String,
}

impl Place {
    /// Reads a pointer to an operation.
    fn of(at: &str) -> Option<Self> {
        let (path, method) = at.strip_prefix("/paths/")?.split_once('/')?;
        Some(Self { path: path.replace("~1", "/").replace("~0", "~"), method: method.to_owned() })
    }

    fn operation<'d>(
        &self,
        root: &'d Map<String, Value>,
        resolver: &Resolver<'d>,
    ) -> Option<&'d Map<String, Value>> {
        self.item(root, resolver)?.get(&self.method)?.as_object()
    }

    fn item<'d>(
        &self,
        root: &'d Map<String, Value>,
        resolver: &Resolver<'d>,
    ) -> Option<&'d Map<String, Value>> {
        resolver.target(root.get("paths")?.get(&self.path)?).ok()
    }

    /// Returns the parameters of an operation and of its path, the operation's own first.
    fn inputs<'d>(
        &self,
        root: &'d Map<String, Value>,
        operation: &'d Map<String, Value>,
        resolver: &Resolver<'d>,
    ) -> Vec<&'d Map<String, Value>> {
        let lists = [Some(operation), self.item(root, resolver)].into_iter().flatten();
        let all = lists.filter_map(|map| map.get("parameters")?.as_array()).flatten();
        all.filter_map(|parameter| resolver.target(parameter).ok()).collect()
    }
}

/// Adds the examples that stand beside the schema of a parameter, which `docs::spec` leaves out.
fn with_examples(api: &mut Api, inputs: &[&Map<String, Value>]) {
    let properties = api.doc.get_mut("parameters").and_then(|parameters| parameters.get_mut("properties"));
    let Some(Value::Object(properties)) = properties else { return };
    for input in inputs.iter().rev() {
        let name = text(input, &["name"]).unwrap_or_default();
        let Some(Value::Object(property)) = properties.get_mut(name) else { continue };
        if let Some(example) = input.get("example").filter(|_| input.contains_key("schema")) {
            property.insert("example".to_owned(), example.clone());
        }
    }
}

/// Returns the schema and an example of the first successful response.
fn response<'d>(
    operation: &'d Map<String, Value>,
    resolver: &mut Resolver<'d>,
) -> (Option<Value>, Option<Value>) {
    let Some(responses) = operation.get("responses").and_then(Value::as_object) else { return (None, None) };
    let successful =
        responses.iter().filter(|(status, _)| status.starts_with('2')).min_by_key(|(status, _)| *status);
    let Some((_, found)) = successful.or_else(|| responses.get_key_value("default")) else {
        return (None, None);
    };
    let Ok(response) = resolver.target(found) else { return (None, None) };
    let media = response.get("content").and_then(|content| media(content.as_object()?)).unwrap_or(response);
    let schema = media.get("schema").map(|schema| resolver.schema(schema, &mut Vec::new()));
    (schema.filter(|schema| !schema.is_empty()).map(Value::Object), example(media))
}

/// Returns the preferred media type of a response.
fn media(content: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let of_kind = |kind: &&str| {
        content.iter().find(|(name, _)| name.split(';').next().unwrap_or_default().ends_with(kind))
    };
    MEDIA.iter().find_map(of_kind).or_else(|| content.iter().next())?.1.as_object()
}

fn example(media: &Map<String, Value>) -> Option<Value> {
    if let Some(example) = value(media, &["example"]) {
        return Some(example.clone());
    }
    // Version 3 has named examples with a value, version 2 has them by media type.
    let (_, first) = media.get("examples")?.as_object()?.iter().next()?;
    Some(first.get("value").unwrap_or(first).clone())
}
