//! Reads the files of benchmarks: the first record, by which a format is recognised, and all records.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use super::entry::{At, Result};
use crate::AuditError;
use crate::rows::Fallback;
use callsieve_ingest::lenient::json;
use callsieve_ingest::log_formats::Columns;
use callsieve_ingest::read::{Block, FileFormat, Limits, Position, ReadError, read_blocks};

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
    Error(ReadError),
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Self::Error(error)
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
        let limits = Limits { block_bytes: 1, ..Limits::default() };
        let first = |block: Block| match block.items.iter().find_map(|item| value(&block, item)) {
            None if block.items.iter().all(|item| item.bytes.is_ok()) => Ok(()),
            found => Err(Stop::Found(found.and_then(std::result::Result::ok))),
        };
        let first = match read_blocks(path, FileFormat::of(path), &limits, &mut |_| {}, &mut { first }) {
            Err(Stop::Error(error)) => return Err(error.into()),
            Err(Stop::Found(first)) => first,
            Ok(_) => None,
        };
        Ok(look(&Peek { name: &name, first, python: None }))
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
    read_blocks(path, FileFormat::of(path), &Limits::default(), &mut |_| {}, &mut |block| {
        for item in &block.items {
            let at = At { path, line: item.line, format };
            match value(&block, item) {
                Some(Ok(value)) => records.push((item.position(), value)),
                Some(Err(found)) => {
                    return Err(at.bad("the record", "a JSON object or a row of the table", found));
                }
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
