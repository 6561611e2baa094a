//! The tables of a run: a small row index in memory, everything else in Parquet.
//!
//! The row index holds ids, links between the tables, order and fates, a few dozen bytes per row. Cells stay in the
//! files that ingest and the stages wrote. All files have the same batch borders, so a batch of any columns is one
//! aligned read per file. The newest version of a column is read first; a cell that is empty in it has the value of the
//! version before.
//!
//! Only `runner` changes the tables: it applies fates, updates the lists of requests after merges, and adds the columns
//! that a stage wrote.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
#[cfg(debug_assertions)]
use std::sync::PoisonError;
#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicBool, Ordering};

use super::background_writer::BackgroundWriter;
use super::error::Result;
use super::fate::Fate;
use super::frame::{ColumnCells, Frame, FrameFile, Held};
use super::manifest::InputFile;
use super::vocabulary::{ColumnKind, ColumnSpec, RowIx, TableId};

/// The location of the cells of some columns: batches in memory, and a file with the others.
#[derive(Debug, Clone)]
pub struct Cells {
    held: Held,
    file: Option<FrameFile>,
}

impl Cells {
    /// Returns cells that are all in a file.
    pub fn in_file(file: FrameFile) -> Self {
        Self { held: Held::default(), file: Some(file) }
    }

    /// Returns cells that are all in memory.
    pub fn in_memory(held: Held) -> Self {
        Self { held, file: None }
    }

    /// Returns cells that were written to a file, some of which may still be in memory.
    ///
    /// # Errors
    /// The file is needed and cannot be read.
    pub fn written(held: Held, path: &Path, background_writer: &BackgroundWriter) -> Result<Self> {
        if held.is_whole() {
            return Ok(Self::in_memory(held));
        }
        background_writer.wait()?;
        Ok(Self { held, file: Some(FrameFile::open(path)?) })
    }

    /// Returns a batch with these columns; a batch in memory has all its columns.
    pub(super) fn read(&self, range: &Range<usize>, columns: &[&str]) -> Result<Frame> {
        if let Some(frame) = self.held.batch(range.start, range.len()) {
            return Ok(frame.clone());
        }
        let file = self.file.as_ref().expect("a batch that is not in memory is in a file");
        file.read(range.start, range.len(), Some(columns))
    }
}

/// One table of a run.
#[derive(Debug, Clone)]
pub struct Table {
    id: TableId,
    ids: Vec<u128>,
    /// Rows in canonical order: by time, then line, then content.
    order: Vec<RowIx>,
    /// The position of each row in `order`.
    position: Vec<u32>,
    fates: Vec<Option<Fate>>,
    /// The first row of each batch, followed by the number of rows.
    borders: Vec<usize>,
    /// The columns and the locations of their cells, oldest first.
    versions: Vec<(Box<str>, Arc<Cells>)>,
    #[cfg(debug_assertions)]
    looked_at: ReadColumns,
}

/// The columns whose cells were read, for the test that a stage reads what it declares. Copies of a table share the set.
/// A release build does not record them.
#[cfg(debug_assertions)]
type ReadColumns = Arc<std::sync::Mutex<std::collections::BTreeSet<&'static str>>>;

