//! Rows of Parquet files as JSON objects, as every reader of rows takes them.

use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;

use crate::read::{Limits, Position};
use crate::reasons::{ItemFault, LINE_TOO_LONG, NOT_UTF8};
use callsieve_engine::error::Error;
use callsieve_engine::foreign::{ForeignFile, ForeignRows, Need};

/// Returns a row as an object.
///
/// # Errors
/// `ingest/line-too-long` for a row above the limit, which is not decoded, and `ingest/not-utf8`.
pub(super) fn object_of(rows: &ForeignRows, row: usize, limit: usize) -> Result<Value, ItemFault> {
    let n_bytes = rows.row_bytes(row);
    if n_bytes > limit {
        return Err(ItemFault::new(LINE_TOO_LONG, format!("{n_bytes} bytes, the limit is {limit}")));
    }
    let row = rows.row(row);
    match row.fault {
        Some((column, what)) => Err(ItemFault::new(NOT_UTF8, format!("column {column:?}: {what}"))),
        None => Ok(Value::Object(row.object)),
    }
}

/// Reads all rows of a file with all columns, in order, and passes each with its number to `on_row`. Memory holds one stretch of rows.
///
/// # Errors
/// The file cannot be read or is not Parquet, and the errors of `on_row`.
pub fn read_rows<E: From<Error>>(
    path: &Path,
    mut on_row: impl FnMut(Position, Result<Value, ItemFault>) -> Result<(), E>,
) -> Result<(), E> {
    let file = ForeignFile::open(path)?;
    let selection = file.select(|_| Need::Read)?;
    let limit = Limits::default().max_line_bytes;
    for stretch in file.stretches(&selection) {
        let rows = file.read(&selection, stretch.clone())?;
        let read: Vec<Result<Value, ItemFault>> =
            (0..rows.height()).into_par_iter().map(|row| object_of(&rows, row, limit)).collect();
        for (row, value) in read.into_iter().enumerate() {
            on_row(Position::same((stretch.start + row + 1) as u64), value)?;
        }
    }
    Ok(())
}
