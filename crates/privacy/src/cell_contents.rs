//! The contents of a cell: values, placeholders, and the marks that decide if it is read again once all values of a run
//! are known.
//!
//! Logs are repetitive: one prompt and its answer occur in row after row. So the result of a cell is cached.

use std::sync::Arc;

use super::apply::{Finder, in_json, in_text};
use super::known::{Sighting, marks};
use super::{FoundValue, PrivacyKind, ValueStatus};
use callsieve_text::content_hash::content_hash;
use callsieve_text::memo::Memo;

/// Minimum length of a cached cell in bytes: a shorter one is scanned faster than it is looked up.
const LEAST_KEPT: usize = 48;

/// The format of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// Plain text.
    Text,
    /// JSON, scanned text by text.
    Json,
}

/// The contents of a cell.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CellContents {
    /// The personal values, in order.
    pub values: Vec<Sighting>,
    /// The kinds and numbers of the placeholders, in order.
    pub taken: Vec<(PrivacyKind, u64)>,
    /// Marks by which known values could be in the cell; see [`marks`].
    pub marks: Vec<u32>,
}

impl CellContents {
    /// Returns the contents of a cell; `None` if there are none.
    pub fn of(finder: Finder<'_>, cell: &str, kind: CellKind) -> Option<Self> {
        let mut contents = Self::default();
        let visit = |found: &FoundValue, text: &str| match found.status {
            ValueStatus::Personal => contents.values.push(Sighting::of(found, text)),
            ValueStatus::Placeholder(Some(number)) => contents.taken.push((found.kind, number)),
            ValueStatus::Placeholder(None) => {}
        };
        match kind {
            CellKind::Text => in_text(finder, cell, visit),
            CellKind::Json => in_json(finder, cell, visit),
        }
        marks(cell, &mut contents.marks);
        (contents != Self::default()).then_some(contents)
    }
}

/// A cache of the contents of cells. Cells are equal if their 128-bit hashes are, as for rows.
#[derive(Debug, Default)]
pub struct CellCache(Memo<Key, Option<Arc<CellContents>>>);

/// The format of a cell, its hash, and that of the declared parameters with which it is read.
type Key = (CellKind, u128, u128);

impl CellCache {
    /// Returns the contents of a cell, by one finder with any declared parameters; `None` if there are none.
    pub fn contents(&self, finder: Finder<'_>, cell: &str, kind: CellKind) -> Option<Arc<CellContents>> {
        let look = || CellContents::of(finder, cell, kind).map(Arc::new);
        if cell.len() < LEAST_KEPT {
            return look();
        }
        self.0.get_or((kind, content_hash(cell), finder.declared_id()), look)
    }
}
