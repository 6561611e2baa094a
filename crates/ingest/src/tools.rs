//! Collects function docs that a log stores separately: one per attribute, one per message, or as an object by name.
//!
//! The docs are collected in one list, in their order. A doc itself stays as it was sent, except for JSON that is in a
//! string only because attributes cannot hold anything else. `docs` parses the docs.

use serde_json::{Map, Value};

use crate::path::{find, opened};

/// The members of a doc that attributes hold as strings.
const SCHEMAS: &[&str] = &["parameters", "input_schema", "inputSchema", "parameters_json_schema"];

/// Returns one list of the values found at several places; lists among them are flattened.
pub(super) fn laid_end_to_end(found: Vec<Value>) -> Option<Value> {
    let mut docs = Vec::new();
    for value in found {
        match opened(value) {
            Value::Array(list) => docs.extend(list.into_iter().map(with_schema)),
            one => docs.push(with_schema(one)),
        }
    }
    (!docs.is_empty()).then_some(Value::Array(docs))
}

/// Returns the list of the docs of an object by name.
pub(super) fn named(docs: Value) -> Option<Value> {
    let Value::Object(docs) = docs else { return None };
    Some(docs.into_iter().map(|(name, doc)| with_name(name, opened(doc))).collect())
}

fn with_name(name: String, doc: Value) -> Value {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), Value::String(name));
    match with_schema(doc) {
        Value::Object(doc) => fields.extend(doc),
        Value::Null => {}
        other => {
            fields.insert("description".to_owned(), other);
        }
    }
    Value::Object(fields)
}

fn with_schema(mut doc: Value) -> Value {
    for key in SCHEMAS {
        if let Some(schema) = doc.get_mut(*key) {
            *schema = opened(schema.take());
        }
    }
    doc
}

/// Returns `true` if one of these messages defines a tool.
pub(super) fn has_tool_messages(messages: &Value) -> bool {
    messages.as_array().is_some_and(|list| list.iter().any(is_tool_message))
}

/// Removes the messages that define tools from a list. Returns the tools.
pub(super) fn out_of_messages(messages: &mut Value) -> Option<Value> {
    let list = messages.as_array_mut()?;
    let (tools, rest) = std::mem::take(list).into_iter().partition(is_tool_message);
    *list = rest;
    let mut tools: Vec<Value> = tools;
    let docs = tools.iter_mut().filter_map(|message| find(message, &["content"]).map(Value::take));
    Some(docs.map(opened).collect())
}

/// Returns `true` if a message of the role `tool` defines a tool; the result of a call is not a definition.
fn is_tool_message(message: &Value) -> bool {
    let defines = |content: &Value| {
        content.get("type").and_then(Value::as_str) == Some("function") && content.get("function").is_some()
    };
    message.get("role").and_then(Value::as_str) == Some("tool")
        && message.get("tool_call_id").is_none()
        && message.get("content").is_some_and(|content| match content {
            Value::String(text) => defines(&opened(Value::String(text.clone()))),
            other => defines(other),
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn docs_under_their_names_become_a_list() {
        let docs = json!({"f": "{\"description\": \"d\", \"parameters\": \"{\\\"type\\\": \\\"object\\\"}\"}", "g": null});
        let list =
            json!([{"name": "f", "description": "d", "parameters": {"type": "object"}}, {"name": "g"}]);
        assert_eq!(named(docs), Some(list));
    }

    #[test]
    fn a_message_that_defines_a_tool_is_distinguished_from_a_result() {
        let tool = json!({"type": "function", "function": {"name": "f"}});
        let result = json!({"role": "tool", "content": "{\"type\": \"function\"}"});
        let mut messages = json!([
            {"role": "tool", "content": tool}, {"role": "tool", "content": tool.to_string()}, result]);
        assert!(has_tool_messages(&messages));
        assert_eq!(out_of_messages(&mut messages), Some(json!([tool, tool])));
        assert_eq!(messages, json!([result]));
        assert!(!has_tool_messages(&messages));
    }
}
