//! Makes a row of any item: with `rows = "all"`, an item without a request becomes one with the texts that it has.
//!
//! A contamination audit must see every row of a training set: conversations without functions, instructions, plain texts.
//! An item with a request is read as it always is. For any other, the known keys of conversations, texts and function docs
//! are looked up, or the keys that the settings name. An item that is blank or not readable stays a line without a row.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::bfcl::entry::Entry;
use crate::conversation::{Message, Role};
use crate::ingest::facts::Facts;
use crate::ingest::fate::{Line, LineFate, Record};
use crate::ingest::log_formats::Columns;
use crate::ingest::log_formats::names::is_read;
use crate::ingest::messages::read_messages;
use crate::ingest::read::{Block, Position};
use crate::ingest::record::{push_lines, records_of};

/// The items of an input that become rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowsRead {
    /// Requests for a function call, and doc lists.
    #[default]
    Requests,
    /// Every item that can be read.
    All,
}

/// How items are read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Column names of rows that hold a query and a function string.
    pub columns: &'a Columns,
    /// The items that become rows.
    pub rows: RowsRead,
    /// With [`RowsRead::All`]: the keys of texts, with dots into objects, of every item. Empty: requests are read as
    /// requests, and the usual keys of conversations and instructions hold the texts of others.
    pub text_fields: &'a [String],
}

impl Reading<'_> {
    /// Returns `true` if a column of this name is read.
    pub fn reads(&self, name: &str) -> bool {
        let names_it = |field: &String| field.split('.').next() == Some(name) || field == name;
        let is_looked_up = || {
            let keys = [CONVERSATIONS, USER_TEXTS, FUNCTIONS, ANSWERS, &[ID]];
            keys.iter().any(|keys| keys.contains(&name)) || self.text_fields.iter().any(names_it)
        };
        is_read(name, self.columns) || (self.rows == RowsRead::All && is_looked_up())
    }
}

/// The log format of a row whose texts were looked up.
pub const TEXTS: &str = "texts";
/// The log format of a row that is an entry of BFCL.
const BFCL_ENTRY: &str = "bfcl-entry";

/// The key of a row's own id.
const ID: &str = "id";
/// Keys of conversations.
const CONVERSATIONS: &[&str] = &["messages", "conversations", "conversation"];
/// Keys of texts of the user; all that are there count.
const USER_TEXTS: &[&str] =
    &["instruction", "input", "query", "prompt", "question", "problem", "text", "user"];
/// Keys of function docs in rows without a request.
const FUNCTIONS: &[&str] = &["tools", "functions", "function", "definition", "api", "code"];
/// Names of the user in conversations.
const USERS: &[&str] = &["user", "human"];
/// Names of the model in conversations.
const MODELS: &[&str] = &["assistant", "gpt", "model", "bot", "function_call"];
/// Keys of the answer of a row without a conversation.
const ANSWERS: &[&str] = &["output", "response", "answers", "answer", "completion", "ground_truth"];

/// Parses the items of a block, in order; there are as many first parts as items.
pub fn rows_of(block: &Block, reading: &Reading<'_>) -> Vec<Line> {
    let lines = records_of(block, reading.columns);
    if reading.rows == RowsRead::Requests {
        return lines;
    }
    let mut items = block.items.iter();
    let mut rows = Vec::with_capacity(lines.len());
    for parts in into_items(lines) {
        let Some(first) = parts.first() else { continue };
        let record = first.record;
        let item = items.find(|item| item.record == record);
        let value = || {
            let bytes = &block.text[item?.bytes.as_ref().ok()?.clone()];
            let value = match &block.header {
                Some(header) => header.row(bytes).ok()?,
                None => serde_json::from_slice(bytes).ok()?,
            };
            Some((xxh3_128(bytes.trim_ascii()), value))
        };
        rows.extend(completed(parts, reading, value));
    }
    rows
}

