//! Doc lists, interned by the hash of their text: each text is stored once, however often it was sent.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::pending::Pending;
use super::rows::{DocListRow, SourcePlace};
use crate::background_writer::BackgroundWriter;
use crate::division::BatchRows;
use crate::error::{Error, Result};
use crate::frame::{FrameWriter, Held};
use crate::vocabulary::{ColumnSpec, RowIx, TableId};

/// A writer that writes each distinct doc list once.
pub(super) struct ListWriter {
    file: FrameWriter,
    pending: Pending,
    batches: Vec<usize>,
    ids: Vec<u128>,
    rows: FxHashMap<u128, RowIx>,
    lines: FxHashMap<RowIx, u64>,
}

impl ListWriter {
    pub(super) fn create(
        path: &Path,
        columns: &[ColumnSpec],
        batch_rows: BatchRows,
        background_writer: &BackgroundWriter,
    ) -> Self {
        Self {
            file: FrameWriter::create_private(path).held_by(background_writer),
            pending: Pending::of(TableId::DocLists, columns, batch_rows),
            batches: Vec::new(),
            ids: Vec::new(),
            rows: FxHashMap::default(),
            lines: FxHashMap::default(),
        }
    }

    /// Returns `true` if the text of a list is stored.
    pub(super) fn has(&self, content_key: u128) -> bool {
        self.rows.contains_key(&content_key)
    }

    /// Adds a list without a request.
    pub(super) fn alone(&mut self, place: SourcePlace, list: DocListRow) -> Result<()> {
        let row = self.intern(list)?;
        let line = self.lines.entry(row).or_insert(place.line);
        *line = place.line.min(*line);
        Ok(())
    }

    /// Returns the row of a list; a new row if its text was not sent before.
    pub(super) fn intern(&mut self, DocListRow { content_key: id, cells }: DocListRow) -> Result<RowIx> {
        if let Some(&row) = self.rows.get(&id) {
            return Ok(row);
        }
        let row = RowIx::try_from(self.ids.len())
            .map_err(|_| Error::Input("more than 2^32 distinct doc lists in one run".to_owned()))?;
        self.rows.insert(id, row);
        self.ids.push(id);
        self.pending.push(cells)?;
        if self.pending.is_full() {
            self.write()?;
        }
        Ok(row)
    }

    /// Writes the remaining lists.
    pub(super) fn finish(mut self) -> Result<WrittenLists> {
        if !self.pending.is_empty() || self.batches.is_empty() {
            self.write()?;
        }
        let held = self.file.finish()?;
        let (ids, lines, batches, columns) = (self.ids, self.lines, self.batches, self.pending.columns());
        Ok(WrittenLists { ids, lines, batches, columns, held })
    }

    fn write(&mut self) -> Result<()> {
        self.batches.push(self.pending.write_to(&mut self.file)?);
        Ok(())
    }
}

/// The doc lists of a completely read log.
pub(super) struct WrittenLists {
    pub(super) ids: Vec<u128>,
    /// The earliest line of each list without a request.
    pub(super) lines: FxHashMap<RowIx, u64>,
    /// The number of rows of each batch.
    pub(super) batches: Vec<usize>,
    pub(super) columns: Vec<ColumnSpec>,
    /// The cells that are still in memory.
    pub(super) held: Held,
}
