//! Short helpers for the verdicts of these tests.

use super::BAD;
use crate::error::Result;
use crate::verdict::Verdict;
use crate::vocabulary::{ColumnSpec, Edit, Evidence, RowIx, Safety};

pub(super) fn edit(column: ColumnSpec, safety: Safety) -> Edit {
    Edit { column, reason: &BAD, safety, patch: "[]".to_owned() }
}

pub(super) fn drop_row(out: &mut Verdict<'_>, row: RowIx) -> Result<()> {
    out.drop(row, &BAD, Evidence::default())
}

pub(super) fn merge(out: &mut Verdict<'_>, row: RowIx, into: RowIx) -> Result<()> {
    out.merge(row, into, &BAD, Evidence::default())
}

pub(super) fn set_text(out: &mut Verdict<'_>, row: RowIx, column: ColumnSpec) -> Result<()> {
    out.set(row, column, "text")
}