/// Parses a value that may hold several requests, like [`push_lines`].
pub fn push_rows(
    position: Position,
    content_key: u128,
    value: Value,
    reading: &Reading<'_>,
    lines: &mut Vec<Line>,
) {
    if reading.rows == RowsRead::Requests {
        push_lines(position, content_key, value, reading.columns, lines);
        return;
    }
    let mut parts = Vec::with_capacity(1);
    push_lines(position, content_key, value.clone(), reading.columns, &mut parts);
    lines.extend(completed(parts, reading, || Some((content_key, value))));
}

/// Splits lines into those of one item each.
fn into_items(lines: Vec<Line>) -> impl Iterator<Item = Vec<Line>> {
    let mut lines = lines.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut parts = vec![lines.next()?];
        while let Some(part) = lines.next_if(|line| line.part > 0) {
            parts.push(part);
        }
        Some(parts)
    })
}

/// Returns the parts of an item, or the row that it becomes if none of them is a request.
fn completed(
    parts: Vec<Line>,
    reading: &Reading<'_>,
    value: impl FnOnce() -> Option<(u128, Value)>,
) -> Vec<Line> {
    let has_request = parts.iter().any(|part| matches!(part.fate, LineFate::Record(_) | LineFate::Answer(_)));
    if has_request && reading.text_fields.is_empty() {
        return parts;
    }
    let Some((first, (content_key, value))) = parts.first().zip(value()) else { return parts };
    let position = Position { line: first.line, record: first.record };
    let n_items = first.n_items;
    let record = record_of_any(position.line, content_key, &value, reading.text_fields);
    vec![Line::whole(position, n_items, LineFate::Record(Box::new(record)))]
}

/// Returns the record of a value of any form. It has no message if the value has no text.
fn record_of_any(line: u64, content_key: u128, value: &Value, text_fields: &[String]) -> Record {
    let mut record = Record {
        line,
        content_key,
        external_id: id_of(value),
        log_format: TEXTS,
        messages: Vec::new(),
        functions: String::new(),
        response: None,
        following_messages: Vec::new(),
        facts: Facts::default(),
        custom_id: None,
    };
    if !text_fields.is_empty() {
        let texts = text_fields.iter().filter_map(|field| at(value, field));
        texts.for_each(|text| add_texts(text, &mut record.messages));
        return record;
    }
    if let Value::String(text) = value {
        record.messages.push(Message::text(Role::User, text));
        return record;
    }
    if let Ok(entry) = Entry::read(value) {
        record.log_format = BFCL_ENTRY;
        record.functions = Value::Array(entry.functions().to_vec()).to_string();
        record.messages = entry.into_messages();
        record.response = answer_of(value);
        return record;
    }
    if let Some(conversation) = CONVERSATIONS.iter().find_map(|key| value.get(*key)?.as_array()) {
        record.messages = conversation_of(conversation);
    }
    let docs = FUNCTIONS.iter().find_map(|key| value.get(*key).filter(|docs| !docs.is_null()));
    if let Some(docs) = docs {
        record.functions = docs.as_str().map_or_else(|| docs.to_string(), str::to_owned);
    }
    if record.messages.is_empty() {
        let texts = USER_TEXTS.iter().filter_map(|key| value.get(*key)?.as_str());
        record.messages = texts.map(|text| Message::text(Role::User, text)).collect();
        record.response = answer_of(value);
    }
    record
}

/// Returns the answer of a row, as a message of the model.
fn answer_of(value: &Value) -> Option<Message> {
    let answer = ANSWERS.iter().find_map(|key| value.get(*key).filter(|answer| !answer.is_null()))?;
    let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    Some(Message::text(Role::Assistant, text))
}

/// Returns the messages of a conversation; those of the user and the model if it is in no API's form.
fn conversation_of(turns: &[Value]) -> Vec<Message> {
    if let Ok(messages) = read_messages(Value::Array(turns.to_vec())) {
        return messages;
    }
    let mut messages = Vec::new();
    for turn in turns {
        let of = |keys: [&str; 2]| keys.iter().find_map(|key| turn.get(*key));
        let speaker = of(["role", "from"]).and_then(Value::as_str).unwrap_or_default();
        let Some(text) = of(["content", "value"]) else { continue };
        if USERS.contains(&speaker) {
            add_texts(text, &mut messages);
        } else if let Some(text) = text.as_str().filter(|_| MODELS.contains(&speaker)) {
            messages.push(Message::text(Role::Assistant, text));
        }
    }
    messages
}

