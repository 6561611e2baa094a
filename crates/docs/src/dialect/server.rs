//! Tools that a server runs itself, which are listed among functions without a schema.
//!
//! `{"type": "web_search_preview"}`, `{"type": "bash_20250124", "name": "bash"}` and `{"googleSearch": {}}` are
//! switches, not functions: their parameters are unknown, so they are omitted and a step reports it. Any object with a
//! schema is a function.

use serde_json::{Map, Value};

use super::holds_parameters;
use super::tables::{SERVER_KEYS, SERVER_KINDS};

/// Returns true if the object only switches on a tool of the server.
pub(super) fn is_switch(map: &Map<String, Value>) -> bool {
    if holds_parameters(map) || map.contains_key("properties") || map.contains_key("function") {
        return false;
    }
    match map.get("type").and_then(Value::as_str) {
        Some(kind) => SERVER_KINDS.contains(&undated(kind)),
        None => !map.is_empty() && map.iter().all(is_switch_key),
    }
}

/// Returns true if the object has switches in addition to functions, as Gemini allows.
pub(super) fn has_switches(map: &Map<String, Value>) -> bool {
    map.iter().any(is_switch_key)
}

fn is_switch_key((key, value): (&String, &Value)) -> bool {
    SERVER_KEYS.contains(&key.as_str()) && (value.is_object() || value.is_boolean())
}

/// Returns the kind without the date of its version: `bash_20250124`, `web_search_2025_08_26`.
fn undated(kind: &str) -> &str {
    kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn switches_of_all_servers_are_distinguished_from_functions() {
        let is_switch = |value: Value| is_switch(value.as_object().unwrap());
        for switch in [
            json!({"type": "web_search_preview", "search_context_size": "low"}),
            json!({"type": "bash_20250124", "name": "bash"}),
            json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 5}),
            json!({"type": "mcp", "server_label": "docs", "server_url": "https://example.com"}),
            json!({"googleSearch": {}}),
        ] {
            assert!(is_switch(switch.clone()), "{switch}");
        }
        for function in [
            json!({"type": "function", "name": "bash"}),
            json!({"name": "web_search", "input_schema": {"type": "object"}, "type": "custom"}),
            json!({"type": "object", "properties": {}}),
            json!({"name": "retrieval"}),
            json!({"retrieval": {"description": "d", "parameters": {}}, "other": {}}),
        ] {
            assert!(!is_switch(function.clone()), "{function}");
        }
    }
}
