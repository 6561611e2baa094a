//! The contents of one record of a public set, and the shared parts of all readers.

use serde_json::Value;

use callsieve_docs::dialect;
use callsieve_docs::parse::fault::ParseFaultKind;
use callsieve_docs::parse::{Parsed, parse};

/// The contents of one record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetRecord {
    /// The record's own id, if it has one.
    pub id: Option<String>,
    /// Its functions, unwrapped.
    pub functions: Vec<Value>,
    /// The user's turns.
    pub queries: Vec<String>,
}

/// Returns the functions in a value: a list, an object, or a text with some. An empty value has no functions.
pub(super) fn functions_of(value: &Value) -> Result<Vec<Value>, String> {
    let read = match value {
        Value::Null => return Ok(Vec::new()),
        Value::String(text) => parse(text).and_then(Parsed::sure),
        other => dialect::functions(other.clone(), &mut Vec::new()),
    };
    match read {
        Err(fault) if matches!(fault.kind, ParseFaultKind::Empty | ParseFaultKind::NoFunctions) => {
            Ok(Vec::new())
        }
        other => other.map_err(|fault| format!("functions: {}: {}", fault.kind.code(), fault.message)),
    }
}

/// One message of a conversation: its role and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who wrote it.
    pub role: String,
    /// What it says.
    pub text: String,
}

/// Returns the messages in a list, in nested lists, or in a text with a list; a plain text is a user message.
pub fn messages_of(value: &Value) -> Vec<ChatMessage> {
    match value {
        Value::Array(list) => list.iter().flat_map(messages_of).collect(),
        Value::Object(message) => {
            let field = |names: [&str; 2]| names.iter().find_map(|name| message.get(*name));
            let role = field(["role", "from"]).and_then(Value::as_str).unwrap_or_default();
            let text = field(["content", "value"]).map(text_of).unwrap_or_default();
            vec![ChatMessage { role: role.to_owned(), text }]
        }
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(list @ Value::Array(_)) => messages_of(&list),
            _ => vec![ChatMessage { role: "user".to_owned(), text: text.clone() }],
        },
        _ => Vec::new(),
    }
}

/// Returns a text, or the joined texts of a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let part = |part: &Value| part.get("text").or(part.get("value")).map(text_of);
            parts.iter().filter_map(part).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the non-empty user messages.
pub fn queries_of(messages: &[ChatMessage]) -> Vec<String> {
    let is_user = |message: &&ChatMessage| {
        matches!(message.role.as_str(), "user" | "human") && !message.text.trim().is_empty()
    };
    messages.iter().filter(is_user).map(|message| message.text.clone()).collect()
}

/// Returns the value of the first of some keys that is present and not null.
pub(super) fn first<'v>(record: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().find_map(|key| record.get(*key).filter(|value| !value.is_null()))
}

/// Returns the record's own id.
pub(super) fn id_of(record: &Value) -> Option<String> {
    match first(record, &["id", "uuid", "task_id"])? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the keys of a record, for messages.
pub(super) fn keys_of(record: &Value) -> String {
    match record {
        Value::Object(map) => {
            format!("its keys are {}", map.keys().map(String::as_str).collect::<Vec<_>>().join(", "))
        }
        _ => "it is not an object".to_owned(),
    }
}
