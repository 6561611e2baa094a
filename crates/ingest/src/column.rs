//! Reads one column of a file, for commands that compare rows by a text and ignore the rest.
//!
//! Rows are objects of JSONL or JSON, or rows of CSV, TSV or Parquet. A row that lacks the column or cannot be read is
//! counted and listed, never silently lost.

use std::path::Path;

use rayon::prelude::*;
use serde::de::DeserializeSeed as _;
use serde_json::Value;

use crate::fields::{Field, PickedFields};
use crate::foreign_rows;
use crate::read::{Block, Item, Limits, ReadError, read_blocks};
use crate::reasons::{ItemFault, NOT_JSON, NOT_UTF8};
use crate::source::Reading;
use callsieve_engine::error::Error;
use callsieve_engine::foreign::{ForeignFile, Need};

/// The columns to read from a file.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The column of texts.
    pub field: Field,
    /// The column of ids. Without one, a row is identified by its line, or in Parquet by its number, from 1.
    pub id_field: Option<Field>,
    /// Converts a value that is not a text to text.
    pub written: fn(&Value) -> String,
}

/// The texts of a column.
#[derive(Debug, Default)]
pub struct Column {
    /// The id of each row with a text.
    pub ids: Vec<Value>,
    /// The texts.
    pub texts: Vec<String>,
    /// The ids of rows without a text; null counts as none.
    pub without_text: Vec<Value>,
    /// The lines of unreadable rows, and their faults.
    pub unreadable: Vec<(u64, ItemFault)>,
    /// The keys of the first row, for hints.
    pub keys: Vec<String>,
}

