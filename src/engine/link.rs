//! A link: a record outside the run that an object of a row was found to be near to. Files of links are in `links`.

use serde::{Deserialize, Serialize};

use super::vocabulary::ColumnSpec;

/// One object of a row, and the record of a set that it was found to be near to.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What of the row it is: `function`, `query`.
    pub object: &'static str,
    /// Id of the set.
    pub set: String,
    /// The record's id in the set, or its file and line.
    pub record: String,
    /// How it was found: the name of a [`Metric`](super::vocabulary::Metric), or of what was compared besides texts.
    pub method: String,
    /// How near they are by that method; higher is nearer. A number, never NaN or infinite.
    pub score: f64,
    /// Where in the row's own cells the object is.
    pub spans: Vec<Span>,
}

/// A place in a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The column.
    pub column: String,
    /// JSON pointer of the value in the cell; empty for the whole cell.
    pub path: String,
    /// First byte of the part of that value, and the byte after it; nothing for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(usize, usize)>,
}

impl Span {
    /// A whole value of a cell that holds JSON.
    pub fn value(column: ColumnSpec, path: impl Into<String>) -> Self {
        Self { column: column.name.to_owned(), path: path.into(), bytes: None }
    }
}
