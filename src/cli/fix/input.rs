//! What `fix` is given: items of a file, each the text of a doc list with an id.
//!
//! An item is an object that holds docs under one of `KEYS`, or it is docs itself. The
//! text is handed on as it stands in the file, so that what only the text shows (keys that
//! stand twice) is still to be seen. Nothing is lost: what holds no text is a fault with an id.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::ingest::read::{Block, Format, Item};
use crate::ingest::reasons::{Fault, NOT_UTF8};
use crate::python;

/// Where an object may hold docs, the likeliest first.
const KEYS: [&str; 3] = ["function", "functions", "tools"];

/// One doc list as sent.
#[derive(Debug, PartialEq)]
pub(super) struct Docs<'t> {
    /// The id it came with, or where it stands.
    pub(super) id: Value,
    /// Its text, or why there is none.
    pub(super) text: Result<Cow<'t, str>, Fault>,
}

/// How a file is cut: its name tells tables and lines, its beginning the rest.
pub(super) fn format_of(path: &Path) -> Format {
    match Format::of(path) {
        Format::Json => Format::Docs,
        other => other,
    }
}

/// The docs of one item: nothing where it is blank, several where it is a list of objects with ids and docs.
pub(super) fn docs_of<'t>(block: &'t Block, item: &Item, path: &Path) -> Vec<Docs<'t>> {
    let place = || place(block, item, path);
    let failed = |fault| vec![Docs { id: place(), text: Err(fault) }];
    let bytes = match &item.bytes {
        Ok(range) => &block.text[range.clone()],
        Err(fault) => return failed(fault.clone()),
    };
    if bytes.trim_ascii().is_empty() {
        return Vec::new();
    }
    if let Some(header) = &block.header {
        return header.row(bytes).map_or_else(failed, |row| vec![in_cell(row).with_id(place)]);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => in_list(text).unwrap_or_else(|| vec![in_text(text).with_id(place)]),
        Err(error) => failed(Fault::new(NOT_UTF8, format!("byte {} is not UTF-8", error.valid_up_to()))),
    }
}

/// The docs in a JSON list whose elements all have an id and docs; any other list is docs itself. A `type` says that
/// an element is a function in an API's frame.
fn in_list(text: &str) -> Option<Vec<Docs<'static>>> {
    let list: Vec<Value> =
        if text.trim_start().starts_with('[') { serde_json::from_str(text).ok()? } else { return None };
    let docs = |element: Value| {
        let is_framed = element.get("type").is_some();
        let found = in_object(element).filter(|_| !is_framed)?;
        Some(Docs { id: found.id?, text: Ok(found.text) })
    };
    let docs: Vec<Docs<'static>> = list.into_iter().map(docs).collect::<Option<_>>()?;
    (!docs.is_empty()).then_some(docs)
}

/// What an item without an id is called: its line, or the file where it is all there is.
fn place(block: &Block, item: &Item, path: &Path) -> Value {
    let is_all = block.items.len() == 1 && item.line == 1 && format_of(path) == Format::Docs;
    match path.file_name() {
        Some(name) if is_all && name != "-" => name.to_string_lossy().into(),
        _ => format!("line {}", item.line).into(),
    }
}

/// A text that was found, with its id where it has one.
struct Found<'t> {
    id: Option<Value>,
    text: Cow<'t, str>,
}

impl<'t> Found<'t> {
    fn with_id(self, place: impl FnOnce() -> Value) -> Docs<'t> {
        Docs { id: self.id.unwrap_or_else(place), text: Ok(self.text) }
    }
}

/// The docs in an item: those an object holds, as JSON or as Python writes it, else all of it.
fn in_text(text: &str) -> Found<'_> {
    // With the blanks ahead of it: places of faults are counted in it.
    let all = || Found { id: None, text: text.trim_end().into() };
    let text = text.trim();
    if !text.starts_with('{') {
        return all();
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(mut object)) => match key_of(&object) {
            Some(key) => Found { id: object.shift_remove("id"), text: member(text, key, object.remove(key)) },
            None => all(),
        },
        _ => match python::literal(text) {
            Ok(value @ Value::Object(_)) if value.get("id").is_some() => in_object(value).unwrap_or_else(all),
            _ => all(),
        },
    }
}

/// The docs of a table row, which holds text.
fn in_cell(row: Value) -> Found<'static> {
    let columns = row.to_string();
    in_object(row).unwrap_or(Found { id: None, text: columns.into() })
}

fn in_object(value: Value) -> Option<Found<'static>> {
    let Value::Object(mut object) = value else { return None };
    let docs = object.remove(key_of(&object)?);
    Some(Found { id: object.shift_remove("id"), text: written(docs).into() })
}

fn key_of(object: &Map<String, Value>) -> Option<&'static str> {
    KEYS.into_iter().find(|key| object.get(*key).is_some_and(|value| !value.is_null()))
}

/// Docs sent as text are that text; docs sent as JSON are read from where they stand.
fn member<'t>(text: &'t str, key: &str, docs: Option<Value>) -> Cow<'t, str> {
    match docs {
        Some(Value::String(docs)) => docs.into(),
        docs => value_of(text, key).map_or_else(|| written(docs).into(), Cow::Borrowed),
    }
}

