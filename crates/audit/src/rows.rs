//! Reads the rows of files as items: requests, conversations without functions, and plain texts.

use serde_json::Value;

use super::item::{Docs, Item};
use callsieve_ingest::any_row::{Reading, RowsRead, push_rows, rows_of};
use callsieve_ingest::fate::{Line, LineFate};
use callsieve_ingest::log_formats::Columns;
use callsieve_ingest::read::{Block, Position};
use callsieve_ingest::reasons::ItemFault;
use callsieve_text::content_hash::content_hash;

/// A row of a file, read.
#[derive(Debug)]
pub struct ReadRow {
    /// Where it is.
    pub position: Position,
    /// Its own id.
    pub id: Option<String>,
    /// What it holds; `None` where it is blank or cannot be read.
    pub item: Option<Item>,
    /// Why it cannot be read.
    pub fault: Option<ItemFault>,
}

/// Where the text of a row is that is no request for a function call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fallback {
    /// Keys of texts, with dots into objects. Empty: the usual keys of conversations and instructions.
    pub fields: Vec<String>,
}

/// Reads the rows of a block, in order; the parts of one item are one row.
pub fn items_of(block: &Block, columns: &Columns, fallback: &Fallback) -> Vec<ReadRow> {
    let reading = Reading { columns, rows: RowsRead::All, text_fields: &fallback.fields, known_lists: None };
    rows_from(rows_of(block, &reading))
}

/// Reads a row of a table that is no text; its parts are one row.
pub fn items_of_value(
    position: Position,
    value: Value,
    columns: &Columns,
    fallback: &Fallback,
) -> Vec<ReadRow> {
    let reading = Reading { columns, rows: RowsRead::All, text_fields: &fallback.fields, known_lists: None };
    let mut lines = Vec::with_capacity(1);
    push_rows(position, content_hash(value.to_string()), value, &reading, &mut lines);
    rows_from(lines)
}

fn rows_from(lines: Vec<Line>) -> Vec<ReadRow> {
    let mut rows: Vec<ReadRow> = Vec::with_capacity(lines.len());
    for line in lines {
        let position = Position { line: line.line, record: line.record };
        if line.part == 0 {
            rows.push(ReadRow { position, id: None, item: None, fault: None });
        }
        match (rows.last_mut(), line.fate) {
            (Some(row), LineFate::Record(record)) => row.add(*record),
            (Some(row), LineFate::Unreadable(fault)) => row.fault = Some(fault),
            _ => {}
        }
    }
    rows
}

impl ReadRow {
    fn add(&mut self, record: callsieve_ingest::fate::Record) {
        self.id = self.id.take().or_else(|| record.external_id.clone());
        let other = Item::of_record(record);
        let item = self.item.get_or_insert_default();
        item.queries.extend(other.queries);
        item.calls.extend(other.calls);
        if item.functions == Docs::None {
            item.functions = other.functions;
        }
    }
}
