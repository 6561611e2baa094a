//! The formats of public sets: a table of readers from a record to functions and queries.
//!
//! A record is one line of JSON, one element of a list or one row of a table. A reader that finds neither functions nor
//! a query returns an error with the record's keys. Shared parts are in `record`; functions themselves are read by
//! `docs`.

use serde_json::Value;

use super::record::{SetRecord, functions_of};
use super::{bfcl, chat, firefunctions, glaive, nexusraven};
use callsieve_ingest::fate::LineFate;
use callsieve_ingest::log_formats::Columns;
use callsieve_ingest::record::record_of_value;

/// A format.
#[derive(Debug)]
pub struct PublicSetFormat {
    /// Its name in descriptions.
    pub name: &'static str,
    /// Its description.
    pub what: &'static str,
    /// Reads one record, or returns the reason for which it cannot.
    pub read: fn(&Value) -> Result<SetRecord, String>,
}

/// All formats.
pub static FORMATS: [PublicSetFormat; 6] = [
    PublicSetFormat {
        name: "nexusraven",
        what: "Python definitions (definition, descriptions, context) and queries (Input, query)",
        read: nexusraven::read,
    },
    PublicSetFormat {
        name: "firefunctions",
        what: "tools, and a prompt whose last message repeats them before the query",
        read: firefunctions::read,
    },
    PublicSetFormat {
        name: "glaive-text",
        what: "system and chat as text: functions after \"Use them if required\", turns after USER:",
        read: glaive::read,
    },
    PublicSetFormat {
        name: "chat",
        what: "messages, prompt or conversations, with tools next to them or tagged in the system text",
        read: chat::read,
    },
    PublicSetFormat {
        name: "bfcl",
        what: "BFCL's own files, V1 to V4: question and function",
        read: bfcl::read,
    },
    PublicSetFormat {
        name: "columns",
        what: "any log format, and query and function columns",
        read: columns,
    },
];

impl PublicSetFormat {
    /// Returns the format with a name.
    pub fn of(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

/// Reads a record as a line of a log.
fn columns(record: &Value) -> Result<SetRecord, String> {
    match record_of_value(1, 0, record.clone(), &Columns::default()) {
        LineFate::Record(read) => Ok(SetRecord {
            id: read.external_id,
            functions: functions_of(&Value::String(read.functions))?,
            queries: read
                .messages
                .into_iter()
                .filter(|message| message.role == callsieve_bfcl::conversation::Role::User)
                .map(|message| message.content)
                .collect(),
        }),
        LineFate::Answer(_) => Err("a response without its request".to_owned()),
        LineFate::NoRequest(fault) | LineFate::Unreadable(fault) => {
            Err(format!("{}: {}", fault.reason, fault.detail))
        }
    }
}
