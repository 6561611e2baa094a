//! Reads the files of benchmarks: the first record, by which a format is recognised, and all records.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use super::entry::{At, Result};
use crate::AuditError;
use crate::rows::Fallback;
use callsieve_ingest::foreign_rows::read_rows;
use callsieve_ingest::lenient::json;
use callsieve_ingest::log_formats::Columns;
use callsieve_ingest::read::{Block, FileFormat, Limits, Position, read_blocks};

/// How rows without signs are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// The columns of rows.
    pub(crate) columns: &'a Columns,
    /// The keys of texts.
    pub(crate) fallback: &'a Fallback,
    /// The columns of the format `columns`.
    pub(crate) named: &'a super::columns::BenchColumns,
}

/// The beginning of a file.
#[derive(Debug)]
pub(super) struct Peek<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Its first record, unless it is Python.
    pub(super) first: Option<Value>,
    /// The beginning of a Python file.
    pub(super) python: Option<String>,
}

/// Bytes of a Python file that are looked at.
const PEEK_BYTES: u64 = 16 << 10;

/// The first record is enough.
#[derive(Debug)]
enum Stop {
    Found(Option<Value>),
    Error(AuditError),
}

impl<E: Into<AuditError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Whether a file is Parquet by its name.
pub(super) fn is_parquet(path: &Path) -> bool {
    matches!(callsieve_ingest::source::Reading::of(path), callsieve_ingest::source::Reading::Parquet)
}

/// Returns the first row of a Parquet file.
fn first_row(path: &Path) -> Result<Option<Value>> {
    match read_rows(path, |_, row| Err(Stop::Found(row.ok()))) {
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Found(first)) => Ok(first),
        Ok(()) => Ok(None),
    }
}

impl Peek<'_> {
    /// Looks at the beginning of a file.
    pub(super) fn with<T>(path: &Path, look: impl FnOnce(&Peek<'_>) -> T) -> Result<T> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "py") {
            let file = std::fs::File::open(path).map_err(|cause| AuditError::read(path, cause))?;
            let mut bytes = Vec::new();
            file.take(PEEK_BYTES).read_to_end(&mut bytes).map_err(|cause| AuditError::read(path, cause))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(look(&Peek { name: &name, first: None, python: Some(text) }));
        }
        let first = if is_parquet(path) { first_row(path) } else { Self::first_record(path) }?;
        Ok(look(&Peek { name: &name, first, python: None }))
    }

    /// Returns the first record of a text that is not blank, if it can be read.
    fn first_record(path: &Path) -> Result<Option<Value>> {
        let limits = Limits { block_bytes: 1, ..Limits::default() };
        let first = |block: Block| match block.items.iter().find_map(|item| value(&block, item)) {
            None if block.items.iter().all(|item| item.bytes.is_ok()) => Ok(()),
            found => Err(Stop::Found(found.and_then(std::result::Result::ok))),
        };
        match read_blocks(path, FileFormat::of(path), &limits, &mut |_| {}, &mut { first }) {
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Found(first)) => Ok(first),
            Ok(_) => Ok(None),
        }
    }

    /// Returns whether the first record is like this.
    pub(super) fn first_is(&self, is_so: impl FnOnce(&Value) -> bool) -> bool {
        self.first.as_ref().is_some_and(is_so)
    }
}

/// Returns the value of an item; `None` for a blank one.
fn value(block: &Block, item: &callsieve_ingest::read::Item) -> Option<std::result::Result<Value, String>> {
    let bytes = match &item.bytes {
        Ok(range) => block.text[range.clone()].trim_ascii(),
        Err(fault) => return Some(Err(fault.detail.clone())),
    };
    if bytes.is_empty() {
        return None;
    }
    Some(match &block.header {
        Some(header) => header.row(bytes).map_err(|fault| fault.detail),
        None => json(bytes).map_err(|error| format!("no JSON: {error}")),
    })
}

/// Reads all records of a file.
pub(super) fn records(path: &Path, format: &'static str) -> Result<Vec<(Position, Value)>> {
    let mut records = Vec::new();
    let unreadable = |line: u64, found: String| {
        let at = At { path, line, format };
        at.bad("the record", "a JSON object or a row of the table", found)
    };
    if is_parquet(path) {
        read_rows(path, |at, row| {
            records.push((at, row.map_err(|fault| unreadable(at.line, fault.detail))?));
            Ok::<_, AuditError>(())
        })?;
        return Ok(records);
    }
    read_blocks(path, FileFormat::of(path), &Limits::default(), &mut |_| {}, &mut |block| {
        for item in &block.items {
            match value(&block, item) {
                Some(Ok(value)) => records.push((item.position(), value)),
                Some(Err(found)) => return Err(unreadable(item.line, found)),
                None => {}
            }
        }
        Ok::<_, AuditError>(())
    })?;
    Ok(records)
}

/// Reads a whole text file.
pub(super) fn text_of(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|cause| AuditError::read(path, cause))
}
