//! The output of a source: requests with their doc lists, lines without a request, and the final counts.
//!
//! The engine knows the content hash, place, time and list of a row. Everything else is in cells of columns that the
//! source declares; see [`Source::columns`](crate::source::Source::columns).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::manifest::InputFile;
use crate::vocabulary::{Cell, ColumnSpec};

/// One request as a source read it.
#[derive(Debug, Default)]
pub struct RequestRow {
    /// The [content hash](callsieve_text::content_hash) of the record's own bytes.
    pub content_key: u128,
    /// Where its record starts.
    pub place: SourcePlace,
    /// When it was sent, Unix milliseconds: the first sort key of requests.
    pub time_ms: Option<i64>,
    /// Its log format; requests are counted by it.
    pub log_format: &'static str,
    /// The doc list that it was sent with.
    pub list: DocListRow,
    /// The line of its answer, if that is another one.
    pub joined: Option<SourcePlace>,
    /// Its cells.
    pub cells: RowCells,
}

impl RequestRow {
    /// Returns the number of lines that it was read from.
    pub fn lines(&self) -> u64 {
        1 + u64::from(self.joined.is_some())
    }
}

/// A doc list as a source read it. Lists of equal content become one row.
#[derive(Debug, Clone, Default)]
pub struct DocListRow {
    /// The [content hash](callsieve_text::content_hash) of the list's text.
    pub content_key: u128,
    /// Its cells; those of the first list with this content are used. Empty is allowed once [`Intake::has_list`](super::Intake::has_list) says so.
    pub cells: RowCells,
}

/// The cells of a row of one table, by column.
#[derive(Debug, Clone, Default)]
pub struct RowCells(pub(super) Vec<(&'static str, Cell)>);

impl RowCells {
    /// Adds a cell, unless it is `None`.
    #[must_use]
    pub fn with(mut self, column: ColumnSpec, cell: Option<impl Into<Cell>>) -> Self {
        self.set(column, cell);
        self
    }

    /// Replaces a cell; `None` empties it.
    pub fn set(&mut self, column: ColumnSpec, cell: Option<impl Into<Cell>>) {
        self.0.retain(|(name, _)| *name != column.name);
        self.0.extend(cell.map(|cell| (column.name, cell.into())));
    }

    /// Returns the cells by the names of their columns.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Cell)> {
        self.0.iter().map(|(name, cell)| (*name, cell))
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text of a cell.
    pub fn text(&self, column: ColumnSpec) -> Option<&str> {
        self.0.iter().find_map(|(name, cell)| match cell {
            Cell::Text(text) if *name == column.name => Some(text.as_str()),
            _ => None,
        })
    }
}

/// The inputs as a source counted them. It counts items when it cuts them from a file, before anything can lose one;
/// the runner compares the counts with the lines that arrived.
#[derive(Debug, Default)]
pub struct InputsRead {
    /// The inputs as they were read.
    pub inputs: Vec<InputFile>,
    /// Items of all inputs: lines of a file, rows of a table, elements of a JSON array.
    pub items: u64,
    /// Lines of an item after its first, such as the second span of a trace. Items that were skipped as a whole do not
    /// count.
    pub further_parts: u64,
    /// Items, by number, that a service failed for, such as a language model. Each arrived as a line with a reason that is
    /// a fault. A later run reads the source again.
    pub failed: Vec<u64>,
    /// Notes about the whole source, by name, such as the usage of a language model.
    pub notes: BTreeMap<String, Value>,
}

impl InputsRead {
    /// Returns the number of lines that must have arrived.
    pub fn lines(&self) -> u64 {
        self.items + self.further_parts
    }
}

/// A line of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourcePlace {
    /// Number of the input file, from 0.
    pub file: u32,
    /// The line, from 1.
    pub line: u64,
    /// Number of the item in the file, from 1.
    pub record: u64,
}

/// A line without a request, or several consecutive blank ones.
#[derive(Debug)]
pub struct LineRow {
    /// The place of the line, or of the first of several.
    pub place: SourcePlace,
    /// The number of lines.
    pub n_lines: u64,
    /// The line could not be read; otherwise it simply holds no request.
    pub unreadable: bool,
    /// The rest of the file could not be read either.
    pub ends_file: bool,
    /// Reason code.
    pub reason: &'static str,
    /// What was found.
    pub detail: String,
}
