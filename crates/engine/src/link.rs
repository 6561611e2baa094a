//! A link: a record outside the run that an object of a row is near to. `links` reads and writes files of links.
//!
//! An object may be near to thousands of records in the same way, and so may thousands of rows. Such records are one link: it
//! names one of them, their number, and some of the others.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::vocabulary::ColumnSpec;

/// One object of a row, and the record of a public set that it is near to.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The kind of object: `function` or `query`.
    pub object: &'static str,
    /// Id of the set.
    pub set: String,
    /// The record's id in the set, or its file and line.
    pub record: String,
    /// The method of comparison: the name of a [`Metric`](super::vocabulary::Metric), or of another method.
    pub method: String,
    /// The similarity by that method; higher is nearer. Always finite.
    pub score: f64,
    /// What the method alone says of the row, such as `contaminated`; `None` if the stage has no such words.
    pub verdict: Option<&'static str>,
    /// The places of the object in the row's own cells.
    pub spans: Vec<Span>,
    /// The places in the record, by the names of its own fields; empty if the stage does not locate them.
    pub record_spans: Vec<Span>,
    /// The records that the object is near to in the same way, if the link stands for more than the one that it names.
    pub group: Option<RecordGroup>,
}

/// Records of one link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordGroup {
    /// Their number, with the one that the link names.
    pub n_records: u32,
    /// Some of them.
    pub examples: Arc<[RecordName]>,
}

/// The name of a record outside the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordName {
    /// See [`Link::set`].
    pub set: String,
    /// See [`Link::record`].
    pub record: String,
}

/// A place in a cell, or in a field of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The column or field.
    pub column: String,
    /// JSON pointer of the value in the cell; empty for the whole cell.
    pub path: String,
    /// First byte of the part of that value, and the byte after it; `None` for the whole value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(usize, usize)>,
}

impl Span {
    /// Returns a whole value of a cell that holds JSON.
    pub fn value(column: ColumnSpec, path: impl Into<String>) -> Self {
        Self { column: column.name.to_owned(), path: path.into(), bytes: None }
    }
}
