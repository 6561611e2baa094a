//! Tools of MCP servers: results of `tools/list`, replies with them, several pages, and catalogues of servers.
//!
//! A server is a tool, its tools are functions. `inputSchema` and `outputSchema` stay as written, union types and
//! references included. A catalogue that lists how servers are started, and no tools, has nothing to call.

use serde_json::{Map, Value};

use super::{CollectionFormat, parameters};
use crate::census::Census;
use crate::document::Document;
use crate::fault::FaultKind;
use crate::reading::{Reading, cut, owned, text, value};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "mcp",
    what: "Tools of MCP servers: results of `tools/list` and catalogues of servers.",
    recognises: |document| document.all(is_one),
    read,
    census: |document| {
        let mut census = Census::default();
        for server in servers(document) {
            count_server(&server, &mut census);
        }
        Some(census)
    },
};

const SCHEMA: [&str; 2] = ["inputSchema", "input_schema"];
const SERVERS: &str = "mcpServers";

/// A server of a document.
struct Server<'d> {
    name: String,
    /// The entry of a catalogue, or the reply.
    entry: &'d Map<String, Value>,
    tools: Vec<(String, &'d Value)>,
    /// Where it is, and whether it can be without tools.
    at: String,
}

fn is_function(value: &Value) -> bool {
    value.get("name").is_some_and(Value::is_string) && value.get(SCHEMA[0]).is_some()
}

fn lists_functions(value: &Value) -> bool {
    value.as_array().is_some_and(|tools| !tools.is_empty() && tools.iter().all(is_function))
}

/// Returns true for a reply, an entry of a catalogue, a server, a map of servers, and one function.
fn is_one(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    is_function(value)
        || is_reply(map)
        || is_server(map)
        || is_catalogue(map)
        || !map.is_empty() && map.values().all(|value| value.as_object().is_some_and(is_server))
}

fn is_reply(map: &Map<String, Value>) -> bool {
    map.get("result").is_some_and(|result| result.get("tools").is_some_and(Value::is_array))
        || map.contains_key("jsonrpc") && map.contains_key("error")
}

fn is_server(map: &Map<String, Value>) -> bool {
    let tools = map.get("tools");
    let is_named =
        map.contains_key("server_name") || map.contains_key("serverInfo") || map.contains_key("nextCursor");
    tools.is_some_and(lists_functions) || is_named && tools.is_some_and(Value::is_array)
}

fn is_catalogue(map: &Map<String, Value>) -> bool {
    let of_servers = |value: &Value| {
        value.as_object().is_some_and(|map| {
            !map.is_empty() && map.values().all(|server| server.get("tools").is_some_and(Value::is_array))
        })
    };
    let is_started = map.get("config").is_some_and(|config| config.get(SERVERS).is_some());
    map.contains_key(SERVERS) || is_started || map.get("tools").is_some_and(of_servers)
}

/// Returns the servers of a document. Functions in a list of their own, and pages of one list, are of one server.
fn servers(document: &Document) -> Vec<Server<'_>> {
    let mut servers: Vec<Server<'_>> = Vec::new();
    let mut loose: Option<usize> = None;
    for (at, record) in document.records() {
        let Some(map) = record.as_object() else { continue };
        if is_function(record) || map.get("result").is_some() {
            let index = *loose.get_or_insert_with(|| {
                let name = document.source.stem().to_owned();
                servers.push(Server { name, entry: map, tools: Vec::new(), at: at.clone() });
                servers.len() - 1
            });
            let page = map.get("result").and_then(|result| result.get("tools")?.as_array());
            match page {
                Some(page) => servers[index].tools.extend(indexed(page, &format!("{at}/result/tools"))),
                None => servers[index].tools.push((at, record)),
            }
        } else {
            of_entry(map, &at, document.source.stem(), &mut servers);
        }
    }
    servers
}

fn indexed<'d>(list: &'d [Value], at: &str) -> Vec<(String, &'d Value)> {
    list.iter().enumerate().map(|(index, value)| (format!("{at}/{index}"), value)).collect()
}

