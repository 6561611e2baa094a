//! The formats of public sets: a table of readers from a record to functions and queries.
//!
//! A record is one line of JSON, one element of a list or one row of a table. A reader
//! that finds neither functions nor a query says what it found instead. The helpers here
//! are what formats have in common; functions themselves are read by `docs`.

use serde_json::Value;

use super::{bfcl, chat, firefunctions, glaive, nexusraven};
use crate::docs::dialect;
use crate::docs::parse::fault::ParseFault;
use crate::docs::parse::{Parsed, parse};
use crate::ingest::record::{LineFate, record_of_value};
use crate::ingest::shapes::Columns;

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

/// A format.
#[derive(Debug)]
pub struct Format {
    /// Its name in descriptions.
    pub name: &'static str,
    /// What it is, for people.
    pub what: &'static str,
    /// Reads one record, or says why it cannot.
    pub read: fn(&Value) -> Result<Entry, String>,
}

/// Every format.
pub static FORMATS: [Format; 6] = [
    Format {
        name: "nexusraven",
        what: "Python definitions (definition, descriptions, context) and queries (Input, query)",
        read: nexusraven::read,
    },
    Format {
        name: "firefunctions",
        what: "tools, and a prompt whose last message repeats them ahead of the query",
        read: firefunctions::read,
    },
    Format {
        name: "glaive-text",
        what: "system and chat as text: functions behind \"Use them if required\", turns behind USER:",
        read: glaive::read,
    },
    Format {
        name: "chat",
        what: "messages, prompt or conversations, with tools beside them or tagged in the system text",
        read: chat::read,
    },
    Format { name: "bfcl", what: "BFCL's own files, V1 to V4: question and function", read: bfcl::read },
    Format {
        name: "columns",
        what: "any shape that a log may have, and query and function columns",
        read: columns,
    },
];

impl Format {
    /// The format of that name.
    pub fn of(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

/// Reads a record as a line of a log.
fn columns(record: &Value) -> Result<Entry, String> {
    match record_of_value(1, 0, record.clone(), &Columns::default()) {
        LineFate::Record(read) => Ok(Entry {
            id: read.external_id,
            functions: functions_of(&Value::String(read.functions))?,
            queries: read
                .messages
                .into_iter()
                .filter(|message| message.role == crate::conversation::Role::User)
                .map(|message| message.content)
                .collect(),
        }),
        LineFate::Answer(_) => Err("a response without its request".to_owned()),
        LineFate::NoRequest(fault) | LineFate::Unreadable(fault) => {
            Err(format!("{}: {}", fault.reason, fault.detail))
        }
    }
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