impl Table {
    /// Returns a table without columns. `batch_lengths` must add up to the number of ids.
    pub fn new(id: TableId, ids: Vec<u128>, order: Vec<RowIx>, batch_lengths: &[usize]) -> Self {
        let mut position = vec![0; ids.len()];
        for (place, &row) in (0..).zip(&order) {
            position[row as usize] = place;
        }
        let mut borders = vec![0];
        borders.extend(batch_lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        debug_assert_eq!(borders.last(), Some(&ids.len()), "batches cover the table");
        Self {
            id,
            fates: vec![None; ids.len()],
            ids,
            order,
            position,
            borders,
            versions: Vec::new(),
            #[cfg(debug_assertions)]
            looked_at: ReadColumns::default(),
        }
    }

    /// Returns the table's id.
    pub fn id(&self) -> TableId {
        self.id
    }

    /// Returns the number of rows, whatever their fate.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the row's content id.
    pub fn row_id(&self, row: RowIx) -> RowId {
        RowId(self.ids[row as usize])
    }

    /// Returns the row's position in canonical order.
    pub fn position(&self, row: RowIx) -> u32 {
        self.position[row as usize]
    }

    /// Returns all rows in canonical order.
    pub fn in_order(&self) -> &[RowIx] {
        &self.order
    }

    /// Returns the row's fate; `None` while it is kept.
    pub fn fate(&self, row: RowIx) -> Option<Fate> {
        self.fates[row as usize]
    }

    /// Returns `true` if the row is still in the working set.
    pub fn is_kept(&self, row: RowIx) -> bool {
        self.fates[row as usize].is_none()
    }

    /// Returns the number of kept rows.
    pub fn kept(&self) -> usize {
        self.fates.iter().filter(|fate| fate.is_none()).count()
    }

    /// Returns the number of batches.
    pub fn batches(&self) -> usize {
        self.borders.len() - 1
    }

    /// Returns the rows of a batch.
    pub fn batch(&self, index: usize) -> Range<usize> {
        self.borders[index]..self.borders[index + 1]
    }

    /// Returns the rows of a batch, by number.
    pub fn rows_of_batch(&self, index: usize) -> impl Iterator<Item = RowIx> + use<> {
        self.batch(index).filter_map(|row| RowIx::try_from(row).ok())
    }

    /// Returns the kept rows of a batch, by number.
    pub fn kept_of_batch(&self, index: usize) -> Vec<RowIx> {
        self.rows_of_batch(index).filter(|&row| self.is_kept(row)).collect()
    }

    /// Returns the batch that holds a row.
    pub fn batch_of(&self, row: RowIx) -> usize {
        self.borders.partition_point(|&border| border <= row as usize) - 1
    }

    /// Returns `true` if the column was written.
    pub fn has(&self, column: ColumnSpec) -> bool {
        column.table == self.id && self.versions.iter().any(|(name, _)| **name == *column.name)
    }

    /// Adds columns, or newer versions of them.
    pub fn add_columns(&mut self, columns: &[ColumnSpec], cells: Cells) {
        self.add_named(columns.iter().map(|column| column.name), cells);
    }

    /// Adds columns, or newer versions of them, by their names.
    pub(super) fn add_named<'n>(&mut self, names: impl Iterator<Item = &'n str>, cells: Cells) {
        let cells = Arc::new(cells);
        self.versions.extend(names.map(|name| (name.into(), Arc::clone(&cells))));
    }

    /// Reads a batch of columns, whatever the rows' fates. A column that was not written yet is empty.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub fn read_batch(&self, index: usize, columns: &[ColumnSpec]) -> Result<BatchCells> {
        let range = self.batch(index);
        let mut read: Vec<(ColumnSpec, Vec<ColumnCells>)> =
            columns.iter().map(|&column| (column, Vec::new())).collect();
        for cells in self.distinct_cells() {
            let is_here = |wanted: &ColumnSpec| {
                self.versions.iter().any(|(name, at)| **name == *wanted.name && Arc::ptr_eq(at, cells))
            };
            let names: Vec<&str> =
                columns.iter().filter(|column| is_here(column)).map(|it| it.name).collect();
            if names.is_empty() {
                continue;
            }
            let frame = cells.read(&range, &names)?;
            for (column, versions) in read.iter_mut().filter(|(column, _)| is_here(column)) {
                versions.extend(frame.cells(column.name));
            }
        }
        Ok(BatchCells {
            #[cfg(debug_assertions)]
            are_noted: read.iter().map(|_| AtomicBool::new(false)).collect(),
            columns: read,
            #[cfg(debug_assertions)]
            looked_at: Arc::clone(&self.looked_at),
        })
    }

    /// Returns the columns whose cells were read since the last call, for the test of declared columns.
    #[doc(hidden)]
    #[cfg(debug_assertions)]
    pub fn take_looked_at(&self) -> std::collections::BTreeSet<&'static str> {
        std::mem::take(&mut *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Removes all cells of a column from memory, for tests of what a stage does without it.
    #[doc(hidden)]
    pub fn empty_column(&mut self, column: ColumnSpec) {
        self.versions.retain(|(name, _)| **name != *column.name);
    }

    /// Returns the distinct locations of cells, newest first.
    fn distinct_cells(&self) -> Vec<&Arc<Cells>> {
        let mut seen: Vec<&Arc<Cells>> = Vec::new();
        for (_, cells) in self.versions.iter().rev() {
            if !seen.iter().any(|other| Arc::ptr_eq(other, cells)) {
                seen.push(cells);
            }
        }
        seen
    }
}

/// The id of a row: 128 bits of its content, printed as 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u128);

impl RowId {
    /// Parses a printed id; `None` if the text is not an id.
    pub fn number(text: &str) -> Option<u128> {
        u128::from_str_radix(text, 16).ok()
    }

