//! Buffers the cells of rows by column until their batch is full.

use super::BATCH_BYTES;
use super::rows::RowCells;
use crate::division::BatchRows;
use crate::error::{Error, Result};
use crate::frame::{Columns, FrameWriter, Values};
use crate::vocabulary::{Cell, ColumnKind, ColumnSpec, TableId};

/// The rows of an incomplete batch.
pub(super) struct Pending {
    columns: Vec<(ColumnSpec, Buffer)>,
    max_rows: BatchRows,
    n_rows: usize,
    bytes: usize,
}

enum Buffer {
    Text(Vec<Option<String>>),
    Int(Vec<Option<i64>>),
}

impl Pending {
    /// Returns an empty batch of a table of at most `max_rows` rows, with those of `columns` that belong to the table.
    pub(super) fn of(table: TableId, columns: &[ColumnSpec], max_rows: BatchRows) -> Self {
        let own = columns.iter().copied().filter(|column| column.table == table);
        let buffer = |column: ColumnSpec| match column.kind {
            ColumnKind::Text => (column, Buffer::Text(Vec::new())),
            ColumnKind::Int => (column, Buffer::Int(Vec::new())),
        };
        Self { columns: own.map(buffer).collect(), max_rows, n_rows: 0, bytes: 0 }
    }

    /// Returns its columns.
    pub(super) fn columns(&self) -> Vec<ColumnSpec> {
        self.columns.iter().map(|(column, _)| *column).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Returns `true` if the batch is complete.
    pub(super) fn is_full(&self) -> bool {
        self.n_rows >= self.max_rows.get() || self.bytes >= BATCH_BYTES
    }

    /// Adds a row.
    ///
    /// # Errors
    /// A cell belongs to an undeclared column or has another kind: an internal error in the source.
    pub(super) fn push(&mut self, cells: RowCells) -> Result<()> {
        for (_, buffer) in &mut self.columns {
            match buffer {
                Buffer::Text(cells) => cells.push(None),
                Buffer::Int(cells) => cells.push(None),
            }
        }
        self.n_rows += 1;
        for (name, cell) in cells.0 {
            let declared = self.columns.iter_mut().find(|(column, _)| column.name == name);
            match (declared.map(|(_, buffer)| buffer), cell) {
                (Some(Buffer::Text(cells)), Cell::Text(text)) => {
                    self.bytes += text.len();
                    put(cells, text);
                }
                (Some(Buffer::Int(cells)), Cell::Int(number)) => put(cells, number),
                (_, cell) => {
                    let what = format!("column {name} is not declared, or cannot hold {cell:?}");
                    return Err(Error::Verdict { stage: "ingest".to_owned(), what });
                }
            }
        }
        Ok(())
    }

    /// Writes the rows as a batch and clears the buffer. Returns the number of rows.
    pub(super) fn write_to(&mut self, file: &mut FrameWriter) -> Result<usize> {
        let columns: Columns<'_> =
            self.columns.iter().map(|(column, buffer)| (column.name, values(buffer))).collect();
        file.write(columns)?;
        for (_, buffer) in &mut self.columns {
            match buffer {
                Buffer::Text(cells) => cells.clear(),
                Buffer::Int(cells) => cells.clear(),
            }
        }
        self.bytes = 0;
        Ok(std::mem::take(&mut self.n_rows))
    }
}

/// Fills the cell of the last row.
fn put<T>(cells: &mut [Option<T>], value: T) {
    if let Some(last) = cells.last_mut() {
        *last = Some(value);
    }
}

fn values(buffer: &Buffer) -> Values<'_> {
    match buffer {
        Buffer::Text(cells) => Values::Text(cells.iter().map(Option::as_deref).collect()),
        Buffer::Int(cells) => Values::Int(cells.clone()),
    }
}
