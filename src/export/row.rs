//! The columns of a dataset's tables.

use crate::columns::{WEIGHT, passed_on};
use crate::engine::frame::{Columns, Values};

/// A column of the tables.
#[derive(Debug, Clone, Copy)]
pub struct TableColumn {
    /// Its name.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: CellType,
    /// What it holds.
    pub what: &'static str,
}

/// The type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// Text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Bool,
}

/// The columns that the export fills itself, all of text.
pub(super) const OWN: [TableColumn; 10] = [
    text("id", "id of the entry in BFCL's form"),
    text("category", "BFCL category"),
    text("question", "the conversation, JSON: turns of messages"),
    text("function", "the docs of the functions that are offered, JSON"),
    text("ground_truth", "the accepted calls, JSON; empty in categories without answers"),
    text("tier", "how reliable the answer or label is"),
    text("request_id", "id of the request in the run"),
    text("external_id", "the log's own id"),
    text("answer_from", "whether the answer is that of the request's own record or of an equal one"),
    text("list_id", "id of the doc list in the run"),
];

/// The last column.
const FROZEN: TableColumn =
    TableColumn { name: "frozen", kind: CellType::Bool, what: "copied unchanged from an earlier dataset" };

const fn text(name: &'static str, what: &'static str) -> TableColumn {
    TableColumn { name, kind: CellType::Text, what }
}

/// Returns the columns of which an entry has cells. Columns after [`OWN`] are copied from the stages and empty if no stage wrote
/// them.
pub(super) fn entry_columns() -> Vec<TableColumn> {
    let passed_on = passed_on().into_iter().map(|column| TableColumn {
        name: column.name,
        kind: if column.name == WEIGHT.name { CellType::Number } else { CellType::Text },
        what: column.what,
    });
    OWN.into_iter().chain(passed_on).collect()
}

/// Returns all columns of the Parquet files.
pub fn table_columns() -> Vec<TableColumn> {
    entry_columns().into_iter().chain([FROZEN]).collect()
}

/// The cells of one entry as text, in the order of [`entry_columns`].
pub(super) type EntryCells = Vec<Option<String>>;

/// Returns entries as the columns of a table.
pub(super) fn columns_of(rows: &[EntryCells], is_frozen: bool) -> Columns<'_> {
    let values = |at: usize, kind: CellType| {
        let cells = rows.iter().map(|row| row[at].as_deref());
        match kind {
            CellType::Number => Values::Float(cells.map(|cell| cell?.parse().ok()).collect()),
            CellType::Text | CellType::Bool => Values::Text(cells.collect()),
        }
    };
    let columns = entry_columns().into_iter().enumerate();
    let of_entries = columns.map(|(at, column)| (column.name, values(at, column.kind)));
    of_entries.chain([(FROZEN.name, Values::Bool(vec![is_frozen; rows.len()]))]).collect()
}