fn written(docs: Option<Value>) -> String {
    match docs {
        Some(Value::String(text)) => text,
        docs => docs.unwrap_or_default().to_string(),
    }
}

/// Where a valid JSON object has the value of a key, as written; the last of several counts.
fn value_of<'t>(object: &'t str, key: &str) -> Option<&'t str> {
    let mut rest = object.strip_prefix('{')?.trim_start();
    let mut found = None;
    while rest.starts_with('"') {
        let (name, _, after) = first_value::<String>(rest)?;
        let (_, value, after) = first_value::<IgnoredAny>(after.trim_start().strip_prefix(':')?)?;
        if name == key {
            found = Some(value);
        }
        rest = after.trim_start().strip_prefix(',').unwrap_or_default().trim_start();
    }
    found
}

/// The JSON value a text begins with, how it is written, and what stands behind it.
fn first_value<'t, T: Deserialize<'t>>(text: &'t str) -> Option<(T, &'t str, &'t str)> {
    let text = text.trim_start();
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let value = values.next()?.ok()?;
    let (written, rest) = text.split_at(values.byte_offset());
    Some((value, written, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read::{Limits, ReadError, read_blocks};

    /// The ids and texts of a file.
    fn read(name: &str, text: &str) -> Vec<(Value, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut found = Vec::new();
        let limits = Limits::default();
        read_blocks(&path, format_of(&path), &limits, &mut |_| {}, &mut |block| {
            let docs = block.items.iter().flat_map(|item| docs_of(&block, item, &path));
            found.extend(
                docs.map(|docs| (docs.id, docs.text.map_or_else(|f| f.reason.into(), Cow::into_owned))),
            );
            Ok::<_, ReadError>(())
        })
        .unwrap();
        found
    }

    #[test]
    fn ids_of_any_kind_pass_and_docs_are_taken_as_they_are_written() {
        let text = concat!(
            "{\"function\": [ {\"name\": \"a\", \"name\": \"b\"} ], \"id\": 1.50}\n\n",
            "{\"id\": {\"k\": [null]}, \"tools\": \"[{'name': 'a'}]\"}\n",
            "{\"id\": null, \"functions\": {\"name\": \"a\"}, \"function\": null}\n",
        );
        let ids_and_texts = [
            ("1.50", r#"[ {"name": "a", "name": "b"} ]"#),
            (r#"{"k":[null]}"#, "[{'name': 'a'}]"),
            ("null", r#"{"name": "a"}"#),
        ];
        for name in ["docs.jsonl", "docs.json", "docs"] {
            let found = read(name, text);
            let found: Vec<_> = found.iter().map(|(id, text)| (id.to_string(), text.as_str())).collect();
            let found: Vec<_> = found.iter().map(|(id, text)| (id.as_str(), *text)).collect();
            assert_eq!(found, ids_and_texts, "{name}");
        }
    }

    #[test]
    fn bare_docs_are_called_by_their_line_and_a_file_of_docs_by_its_name() {
        let lines = "{'name': 'a'}\n[{\"name\": \"b\"}]\n";
        assert_eq!(
            read("docs.jsonl", lines),
            [
                ("line 1".into(), "{'name': 'a'}".to_owned()),
                ("line 2".into(), "[{\"name\": \"b\"}]".to_owned())
            ]
        );
        for whole in ["def now():\n    pass", "[\n{\"name\": \"a\"}\n]", "{\"name\": \"a\"}"] {
            assert_eq!(read("tools.txt", whole), [("tools.txt".into(), whole.to_owned())]);
        }
    }

    #[test]
    fn a_list_of_objects_with_ids_is_as_many_lists_of_docs() {
        let found = read(
            "docs.json",
            "[\n {\"id\": 7, \"function\": \"x\"},\n {\"id\": 8, \"tools\": [{\"name\": \"a\"}]}\n]",
        );
        assert_eq!(found, [(7.into(), "x".to_owned()), (8.into(), r#"[{"name":"a"}]"#.to_owned())]);
        let wrapped = r#"[{"type": "function", "function": {"name": "a"}}]"#;
        for list in [wrapped, "[]", " [7]"] {
            assert_eq!(read("docs.json", list), [("docs.json".into(), list.to_owned())]);
        }
    }

    #[test]
    fn a_broken_line_and_one_as_python_writes_it_stand_among_others() {
        let text = "{\"id\": 1, \"function\n{'id': 'p', 'function': [{'name': 'a', 'x': None}]}\n{\"id\": 3, \"function\": \"x\"}";
        let found = read("docs.txt", text);
        assert_eq!(found[0], ("line 1".into(), "{\"id\": 1, \"function".to_owned()));
        assert_eq!(found[1], ("p".into(), r#"[{"name":"a","x":null}]"#.to_owned()));
        assert_eq!(found[2], (3.into(), "x".to_owned()));
    }

    #[test]
    fn cells_of_a_table_are_docs_and_bytes_that_are_no_text_are_a_fault() {
        let found = read("docs.csv", "id,function\n7,\"[{\"\"name\"\": \"\"a\"\"}]\"\nx,y,z\n");
        assert_eq!(found[0], ("7".into(), r#"[{"name": "a"}]"#.to_owned()));
        assert_eq!(found[1], ("line 3".into(), "ingest/ragged-row".to_owned()));
    }
}
