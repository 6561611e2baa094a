//! Reads the rows of training sets: requests, conversations without functions, and plain texts.

use serde_json::Value;

use super::item::{Docs, Item};
use crate::bfcl::entry::Entry;
use crate::conversation::{Message, Role};
use crate::ingest::fate::LineFate;
use crate::ingest::log_formats::Columns;
use crate::ingest::read::{Block, Position};
use crate::ingest::record::records_of;

/// A row of a file, read.
#[derive(Debug)]
pub struct ReadRow {
    /// Where it is.
    pub position: Position,
    /// Its own id.
    pub id: Option<String>,
    /// What it holds; `None` where it is blank or cannot be read.
    pub item: Option<Item>,
    /// It is blank, so it is no row of the set.
    pub is_blank: bool,
}

/// Where the text of a row is that is no request for a function call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fallback {
    /// Keys of texts, with dots into objects. Empty: the usual keys of conversations and instructions.
    pub fields: Vec<String>,
}

/// Keys of conversations.
const CONVERSATIONS: &[&str] = &["messages", "conversations", "conversation"];
/// Keys of texts of the user; all that are there count.
const TEXTS: &[&str] = &["instruction", "input", "query", "prompt", "question", "problem", "text", "user"];
/// Keys of function docs in rows without a request.
const FUNCTIONS: &[&str] = &["tools", "functions", "function", "definition", "api", "code"];
/// Names of the user in conversations.
const USERS: &[&str] = &["user", "human"];

/// Reads the rows of a block, in order.
pub fn items_of(block: &Block, columns: &Columns, fallback: &Fallback) -> Vec<ReadRow> {
    let mut rows: Vec<ReadRow> = Vec::with_capacity(block.items.len());
    let mut items = block.items.iter();
    let mut current = items.next();
    for line in records_of(block, columns) {
        // Parts of one item are one row.
        if line.part > 0 {
            if let (Some(row), LineFate::Record(record)) = (rows.last_mut(), line.fate) {
                row.join(Item::of_record(*record));
            }
            continue;
        }
        while current.is_some_and(|item| item.record < line.record) {
            current = items.next();
        }
        let bytes = current
            .filter(|item| item.record == line.record)
            .and_then(|item| item.bytes.as_ref().ok())
            .map(|range| &block.text[range.clone()]);
        let position = Position { line: line.line, record: line.record };
        let is_blank = bytes.is_some_and(|bytes| bytes.trim_ascii().is_empty());
        let mut row = ReadRow { position, id: None, item: None, is_blank };
        if fallback.fields.is_empty()
            && let LineFate::Record(record) = line.fate
        {
            row.id.clone_from(&record.external_id);
            row.item = Some(Item::of_record(*record));
        } else if let Some(value) = bytes.and_then(|bytes| value_of(bytes, block)) {
            row.id = id_of(&value);
            row.item = Some(plain_item(&value, fallback));
        }
        rows.push(row);
    }
    rows
}

impl ReadRow {
    fn join(&mut self, other: Item) {
        let item = self.item.get_or_insert_default();
        item.queries.extend(other.queries);
        item.calls.extend(other.calls);
        if item.functions == Docs::None {
            item.functions = other.functions;
        }
    }
}

fn value_of(bytes: &[u8], block: &Block) -> Option<Value> {
    match &block.header {
        Some(header) => header.row(bytes).ok(),
        None => serde_json::from_slice(bytes).ok(),
    }
}

fn id_of(value: &Value) -> Option<String> {
    match value.get("id")? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the texts of the user in a value of any form.
fn plain_item(value: &Value, fallback: &Fallback) -> Item {
    let mut item = Item::default();
    if !fallback.fields.is_empty() {
        let texts = fallback.fields.iter().filter_map(|field| at(value, field));
        texts.for_each(|text| add_texts(text, &mut item.queries));
        return item;
    }
    if let Value::String(text) = value {
        item.queries.push(text.clone());
        return item;
    }
    if let Ok(entry) = Entry::read(value) {
        item.functions = Docs::Read(entry.functions().to_vec());
        item.add(entry.into_messages());
        return item;
    }
    let conversation = CONVERSATIONS.iter().find_map(|key| value.get(*key)?.as_array());
    for turn in conversation.into_iter().flatten() {
        let of = |keys: [&str; 2]| keys.iter().find_map(|key| turn.get(*key));
        let speaker = of(["role", "from"]).and_then(Value::as_str).unwrap_or_default();
        if USERS.contains(&speaker)
            && let Some(text) = of(["content", "value"])
        {
            let mut texts = Vec::new();
            add_texts(text, &mut texts);
            item.add(texts.into_iter().map(|text| Message::text(Role::User, text)));
        }
    }
    let docs = FUNCTIONS.iter().find_map(|key| value.get(*key).filter(|docs| !docs.is_null()));
    if let Some(docs) = docs {
        item.functions = Docs::Text(docs.as_str().map_or_else(|| docs.to_string(), str::to_owned));
    }
    if item.queries.is_empty() {
        item.queries = TEXTS.iter().filter_map(|key| value.get(*key)?.as_str().map(str::to_owned)).collect();
    }
    item
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

/// Adds a text, or the texts of the parts of a message.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(parts) => {
            for part in parts {
                add_texts(part.get("text").unwrap_or(part), texts);
            }
        }
        _ => {}
    }
}
