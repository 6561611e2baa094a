//! Items become records: one fate for every item, whatever it holds.
//!
//! All of this is pure, so blocks can be read in parallel and put back in order. A
//! record keeps the function docs as the text they were sent as; JSON that was sent as
//! JSON is written compactly, in the order of its keys and with its numbers' own digits.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::conversation::Message;
use crate::ingest::facts::{FactFinder, Facts};
use crate::ingest::messages::read_system;
use crate::ingest::path::{Path, at, find, find_object};
use crate::ingest::read::Block;
use crate::ingest::reasons::{
    BLANK_LINE, Fault, NO_FUNCTIONS, NO_MESSAGES, NOT_JSON, NOT_UTF8, UNKNOWN_SHAPE,
};
use crate::ingest::response::{Answer, FINISHED_WITH_ERROR, read_response};
use crate::ingest::shapes::{Columns, ENVELOPES, Place, column_mut, shape_of};
use crate::ingest::table::Header;

/// Reads the items of a block, in order: as many fates as items.
pub fn records_of(block: &Block, columns: &Columns) -> Vec<Line> {
    let fate = |line, bytes: &[u8]| match &block.header {
        _ if bytes.trim_ascii().is_empty() => no_request(BLANK_LINE, ""),
        None => read_json(line, bytes, columns),
        Some(header) => read_row(line, bytes, header, columns),
    };
    let lines = block.items.iter().map(|item| Line {
        line: item.line,
        fate: match &item.bytes {
            Ok(range) => fate(item.line, &block.text[range.clone()]),
            Err(fault) => LineFate::Unreadable(fault.clone()),
        },
    });
    lines.collect()
}

/// Reads one value: a line of JSON, a row of a table, an element of a list.
///
/// `content_key` is the hash of the record's own bytes; a caller without bytes hashes what it has.
pub fn record_of_value(line: u64, content_key: u128, mut value: Value, columns: &Columns) -> LineFate {
    build(line, content_key, &mut value, columns)
        .map_or_else(|fate| fate, |record| LineFate::Record(Box::new(record)))
}

/// An item of a file and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line it starts on; the first line is 1.
    pub line: u64,
    /// What became of it.
    pub fate: LineFate,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum LineFate {
    /// It holds a request.
    Record(Box<Record>),
    /// It is sound, and holds no request for a function call.
    NoRequest(Fault),
    /// It cannot be read.
    Unreadable(Fault),
}

/// One request of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The line it starts on; the first line is 1.
    pub line: u64,
    /// `xxh3_128` of its bytes without the space around them.
    pub content_key: u128,
    /// The log's own id for it.
    pub external_id: Option<String>,
    /// The name of its shape in `shapes::BODIES`.
    pub shape: &'static str,
    /// What was said, never empty.
    pub messages: Vec<Message>,
    /// The function docs as they were sent.
    pub functions: String,
    /// What the model answered.
    pub response: Option<Message>,
    /// What else the log says.
    pub facts: Facts,
}

fn read_json(line: u64, bytes: &[u8], columns: &Columns) -> LineFate {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_matches(JSON_SPACE),
        Err(error) => return unreadable(NOT_UTF8, format!("byte {} of the line", error.valid_up_to())),
    };
    match serde_json::from_str(text) {
        Ok(value) => record_of_value(line, xxh3_128(text.as_bytes()), value, columns),
        Err(error) => unreadable(NOT_JSON, error.to_string()),
    }
}

const JSON_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

fn read_row(line: u64, bytes: &[u8], header: &Header, columns: &Columns) -> LineFate {
    match header.row(bytes) {
        // With the names of its columns: the same cells under another header are another record.
        Ok(value) => record_of_value(line, xxh3_128(value.to_string().as_bytes()), value, columns),
        Err(fault) => LineFate::Unreadable(fault),
    }
}

fn unreadable(reason: &'static str, detail: String) -> LineFate {
    LineFate::Unreadable(Fault::new(reason, detail))
}

fn no_request(reason: &'static str, detail: impl Into<String>) -> LineFate {
    LineFate::NoRequest(Fault::new(reason, detail))
}

fn build(line: u64, content_key: u128, value: &mut Value, columns: &Columns) -> Result<Record, LineFate> {
    let Some((envelope, body)) = shape_of(value, columns) else { return Err(explain(value, columns)) };
    let content = at(value, envelope.body).expect("the shape was found in this body");
    let finder = FactFinder { line: value, body: content, envelope, columns };
    let (external_id, mut facts) = (finder.external_id(), finder.facts());
    let answer = take_answer(value, envelope.response, &facts, columns);
    facts.finish_reason = answer.finish_reason;

    let content = find(value, envelope.body).expect("the shape was found in this body");
    let mut take = |place: Place| place.find(content, columns).map(Value::take).unwrap_or_default();
    let functions = match take(body.functions) {
        Value::String(text) => text,
        // A row with a function column is a doc–query pair whatever stands there: that is for later stages to judge.
        Value::Array(list) if list.is_empty() && !matches!(body.functions, Place::Functions) => {
            return Err(no_request(NO_FUNCTIONS, "the list is empty"));
        }
        sent => sent.to_string(),
    };
    let mut messages = (body.read)(take(body.messages)).map_err(LineFate::Unreadable)?;
    if let Some(system) = column_mut(content, &columns.system) {
        messages.insert(0, read_system(system.take()).map_err(LineFate::Unreadable)?);
    }
    if messages.is_empty() {
        return Err(no_request(NO_MESSAGES, "the list is empty"));
    }
    let response = answer.message;
    Ok(Record { line, content_key, external_id, shape: body.name, messages, functions, response, facts })
}

const FIRST_FAILED_STATUS: i64 = 400;

fn take_answer(value: &mut Value, paths: &[Path], facts: &Facts, columns: &Columns) -> Answer {
    if facts.status.is_some_and(|status| status >= FIRST_FAILED_STATUS) {
        return Answer::finished(FINISHED_WITH_ERROR);
    }
    // The paths go through objects only: a model that answers in JSON may well say "body".
    let response = match paths.iter().find(|path| at(value, path).is_some()) {
        Some(path) => find(value, path),
        None => column_mut(value, &columns.response),
    };
    response.map(|response| read_response(response.take())).unwrap_or_default()
}

/// Says why no shape fits: what a request needs, and which of it was there.
fn explain(value: &mut Value, columns: &Columns) -> LineFate {
    for envelope in ENVELOPES {
        let Some(content) = find_object(value, envelope.body) else { continue };
        if Place::Query.find(content, columns).is_some() {
            return no_request(NO_FUNCTIONS, format!("none of {}", columns.functions.join(", ")));
        }
        if Place::Functions.find(content, columns).is_some() {
            return no_request(NO_MESSAGES, format!("none of {}", columns.query.join(", ")));
        }
    }
    no_request(UNKNOWN_SHAPE, outline(value))
}

const MAX_KEYS_TOLD: usize = 12;

fn outline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().take(MAX_KEYS_TOLD).map(String::as_str).collect();
            format!("an object with the keys {}", keys.join(", "))
        }
        Value::Array(_) => "a list".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) | Value::Null => value.to_string(),
    }
}
