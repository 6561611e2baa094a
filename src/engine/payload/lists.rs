//! Doc lists, interned by the hash of their text: each text is kept once, however often it was sent.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::{BATCH_BYTES, BATCH_ROWS};
use crate::engine::columns;
use crate::engine::error::{Error, Result};
use crate::engine::frame::{FrameWriter, Held, Values};
use crate::engine::scribe::Scribe;
use crate::engine::stage::RowIx;

/// Takes doc lists and writes each distinct one.
pub(super) struct ListWriter {
    file: FrameWriter,
    texts: Vec<String>,
    bytes: usize,
    batches: Vec<usize>,
    ids: Vec<u128>,
    rows: FxHashMap<u128, RowIx>,
}

impl ListWriter {
    pub(super) fn create(path: &Path, scribe: &Scribe) -> Self {
        Self {
            file: FrameWriter::create_private(path).held_by(scribe),
            texts: Vec::new(),
            bytes: 0,
            batches: Vec::new(),
            ids: Vec::new(),
            rows: FxHashMap::default(),
        }
    }

    /// The row of a list: a new one where its text was not sent before.
    pub(super) fn intern(&mut self, id: u128, text: String) -> Result<RowIx> {
        if let Some(&row) = self.rows.get(&id) {
            return Ok(row);
        }
        let row = RowIx::try_from(self.ids.len())
            .map_err(|_| Error::Input("more than 2^32 distinct doc lists in one run".to_owned()))?;
        self.rows.insert(id, row);
        self.ids.push(id);
        self.bytes += text.len();
        self.texts.push(text);
        if self.texts.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.write()?;
        }
        Ok(row)
    }

    /// Writes what is left. Gives the ids, the rows of each batch, and what is still in memory.
    pub(super) fn finish(mut self) -> Result<(Vec<u128>, Vec<usize>, Held)> {
        if !self.texts.is_empty() || self.batches.is_empty() {
            self.write()?;
        }
        let held = self.file.finish()?;
        Ok((self.ids, self.batches, held))
    }

    fn write(&mut self) -> Result<()> {
        let texts = std::mem::take(&mut self.texts);
        self.bytes = 0;
        self.batches.push(texts.len());
        let values = texts.iter().map(|text| Some(text.as_str())).collect();
        self.file.write(vec![(columns::TEXT.name, Values::Text(values))])
    }
}