/// Adds the servers of one entry: a server, several by name, or one without tools.
fn of_entry<'d>(map: &'d Map<String, Value>, at: &str, stem: &str, servers: &mut Vec<Server<'d>>) {
    let named = |name: Option<&str>| name.unwrap_or(stem).to_owned();
    match map.get("tools") {
        Some(Value::Array(tools)) => {
            let info = map.get("serverInfo").and_then(|info| info.get("name")?.as_str());
            let name = named(text(map, &["server_name", "name"]).or(info));
            servers.push(Server {
                name,
                entry: map,
                tools: indexed(tools, &format!("{at}/tools")),
                at: at.to_owned(),
            });
        }
        Some(Value::Object(by_name)) => {
            for (name, server) in by_name {
                let tools =
                    server.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let place = format!("{at}/tools/{}/tools", name.replace('~', "~0").replace('/', "~1"));
                servers.push(Server {
                    name: name.clone(),
                    entry: map,
                    tools: indexed(tools, &place),
                    at: at.to_owned(),
                });
            }
        }
        _ if map.values().all(|value| value.as_object().is_some_and(is_server)) => {
            for (name, server) in map {
                let before = servers.len();
                if let Value::Object(server) = server {
                    of_entry(server, &format!("{at}/{name}"), name, servers);
                }
                servers[before..].iter_mut().for_each(|server| server.name.clone_from(name));
            }
        }
        _ => {
            let name = named(text(map, &["name"]));
            servers.push(Server { name, entry: map, tools: Vec::new(), at: at.to_owned() });
        }
    }
}

fn read(document: &Document, reading: &mut Reading) {
    for server in servers(document) {
        let Server { name, entry, tools, at } = server;
        if let Some(error) = entry.get("error") {
            let message: String = error.to_string().chars().take(200).collect();
            reading.fault(&at, FaultKind::ServerError, message);
        }
        if tools.is_empty() {
            reading.fault(&at, FaultKind::EmptyTool, format!("server {:?} lists no tools", cut(&name)));
            continue;
        }
        let mut tool = described(name, entry);
        tool.origin = reading.source.at(&at);
        for (at, function) in tools {
            if let Some(api) = api(function, reading, &at) {
                reading.add(&mut tool, api);
            }
        }
        reading.tools.push(tool);
    }
}

/// Returns a tool with what its entry states.
fn described(name: String, entry: &Map<String, Value>) -> Tool {
    let is_entry = !is_function(&Value::Object(entry.clone()));
    let of_entry = |keys: &[&str]| is_entry.then(|| owned(entry, keys)).flatten();
    Tool {
        title: of_entry(&["title", "name"]).filter(|title| *title != name),
        description: of_entry(&["description"]).unwrap_or_default(),
        category: of_entry(&["category"]),
        collection: of_entry(&["collection"]),
        host: of_entry(&["host", "url"]),
        licence: of_entry(&["license", "licence"]),
        name,
        ..Tool::default()
    }
}

fn api(function: &Value, reading: &mut Reading, at: &str) -> Option<Api> {
    let map = reading.object(function, at)?;
    let name = reading.name(map, &["name"], at)?;
    let schema = value(map, &SCHEMA).cloned().unwrap_or_else(|| parameters::of_lists(&[], reading, at));
    let mut api = Api::new(name, text(map, &["description"]), schema, reading.source.at(at));
    api.response = value(map, &["outputSchema", "output_schema"]).cloned();
    api.annotations = value(map, &["annotations"]).map(without_nulls);
    Some(api)
}

fn without_nulls(value: &Value) -> Value {
    let Value::Object(map) = value else { return value.clone() };
    map.iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn count_server(server: &Server<'_>, census: &mut Census) {
    if server.tools.is_empty() {
        return;
    }
    let is_loose = is_function(&Value::Object(server.entry.clone()));
    let description = if is_loose { None } else { text(server.entry, &["description"]) };
    census.tool(&server.name, description.map(str::trim));
    for (_, function) in &server.tools {
        let description = function.get("description").and_then(Value::as_str);
        census.function(function.get("name").and_then(Value::as_str).unwrap_or_default(), description);
        census.schema(function.get(SCHEMA[0]).unwrap_or(&Value::Null));
    }
}