fn id_of(value: &Value) -> Option<String> {
    match value.get(ID)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the value at a path of keys with dots; a key that has the dots itself goes first.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if let Some(found) = value.get(path) {
        return Some(found);
    }
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

/// Adds a text, or the texts of the parts of a message, each as a message of the user.
fn add_texts(value: &Value, messages: &mut Vec<Message>) {
    match value {
        Value::String(text) => messages.push(Message::text(Role::User, text)),
        Value::Array(parts) => {
            for part in parts {
                add_texts(part.get("text").unwrap_or(part), messages);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value, text_fields: &[&str]) -> Vec<Line> {
        let text_fields: Vec<String> = text_fields.iter().map(|field| (*field).to_owned()).collect();
        let columns = Columns::default();
        let reading = Reading { columns: &columns, rows: RowsRead::All, text_fields: &text_fields };
        let mut lines = Vec::new();
        push_rows(Position::same(3), 7, value, &reading, &mut lines);
        lines
    }

    fn record(value: Value, text_fields: &[&str]) -> Record {
        let mut lines = read(value, text_fields);
        assert_eq!(lines.len(), 1);
        let LineFate::Record(record) = lines.remove(0).fate else { panic!("expected a row") };
        *record
    }

    fn texts(record: &Record) -> Vec<&str> {
        record.messages.iter().map(|message| message.content.as_str()).collect()
    }

    #[test]
    fn an_item_without_a_request_becomes_a_row_with_its_texts() {
        let cases = [
            (
                json!({"instruction": "Ring it.", "input": "Twice.", "output": "Done."}),
                vec!["Ring it.", "Twice."],
            ),
            (
                json!({"conversations": [{"from": "human", "value": "Ring."}, {"from": "gpt", "value": "Done."}]}),
                vec!["Ring."],
            ),
            (json!({"text": "Ring the bell."}), vec!["Ring the bell."]),
            (json!("Ring the bell."), vec!["Ring the bell."]),
            (json!({"score": 4}), vec![]),
        ];
        for (value, expected) in cases {
            let record = record(value.clone(), &[]);
            let of_user: Vec<&str> = record
                .messages
                .iter()
                .filter(|message| message.role == Role::User)
                .map(|message| message.content.as_str())
                .collect();
            assert_eq!(of_user, expected, "{value}");
        }
    }

    #[test]
    fn calls_of_a_conversation_without_functions_are_kept() {
        let call = json!({"id": "c", "type": "function", "function": {"name": "ring", "arguments": "{\"times\": 2}"}});
        let record = record(
            json!({"id": 5, "messages": [{"role": "user", "content": "Ring."}, {"role": "assistant", "tool_calls": [call]}]}),
            &[],
        );
        assert_eq!(record.external_id.as_deref(), Some("5"));
        assert_eq!(record.messages[1].calls[0].name, "ring");
    }

    #[test]
    fn named_fields_hold_the_texts_of_every_item() {
        let request = json!({"query": "Ring.", "tools": [{"name": "ring", "description": "Rings."}], "meta": {"notes": ["Loud."]}});
        assert_eq!(texts(&record(request.clone(), &["meta.notes.0"])), ["Loud."]);
        let read = record(request, &[]);
        assert!(read.functions.contains("Rings.") && texts(&read) == ["Ring."]);
    }

    #[test]
    fn an_entry_of_bfcl_keeps_its_functions() {
        let entry = json!({"id": "simple_1", "question": [[{"role": "user", "content": "Ring."}]],
            "function": [{"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "properties": {}}}]});
        let record = record(entry, &[]);
        assert!(texts(&record) == ["Ring."] && record.functions.contains("Rings."));
    }
}
