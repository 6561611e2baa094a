//! What `fix` is given: items of a file, each the text of a doc list with an id.
//!
//! An item is an object that holds docs under one of `KEYS`, or it is docs itself. The
//! text is passed on as it is in the file, so that what only the text shows (repeated
//! keys) is not lost. Nothing is lost: what holds no text is a fault with an id.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::ingest::read::{Block, FileFormat, Item};
use crate::ingest::reasons::{ItemFault, NOT_UTF8};
use crate::notation::python::{self, Literal};

/// Where an object may hold docs, the likeliest first.
const KEYS: [&str; 3] = ["function", "functions", "tools"];

/// One doc list as sent.
#[derive(Debug, PartialEq)]
pub(super) struct Docs<'t> {
    /// Its own id, or its place.
    pub(super) id: Value,
    /// Its text, or why there is none.
    pub(super) text: Result<Cow<'t, str>, ItemFault>,
}

/// How a file is cut: the name shows tables and lines, the beginning shows the rest.
pub(super) fn format_of(path: &Path) -> FileFormat {
    match FileFormat::of(path) {
        FileFormat::Json | FileFormat::Text => FileFormat::Docs,
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
        Err(error) => failed(ItemFault::new(NOT_UTF8, format!("byte {} is not UTF-8", error.valid_up_to()))),
    }
}

/// The docs in a JSON list whose elements all have an id and docs; any other list is docs itself. A `type` says that
/// an element is a function in an API's frame.
fn in_list(text: &str) -> Option<Vec<Docs<'_>>> {
    let docs = |element| {
        let found = in_text(element);
        Some(Docs { id: found.id?, text: Ok(found.text) })
    };
    let is_framed =
        |element: &&str| members_of(element).is_none_or(|all| all.iter().any(|(key, _)| key == "type"));
    let elements = elements_of(text)?;
    if elements.is_empty() || elements.iter().any(is_framed) {
        return None;
    }
    elements.into_iter().map(docs).collect()
}

/// What an item without an id is called: its line, or the file where it is all there is.
fn place(block: &Block, item: &Item, path: &Path) -> Value {
    let is_all = block.items.len() == 1 && item.line == 1 && format_of(path) == FileFormat::Docs;
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
    // With the blanks before it: places of faults are counted from them.
    let all = |id| Found { id, text: text.trim_end().into() };
    let text = text.trim();
    if !text.starts_with('{') {
        return all(None);
    }
    if let Some(members) = members_of(text) {
        let id = || last_of(&members, "id").and_then(|id| serde_json::from_str(id).ok());
        return match &holders(&members)[..] {
            [] => all(None),
            [docs] => Found { id: id(), text: as_sent(docs) },
            // Which of them holds the docs is for the reader of docs, who is given them all.
            _ => all(id()),
        };
    }
    match python::read(text) {
        Ok(Literal { value: Value::Object(mut object), repeated, .. }) if object.contains_key("id") => {
            if repeated.is_empty() {
                in_object(Value::Object(object)).unwrap_or_else(|| all(None))
            } else {
                all(object.shift_remove("id"))
            }
        }
        _ => all(None),
    }
}

/// The docs of a table row, which holds text.
fn in_cell(row: Value) -> Found<'static> {
    let columns = row.to_string();
    in_object(row).unwrap_or(Found { id: None, text: columns.into() })
}

/// The docs that an object holds; where it holds them under several keys, the object itself.
fn in_object(value: Value) -> Option<Found<'static>> {
    let Value::Object(mut object) = value else { return None };
    let holds = |key: &&&str| object.get(**key).is_some_and(|value| !value.is_null());
    let says = |key: &&&str| object.get(**key).is_some_and(|value| !is_nothing(&value.to_string()));
    let mut said = KEYS.iter().filter(says);
    let (first, second) = (said.next(), said.next());
    let key = *first.or_else(|| KEYS.iter().find(holds))?;
    let id = object.shift_remove("id");
    let text = if second.is_some() { Value::Object(object).to_string() } else { written(object.remove(key)) };
    Some(Found { id, text: text.into() })
}

