//! What a source hands over: a request with its doc list, or a line that gave none; and at the end how many it saw.
//!
//! The engine needs to know of a row what it is, where it was read, when it was sent and which list it has. All else
//! are cells of columns that the source declared, see [`Source::columns`](crate::engine::runner::Source::columns).

use crate::engine::vocabulary::{Cell, ColumnSpec};

use crate::engine::manifest::InputFile;

/// One request as a source read it.
#[derive(Debug, Default)]
pub struct RequestRow {
    /// xxh3-128 of the record's own bytes.
    pub content_key: u128,
    /// Where its record starts.
    pub place: Place,
    /// When it was sent, Unix milliseconds: what requests are ordered by first.
    pub time_ms: Option<i64>,
    /// The log format it was read as, by which requests are counted.
    pub log_format: &'static str,
    /// The doc list that it was sent with.
    pub list: DocListRow,
    /// The line that its answer stood in, where that is another one.
    pub joined: Option<Place>,
    /// What it holds.
    pub cells: RowCells,
}

impl RequestRow {
    /// Lines that it was read from.
    pub fn lines(&self) -> u64 {
        1 + u64::from(self.joined.is_some())
    }
}

/// A doc list as a source read it. Lists of one content are one row.
#[derive(Debug, Clone, Default)]
pub struct DocListRow {
    /// xxh3-128 of the list's text.
    pub content_key: u128,
    /// What it holds; read of the first list of this content only.
    pub cells: RowCells,
}

/// The cells of a row of one table, by column.
#[derive(Debug, Clone, Default)]
pub struct RowCells(pub(super) Vec<(&'static str, Cell)>);

impl RowCells {
    /// The same cells and one more; nothing where it is `None`.
    #[must_use]
    pub fn with(mut self, column: ColumnSpec, cell: Option<impl Into<Cell>>) -> Self {
        self.set(column, cell);
        self
    }

    /// Puts a cell in place of what there was; `None` empties it.
    pub fn set(&mut self, column: ColumnSpec, cell: Option<impl Into<Cell>>) {
        self.0.retain(|(name, _)| *name != column.name);
        self.0.extend(cell.map(|cell| (column.name, cell.into())));
    }
}

/// What a source saw of its inputs. It counts the items where it cuts them from a file, before anything can lose one;
/// the runner compares them with the lines that arrived.
#[derive(Debug, Default)]
pub struct InputsRead {
    /// The inputs as they were read.
    pub inputs: Vec<InputFile>,
    /// Items of all inputs: lines of a file, rows of a table, elements of a JSON array.
    pub items: u64,
    /// Lines that were read from an item besides its first, such as the second span of a trace. Those of an item that
    /// was passed over as a whole are not among them.
    pub further_parts: u64,
}

impl InputsRead {
    /// The lines that must have arrived.
    pub fn lines(&self) -> u64 {
        self.items + self.further_parts
    }
}

/// A line of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the input file, from 0.
    pub file: u32,
    /// The line, from 1.
    pub line: u64,
    /// Number of the item in the file, from 1.
    pub record: u64,
}

/// A line that gave no request, or several that follow on one another and hold the same: nothing.
#[derive(Debug)]
pub struct LineRow {
    /// Where it stands; of several the first.
    pub place: Place,
    /// How many lines these are.
    pub n_lines: u64,
    /// It could not be read, rather than holding nothing to read.
    pub unreadable: bool,
    /// What should follow in the file could not be read either.
    pub ends_file: bool,
    /// Reason code.
    pub reason: &'static str,
    /// What was found.
    pub detail: String,
}
