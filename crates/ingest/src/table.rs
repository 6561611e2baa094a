//! Converts rows of CSV and TSV files to JSON objects, with the names of the header and every cell as a string.
//!
//! A row with more or fewer cells than the header is a fault, not padded: such a row has usually lost a quote, and its
//! cells are in the wrong columns.

use serde_json::{Map, Value};

use crate::reasons::{ItemFault, NOT_UTF8, RAGGED_ROW};

/// The first row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    delimiter: u8,
    names: Vec<String>,
    /// Its row as it is in the file, and the line that names the delimiter, if one is before it.
    row: Vec<u8>,
}

impl Header {
    /// Reads the header row; bytes that are not UTF-8 become replacement characters.
    pub fn read(row: &[u8], delimiter: u8) -> Self {
        let cells = cells(row, delimiter);
        let names = cells.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
        Self { delimiter, names, row: row.to_vec() }
    }

    /// Returns the header with a line before it.
    #[must_use]
    pub(super) fn after(mut self, line: Vec<u8>) -> Self {
        self.row.splice(..0, line);
        self
    }

    /// Returns the names of its columns.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns a header of other names.
    pub(super) fn with_names(&self, names: Vec<String>) -> Self {
        Self { names, ..self.clone() }
    }

    /// Returns its row as it is in the file.
    pub fn bytes(&self) -> &[u8] {
        &self.row
    }

    /// Reads one row; of two columns with the same name, the first is used.
    ///
    /// # Errors
    /// `ingest/ragged-row` and `ingest/not-utf8`.
    pub fn row(&self, row: &[u8]) -> Result<Value, ItemFault> {
        let cells = cells(row, self.delimiter);
        if cells.len() != self.names.len() {
            let (got, want) = (cells.len(), self.names.len());
            return Err(ItemFault::new(RAGGED_ROW, format!("{got} cells under a header of {want}")));
        }
        let mut object = Map::with_capacity(cells.len());
        for (name, cell) in self.names.iter().zip(&cells) {
            let text = std::str::from_utf8(cell)
                .map_err(|error| ItemFault::new(NOT_UTF8, format!("column {name:?}: {error}")))?;
            object.entry(name.as_str()).or_insert_with(|| text.into());
        }
        Ok(Value::Object(object))
    }
}

/// Returns the delimiter that a line names: spreadsheets write and read `sep=;` before the header.
pub(super) fn named_delimiter(line: &[u8]) -> Option<u8> {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))? + 1;
    let line = &line[..end];
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    let (name, delimiter) = line.split_at_checked(SEPARATOR_NAME.len())?;
    match delimiter {
        [delimiter] if name.eq_ignore_ascii_case(SEPARATOR_NAME) => Some(*delimiter),
        _ => None,
    }
}

const SEPARATOR_NAME: &[u8] = b"sep=";

fn cells(row: &[u8], delimiter: u8) -> csv::ByteRecord {
    let mut cells = csv::ByteRecord::new();
    // One reader per row costs about a microsecond. So `split` cuts the rows, and line numbers stay under our control.
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(row.len().clamp(64, 64 * 1024))
        .from_reader(row);
    reader.read_byte_record(&mut cells).expect("a flexible byte record read from memory cannot fail");
    cells
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_becomes_an_object_of_strings() {
        let header = Header::read(b"query, n ,query\r\n", b',');
        let row = header.row(b"\"a, \"\"b\"\"\nc\",1,later\r\n").unwrap();
        assert_eq!(row, json!({"query": "a, \"b\"\nc", "n": "1"}));
    }

    #[test]
    fn a_line_that_names_the_delimiter_is_told_from_a_header() {
        for (line, expected) in [
            (&b"sep=;\r\n"[..], Some(b';')),
            (b"SEP=\t\n", Some(b'\t')),
            (b"\"sep=|\"\r", Some(b'|')),
            (b"sep=,", Some(b',')),
            (b"sep=", None),
            (b"sep=;;", None),
            (b"sep;query", None),
            (b"\r\n", None),
        ] {
            assert_eq!(named_delimiter(line), expected, "{line:?}");
        }
        let header = Header::read(b"a;b\r", b';').after(b"sep=;\r".to_vec());
        assert_eq!((header.bytes(), header.names().len()), (&b"sep=;\ra;b\r"[..], 2));
    }

    #[test]
    fn a_row_of_another_width_and_one_of_invalid_text_are_faults() {
        let header = Header::read(b"a\tb", b'\t');
        assert_eq!(
            header.row(b"1\t2\t3"),
            Err(ItemFault::new(RAGGED_ROW, "3 cells under a header of 2".to_owned()))
        );
        assert_eq!(header.row(b"1\t\xff").unwrap_err().reason, NOT_UTF8);
    }
}