    /// Returns the digits of the printed id.
    pub fn digits(self) -> IdDigits {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0.to_be_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        IdDigits(digits)
    }

    /// Returns the start of a printed id, for people; `callsieve why` accepts it in place of the whole id.
    pub fn short(id: &str) -> &str {
        const DIGITS: usize = 12;
        id.get(..DIGITS).unwrap_or(id)
    }
}

impl std::fmt::Display for RowId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.digits().as_str())
    }
}

/// A row id as text. Ids are printed several times per row, so this avoids the formatting machinery.
#[derive(Debug, Clone, Copy)]
pub struct IdDigits([u8; 32]);

impl IdDigits {
    /// Returns the 32 digits.
    #[allow(clippy::missing_panics_doc)] // Hex digits are ASCII.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("hex digits are ASCII")
    }
}

/// Cells of some columns of one batch.
#[derive(Debug)]
pub struct BatchCells {
    /// Each column with its versions, newest first.
    columns: Vec<(ColumnSpec, Vec<ColumnCells>)>,
    /// Whether a column is in `looked_at`, so that the lock is taken once for each.
    #[cfg(debug_assertions)]
    are_noted: Vec<AtomicBool>,
    #[cfg(debug_assertions)]
    looked_at: ReadColumns,
}

impl BatchCells {
    fn versions(&self, column: ColumnSpec) -> &[ColumnCells] {
        let Some(at) = self.columns.iter().position(|(have, _)| *have == column) else {
            panic!("column {} is not among those that were declared", column.name)
        };
        #[cfg(debug_assertions)]
        if !self.are_noted[at].swap(true, Ordering::Relaxed) {
            self.looked_at.lock().unwrap_or_else(PoisonError::into_inner).insert(column.name);
        }
        &self.columns[at].1
    }

    /// Returns the text of a cell, by the row's place in the batch.
    ///
    /// # Panics
    /// The column was not read: an internal error in the stage, found by its first test.
    pub fn text(&self, column: ColumnSpec, at: usize) -> Option<&str> {
        self.versions(column).iter().find_map(|cells| cells.text(at))
    }

    /// Returns the value of a cell of any kind as text.
    pub fn value(&self, column: ColumnSpec, at: usize) -> Option<String> {
        match column.kind {
            ColumnKind::Text => self.text(column, at).map(str::to_owned),
            ColumnKind::Int => self.int(column, at).map(|number| number.to_string()),
        }
    }

    /// Returns the number of a cell, by the row's place in the batch.
    ///
    /// # Panics
    /// As [`BatchCells::text`].
    pub fn int(&self, column: ColumnSpec, at: usize) -> Option<i64> {
        self.versions(column).iter().find_map(|cells| cells.int(at))
    }
}

/// The two tables and the links between them.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// The requests.
    pub requests: Table,
    /// The doc lists.
    pub lists: Table,
    /// The list each request was sent with; never changes.
    pub origin: Vec<RowIx>,
    /// The list each request has now.
    pub list: Vec<RowIx>,
    /// The inputs that the rows were read from, by their number.
    pub inputs: Arc<[InputFile]>,
}

impl Corpus {
    /// Returns the table of that name.
    pub fn table(&self, id: TableId) -> &Table {
        match id {
            TableId::Requests => &self.requests,
            TableId::DocLists => &self.lists,
        }
    }

    /// Returns the table of that name, to add columns to.
    pub fn table_mut(&mut self, id: TableId) -> &mut Table {
        match id {
            TableId::Requests => &mut self.requests,
            TableId::DocLists => &mut self.lists,
        }
    }

    /// Sets the fate of a kept row.
    pub fn apply(&mut self, table: TableId, row: RowIx, fate: Fate) {
        let slot = &mut self.table_mut(table).fates[row as usize];
        debug_assert!(slot.is_none(), "a row has one fate");
        *slot = Some(fate);
    }

    /// Sets the fate of a forgotten row, which may have a fate already.
    pub(super) fn forget(&mut self, table: TableId, row: RowIx, fate: Fate) {
        self.table_mut(table).fates[row as usize] = Some(fate);
    }

    /// Sets the leaders of merged lists as the lists of their requests.
    pub fn follow_merged_lists(&mut self) {
        for list in &mut self.list {
            while let Some(Fate { into: Some(leader), .. }) = self.lists.fates[*list as usize] {
                *list = leader;
            }
        }
    }
}
