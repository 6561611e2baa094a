//! Entries of server catalogues, which describe how to start or reach a server and not what it can do.
//!
//! `{"name": "bells", "description": "…", "config": {"mcpServers": {…}}}` has a name and a description like a function,
//! but no call can name a server. If an entry lists tools, these are the functions; if it lists none, it is a fault.
//! The `args` of a command are not parameters.

use serde_json::{Map, Value};

use crate::holders::HOLDERS;

/// The key under which clients list the servers they start.
const SERVERS: &str = "mcpServers";

/// The key of a server's arguments, which may also be a key of parameters.
const ARGUMENTS: &str = "args";

/// Transports of servers.
const TRANSPORTS: [&str; 5] = ["stdio", "sse", "http", "streamable-http", "websocket"];

/// Returns true if an object describes one or several servers.
pub(super) fn is_server(map: &Map<String, Value>) -> bool {
    let holds_parameters = map.contains_key("parameters")
        || HOLDERS.iter().any(|key| *key != ARGUMENTS && map.contains_key(*key));
    !holds_parameters && (is_configured(map) || is_started(map) || is_reached(map) || is_published(map))
}

/// Returns true for a client's settings, `{"mcpServers": {"bells": {…}}}`, also one level deeper.
fn is_configured(map: &Map<String, Value>) -> bool {
    let holds_servers = |map: &Map<String, Value>| map.get(SERVERS).is_some_and(Value::is_object);
    holds_servers(map) || map.values().filter_map(Value::as_object).any(holds_servers)
}

/// Returns true for `{"command": "npx", "args": ["bells"], "env": {}}`.
fn is_started(map: &Map<String, Value>) -> bool {
    let are_words = |value: &Value| {
        value.as_array().is_some_and(|words| words.iter().all(|word| word.is_string() || word.is_number()))
    };
    map.get("command").is_some_and(Value::is_string)
        && (map.get(ARGUMENTS).is_some_and(are_words) || map.get("env").is_some_and(Value::is_object))
}

/// Returns true for `{"url": "https://bells.com/mcp", "transport": "sse"}`.
fn is_reached(map: &Map<String, Value>) -> bool {
    let is_address =
        |key: &&str| map.get(*key).and_then(Value::as_str).is_some_and(|url| url.contains("://"));
    let is_transport =
        |key: &&str| map.get(*key).and_then(Value::as_str).is_some_and(|kind| TRANSPORTS.contains(&kind));
    ["url", "endpoint", "serverUrl"].iter().any(is_address)
        && ["transport", "type", "transportType"].iter().any(is_transport)
}

/// Returns true for a registry entry: `{"name": "…", "version": "1", "packages": [{"registryType": "npm"}]}`.
fn is_published(map: &Map<String, Value>) -> bool {
    let is_list_of = |key: &str, inner: &[&str]| {
        let elements = map.get(key).and_then(Value::as_array).filter(|elements| !elements.is_empty());
        elements.is_some_and(|elements| {
            elements.iter().all(|element| inner.iter().any(|inner| element.get(*inner).is_some()))
        })
    };
    map.contains_key("version")
        && (is_list_of("packages", &["registryType", "registry_type", "registry_name"])
            || is_list_of("remotes", &["transport_type", "type", "transport"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn servers_are_distinguished_from_functions() {
        let is_server = |value: &Value| is_server(value.as_object().unwrap());
        for server in [
            json!({"mcpServers": {"bells": {"command": "npx", "args": ["bells"]}}}),
            json!({"name": "Bells", "description": "d", "config": {"mcpServers": {"bells": {"url": "https://a.b"}}}}),
            json!({"command": "npx", "args": ["-y", "bells"], "env": {}}),
            json!({"name": "Bells", "url": "https://bells.com/mcp", "type": "sse"}),
            json!({"name": "bells", "version": "1", "packages": [{"registryType": "npm", "identifier": "bells"}]}),
        ] {
            assert!(is_server(&server), "{server}");
        }
        for function in [
            json!({"name": "run", "description": "d", "parameters": {"command": "string"}}),
            json!({"name": "run", "description": "d", "args": {"command": {"type": "string"}}}),
            json!({"name": "run", "command": "string", "args": {"a": "string"}}),
            json!({"name": "get", "description": "d", "url": "https://bells.com", "type": "function"}),
            json!({"name": "now", "description": "d", "version": "1"}),
        ] {
            assert!(!is_server(&function), "{function}");
        }
    }
}