/// The values under the keys that hold docs, as written: those with content, or else the first.
fn holders<'t>(members: &[(String, &'t str)]) -> Vec<&'t str> {
    let under = |wanted: &&str| -> Vec<&'t str> {
        members.iter().filter(|(key, _)| key == wanted).map(|(_, value)| *value).collect()
    };
    let mut found: Vec<&str> = KEYS.iter().flat_map(under).collect();
    found.retain(|value| *value != "null");
    if found.iter().any(|value| !is_nothing(value)) {
        found.retain(|value| !is_nothing(value));
    } else {
        found.truncate(1);
    }
    found
}

/// Whether a JSON value is written that holds nothing.
fn is_nothing(value: &str) -> bool {
    let bare: String = value.chars().filter(|c| !c.is_whitespace()).take(5).collect();
    matches!(bare.as_str(), "null" | "[]" | "{}" | "\"\"")
}

/// Docs sent as text are that text; docs sent as JSON are read in place.
fn as_sent(value: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(value).map_or(Cow::Borrowed(value), Cow::Owned)
}

fn written(docs: Option<Value>) -> String {
    match docs {
        Some(Value::String(text)) => text,
        docs => docs.unwrap_or_default().to_string(),
    }
}

/// The last value of a key.
fn last_of<'t>(members: &[(String, &'t str)], key: &str) -> Option<&'t str> {
    members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
}

/// The members of a text that is a JSON object, with their values as written.
fn members_of(object: &str) -> Option<Vec<(String, &str)>> {
    let mut rest = object.trim().strip_prefix('{')?.trim_start();
    let mut members = Vec::new();
    if rest == "}" {
        return Some(members);
    }
    loop {
        let (name, _, after) = first_value::<String>(rest)?;
        let (_, value, after) = first_value::<IgnoredAny>(after.trim_start().strip_prefix(':')?)?;
        members.push((name, value));
        match after.trim_start() {
            "}" => return Some(members),
            more => rest = more.strip_prefix(',')?.trim_start(),
        }
    }
}

/// The elements of a text that is a JSON list, as written.
fn elements_of(list: &str) -> Option<Vec<&str>> {
    let mut rest = list.trim().strip_prefix('[')?.trim_start();
    let mut elements = Vec::new();
    if rest == "]" {
        return Some(elements);
    }
    loop {
        let (_, element, after) = first_value::<IgnoredAny>(rest)?;
        elements.push(element);
        match after.trim_start() {
            "]" => return Some(elements),
            more => rest = more.strip_prefix(',')?.trim_start(),
        }
    }
}

/// The JSON value a text begins with, how it is written, and what follows it.
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
        assert_eq!(found, [(7.into(), "x".to_owned()), (8.into(), r#"[{"name": "a"}]"#.to_owned())]);
        let wrapped = r#"[{"type": "function", "function": {"name": "a"}}]"#;
        for list in [wrapped, "[]", " [7]"] {
            assert_eq!(read("docs.json", list), [("docs.json".into(), list.to_owned())]);
        }
    }

    #[test]
    fn no_holder_of_docs_is_lost() {
        for several in [
            r#"{"id": 1, "tools": [{"name": "a"}], "functions": [{"name": "b"}]}"#,
            r#"{"id": 1, "function": [{"name": "a"}], "function": [{"name": "b"}]}"#,
            "{'id': 1, 'function': [{'name': 'a', 'name': 'b'}]}",
        ] {
            assert_eq!(read("docs.jsonl", several), [(1.into(), several.to_owned())]);
        }
        let nothing = r#"{"id": 1, "function": [], "tools": [{"name": "a"}], "functions": null}"#;
        assert_eq!(read("docs.jsonl", nothing), [(1.into(), r#"[{"name": "a"}]"#.to_owned())]);
        let empty = r#"{"id": 1, "function": []}"#;
        assert_eq!(read("docs.jsonl", empty), [(1.into(), "[]".to_owned())]);
    }

    #[test]
    fn a_list_keeps_what_only_its_text_shows() {
        let docs = r#"[{"name": "a", "name": "b"}]"#;
        let list = format!("[{{\"id\": 7, \"function\": {docs}}}]");
        assert_eq!(read("docs.json", &list), [(7.into(), docs.to_owned())]);
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
