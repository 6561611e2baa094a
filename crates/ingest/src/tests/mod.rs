//! Tests of whole files, from bytes on disk to fates.

mod apis;
mod files;
mod laws;
mod lines;
mod samples;
mod stopping;
mod traces;

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression as GzipLevel;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::any_row::{Reading, RowsRead, push_rows, rows_of};
use crate::fate::{Line, LineFate, Record};
use crate::log_formats::Columns;
use crate::log_formats::names::is_read;
use crate::read::{Block, FileFacts, FileFormat, Item, Limits, Position, ReadError, read_blocks};
use crate::reasons::{ItemFault, RESPONSE_WITHOUT_REQUEST};
use crate::record::{push_lines, record_of_value, records_of};
use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_text::content_hash::content_hash;

const ROW: &str = r#"{"prompt": "hi", "function": "[]"}"#;

/// Checks a line against the simple way: the value of all of it.
fn assert_docs_are_read_like_values(line: &str) {
    let text = line.trim_matches([' ', '\t', '\r', '\n']);
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let item = Item { line: 1, record: 1, n_items: 1, bytes: Ok(0..text.len()) };
    let bytes = text.as_bytes().to_vec().into();
    let block = Block { text: bytes, items: vec![item], header: None, is_array: false, is_text: false };
    for rows in [RowsRead::Requests, RowsRead::All] {
        let reading = Reading { columns: &Columns::default(), rows, text_fields: &[], known_lists: None };
        let mut by_values = Vec::new();
        push_rows(Position::same(1), content_hash(text), value.clone(), &reading, &mut by_values);
        assert_eq!(rows_of(&block, &reading), by_values, "{line}");
    }
}

/// Returns the fates of a file of this name and content; checks that nothing is lost.
fn read_with(name: &str, content: &[u8], limits: &Limits) -> (Vec<Line>, FileFacts) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let (mut raw, mut lines) = (Vec::new(), Vec::new());
    let facts = read_blocks::<ReadError>(
        &path,
        FileFormat::of(&path),
        limits,
        &mut |bytes| raw.extend_from_slice(bytes),
        &mut |block| {
            lines.extend(records_of(&block, &Columns::default(), None));
            Ok(())
        },
    );
    let facts = facts.unwrap();
    assert_eq!(raw, content, "every byte of the file is seen once");
    assert_eq!(facts.raw_bytes, content.len() as u64);
    let distinct: BTreeSet<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    for line in distinct.into_iter().filter_map(|line| serde_json::from_slice(line).ok()) {
        assert_unread_keys_change_nothing(&line);
    }
    // A file is read with blocks of many sizes, which its lines do not know.
    if limits.block_bytes == Limits::default().block_bytes {
        let lines = content.split(|byte| *byte == b'\n');
        lines.for_each(|line| assert_docs_are_read_like_values(&String::from_utf8_lossy(line)));
    }
    let mut n_first = 0;
    for line in &lines {
        if line.part == 0 {
            assert_eq!(line.record, n_first + 1, "items are numbered without a gap");
            n_first += line.n_items;
        } else {
            assert_eq!(line.record, n_first, "parts have the number of their item");
        }
        assert!(facts.by_record || line.record == line.line, "{line:?}");
    }
    assert_eq!(facts.n_items, n_first, "every item has one first part");
    (lines, facts)
}

fn read(name: &str, content: impl AsRef<[u8]>) -> Vec<Line> {
    read_with(name, content.as_ref(), &Limits::default()).0
}

/// Returns line numbers with the fate of the line in one word; blank lines are counted one by one.
fn outline(lines: &[Line]) -> Vec<(u64, &'static str)> {
    let word = |fate: &LineFate| match fate {
        LineFate::Record(_) => "record",
        LineFate::Answer(_) => RESPONSE_WITHOUT_REQUEST,
        LineFate::NoRequest(fault) | LineFate::Unreadable(fault) => fault.reason,
    };
    let each = |line: &Line| {
        (line.line..line.line + line.n_items).map(|n| (n, word(&line.fate))).collect::<Vec<_>>()
    };
    lines.iter().flat_map(each).collect()
}

/// Returns line numbers with the numbers of the items.
fn positions(lines: &[Line]) -> Vec<(u64, u64)> {
    lines.iter().map(|line| (line.line, line.record)).collect()
}

fn record(fate: LineFate) -> Record {
    match fate {
        LineFate::Record(record) => *record,
        other => panic!("no record: {other:?}"),
    }
}

fn record_of(value: &Value) -> Record {
    assert_unread_keys_change_nothing(value);
    record(record_of_value(1, 0, value.clone(), &Columns::default()))
}

/// Asserts that a line has the same result without the keys of no table, which are not decoded in a wide Parquet file.
fn assert_unread_keys_change_nothing(value: &Value) {
    let Value::Object(fields) = value else { return };
    let columns = Columns::default();
    let without = |(key, value): (&String, &Value)| {
        (key.clone(), if is_read(key, &columns) { value.clone() } else { Value::Null })
    };
    let pruned = Value::Object(fields.iter().map(without).collect());
    // The reason of a line without a request may depend on any key, so only requests are compared.
    let given = |value: Value| {
        let mut lines = Vec::new();
        push_lines(Position::same(1), 0, value, &columns, &mut lines);
        lines.retain(|line| matches!(line.fate, LineFate::Record(_) | LineFate::Answer(_)));
        for line in &mut lines {
            line.part = 0;
            match &mut line.fate {
                LineFate::Record(record) => record.content_key = 0,
                fate => *fate = LineFate::NoRequest(ItemFault::new(RESPONSE_WITHOUT_REQUEST, "")),
            }
        }
        lines
    };
    assert_eq!(given(value.clone()), given(pruned), "{value}");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), GzipLevel::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Returns a call of the assistant.
fn call(id: Option<&str>, name: &str, arguments: Value) -> Call {
    Call { id: id.map(str::to_owned), name: name.to_owned(), arguments }
}

/// Returns an assistant's message with calls.
fn calling(text: &str, calls: Vec<Call>) -> Message {
    Message { calls, ..Message::text(Role::Assistant, text) }
}

/// Returns the result of a call.
fn result(call_id: Option<&str>, text: &str) -> Message {
    Message { call_id: call_id.map(str::to_owned), ..Message::text(Role::Tool, text) }
}