/// Why a column cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ColumnError {
    /// The file cannot be read.
    #[error(transparent)]
    Text(#[from] ReadError),
    /// The Parquet file cannot be read.
    #[error(transparent)]
    Parquet(#[from] Error),
}

/// The result of a row.
enum Row {
    Text(Value, String),
    Without(Value),
    Unreadable(u64, ItemFault),
    Blank,
}

impl Column {
    /// Reads a column of a file; its name determines the format.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is named like a Parquet file and is not one.
    pub fn read(path: &Path, wanted: &Wanted) -> Result<Self, ColumnError> {
        let mut column = Self::default();
        match Reading::of(path) {
            Reading::Parquet => column.add_parquet(&ForeignFile::open(path)?, wanted)?,
            Reading::Text(format) => {
                read_blocks(path, format, &Limits::default(), &mut |_| {}, &mut |block| {
                    column.add_block(&block, wanted);
                    Ok::<(), ColumnError>(())
                })?;
            }
        }
        Ok(column)
    }

    fn add_block(&mut self, block: &Block, wanted: &Wanted) {
        if self.keys.is_empty() {
            self.keys = block.items.iter().find_map(|item| keys_of(block, item)).unwrap_or_default();
        }
        let rows: Vec<Row> = block.items.par_iter().map(|item| row_of(block, item, wanted)).collect();
        self.extend(rows);
    }

    fn add_parquet(&mut self, file: &ForeignFile, wanted: &Wanted) -> Result<(), Error> {
        self.keys = file.names().map(str::to_owned).collect();
        let is_wanted = |name: &str| {
            let mut fields = std::iter::once(&wanted.field).chain(&wanted.id_field);
            fields.any(|field| field.name() == name || field.first_key() == name)
        };
        let selection = file.select(|name| if is_wanted(name) { Need::Read } else { Need::No })?;
        let limit = Limits::default().max_line_bytes;
        for stretch in file.stretches(&selection) {
            let rows = file.read(&selection, stretch.clone())?;
            let read = |row: usize| {
                let line = (stretch.start + row) as u64 + 1;
                match foreign_rows::object_of(&rows, row, limit) {
                    Err(fault) => Row::Unreadable(line, fault),
                    Ok(object) => picked_row(line, object, wanted),
                }
            };
            let rows: Vec<Row> = (0..rows.height()).into_par_iter().map(read).collect();
            self.extend(rows);
        }
        Ok(())
    }

    fn extend(&mut self, rows: Vec<Row>) {
        for row in rows {
            match row {
                Row::Text(id, text) => {
                    self.ids.push(id);
                    self.texts.push(text);
                }
                Row::Without(id) => self.without_text.push(id),
                Row::Unreadable(line, fault) => self.unreadable.push((line, fault)),
                Row::Blank => {}
            }
        }
    }
}

/// Returns the keys of a row, if it can be read.
fn keys_of(block: &Block, item: &Item) -> Option<Vec<String>> {
    let bytes = &block.text[item.bytes.clone().ok()?];
    let value = match &block.header {
        Some(header) => header.row(bytes).ok()?,
        None => serde_json::from_slice(bytes).ok()?,
    };
    Some(value.as_object()?.keys().cloned().collect())
}

fn row_of(block: &Block, item: &Item, wanted: &Wanted) -> Row {
    let bytes = match &item.bytes {
        Ok(range) => &block.text[range.clone()],
        Err(fault) => return Row::Unreadable(item.line, fault.clone()),
    };
    if bytes.trim_ascii().is_empty() {
        return Row::Blank;
    }
    let row = match &block.header {
        Some(header) => header.row(bytes),
        None => picked(bytes, wanted),
    };
    match row {
        Ok(row) => picked_row(item.line, row, wanted),
        Err(fault) => Row::Unreadable(item.line, fault),
    }
}

/// Returns the members of a line's object that are needed.
fn picked(line: &[u8], wanted: &Wanted) -> Result<Value, ItemFault> {
    let fields: Vec<&Field> = std::iter::once(&wanted.field).chain(&wanted.id_field).collect();
    let text = std::str::from_utf8(line)
        .map_err(|error| ItemFault::new(NOT_UTF8, format!("byte {} of the line", error.valid_up_to())))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let object =
        PickedFields(&fields).deserialize(&mut reader).and_then(|object| reader.end().map(|()| object));
    object.map_err(|error| ItemFault::new(NOT_JSON, error.to_string()))
}

fn picked_row(line: u64, mut row: Value, wanted: &Wanted) -> Row {
    let text = wanted.field.of(&mut row);
    let id = wanted.id_field.as_ref().map_or(Some(line.into()), |field| field.of(&mut row));
    let id = id.unwrap_or_else(|| Value::from(line));
    match text {
        Some(Value::String(text)) => Row::Text(id, text),
        Some(other) => Row::Text(id, (wanted.written)(&other)),
        None => Row::Without(id),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(name: &str, text: &str, field: &str, id_field: Option<&str>) -> Column {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let wanted = Wanted {
            field: Field::new(field),
            id_field: id_field.map(Field::new),
            written: Value::to_string,
        };
        Column::read(&path, &wanted).unwrap()
    }

    #[test]
    fn lines_of_json_have_texts_and_rows_without_one_are_listed() {
        let text = "{\"q\": {\"text\": \"one\"}, \"id\": \"a\"}\n\n{\"q\": null}\nnot json\n{\"q\": {\"text\": [1, 2]}}\n[1]\n";
        let column = read("rows.jsonl", text, "q.text", Some("id"));
        assert_eq!(column.texts, ["one", "[1,2]"]);
        assert_eq!(column.ids, [json!("a"), json!(5)]);
        assert_eq!(column.without_text, [json!(3)]);
        let lines: Vec<u64> = column.unreadable.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 6]);
        assert_eq!(column.keys, ["q", "id"]);
    }

    #[test]
    fn an_unreadable_line_has_the_reason_that_it_has_in_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        std::fs::write(&path, b"{\"q\": \"\xff\"}\n{\"q\": 1\n{\"q\": \"a\"} b\n").unwrap();
        let wanted = Wanted { field: Field::new("q"), id_field: None, written: Value::to_string };
        let column = Column::read(&path, &wanted).unwrap();
        let reasons: Vec<&str> = column.unreadable.iter().map(|(_, fault)| fault.reason).collect();
        assert_eq!(reasons, ["ingest/not-utf8", "ingest/not-json", "ingest/not-json"]);
    }

    #[test]
    fn cells_of_a_table_are_read() {
        let column = read("rows.csv", "id,q\n7,\"a, b\"\n8,c\n9\n", "q", Some("id"));
        assert_eq!(column.texts, ["a, b", "c"]);
        assert_eq!(column.ids, [json!("7"), json!("8")]);
        assert_eq!(column.unreadable[0].0, 4);
    }

    #[test]
    fn a_list_of_objects_is_rows_too() {
        let column = read("rows.json", "[{\"q\": \"a\"},\n {\"q\": \"b\"}]", "q", None);
        assert_eq!(
            (column.texts, column.ids),
            (vec!["a".to_owned(), "b".to_owned()], vec![json!(1), json!(2)])
        );
    }
}
