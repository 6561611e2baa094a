//! What one record of a public set holds, and what the readers of all formats have in common.

use serde_json::Value;

use crate::docs::dialect;
use crate::docs::parse::fault::ParseFault;
use crate::docs::parse::{Parsed, parse};

/// What one record holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// The record's own id, where it has one.
    pub id: Option<String>,
    /// Its functions, frames taken off.
    pub functions: Vec<Value>,
    /// What was asked, turn by turn.
    pub queries: Vec<String>,
}

/// The functions of a value: a list, an object, or a text that holds some. Nothing at all is no functions.
pub(super) fn functions_of(value: &Value) -> Result<Vec<Value>, String> {
    let read = match value {
        Value::Null => return Ok(Vec::new()),
        Value::String(text) => parse(text).and_then(Parsed::sure),
        other => dialect::functions(other.clone(), &mut Vec::new()),
    };
    match read {
        Err(fault) if matches!(fault.kind, ParseFault::Empty | ParseFault::NoFunctions) => Ok(Vec::new()),
        other => other.map_err(|fault| format!("functions: {}: {}", fault.kind.code(), fault.message)),
    }
}

/// One message of a conversation: who says it, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) role: String,
    pub(super) text: String,
}

/// The messages of a list, of lists in a list, or of a text that holds one; a plain text is what a user said.
pub(super) fn messages_of(value: &Value) -> Vec<Said> {
    match value {
        Value::Array(list) => list.iter().flat_map(messages_of).collect(),
        Value::Object(message) => {
            let field = |names: [&str; 2]| names.iter().find_map(|name| message.get(*name));
            let role = field(["role", "from"]).and_then(Value::as_str).unwrap_or_default();
            let text = field(["content", "value"]).map(text_of).unwrap_or_default();
            vec![Said { role: role.to_owned(), text }]
        }
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(list @ Value::Array(_)) => messages_of(&list),
            _ => vec![Said { role: "user".to_owned(), text: text.clone() }],
        },
        _ => Vec::new(),
    }
}

/// A text, or the texts of a list of parts.
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

/// What users said, without empty turns.
pub(super) fn queries_of(messages: &[Said]) -> Vec<String> {
    let is_user =
        |said: &&Said| matches!(said.role.as_str(), "user" | "human") && !said.text.trim().is_empty();
    messages.iter().filter(is_user).map(|said| said.text.clone()).collect()
}

/// The first of some keys that is there and not null.
pub(super) fn first<'v>(record: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().find_map(|key| record.get(*key).filter(|value| !value.is_null()))
}

/// The record's own id.
pub(super) fn id_of(record: &Value) -> Option<String> {
    match first(record, &["id", "uuid", "task_id"])? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// The keys of a record, to say what was found.
pub(super) fn keys_of(record: &Value) -> String {
    match record {
        Value::Object(map) => {
            format!("its keys are {}", map.keys().map(String::as_str).collect::<Vec<_>>().join(", "))
        }
        _ => "it is no object".to_owned(),
    }
}
