//! How a row ended, and what it was merged into.

use super::model::{MergeTarget, RowFate};
use crate::engine::corpus::Table;
use crate::engine::fate::Fate;
use crate::engine::ledger::fate_word;
use crate::engine::vocabulary::RowIx;

impl RowFate {
    /// Returns how a row ended; `describe` returns what its reason means.
    pub(super) fn of(
        table: &Table,
        row: RowIx,
        is_exported: bool,
        describe: impl Fn(Fate) -> String,
    ) -> Self {
        let fate = table.fate(row);
        let next = |row: RowIx| table.fate(row).and_then(|fate| fate.into);
        let merges = std::iter::successors(fate.and_then(|fate| fate.into), |&into| next(into));
        let target = |into: RowIx| MergeTarget {
            id: table.row_id(into).to_string(),
            fate: fate_word(table, into, is_exported),
            reason: table.fate(into).map(|fate| fate.reason.code),
        };
        Self {
            name: fate_word(table, row, is_exported),
            reason: fate.map(|fate| fate.reason.code),
            description: fate.map(describe),
            merged_into: merges.map(target).collect(),
        }
    }
}
