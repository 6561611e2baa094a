//! The columns of a dataset's tables.

use crate::engine::columns::{CATEGORY_BASIS, ColumnSpec, LANGUAGE, RELEVANCE, WEIGHT};

/// Columns that are written as they stand; empty where no stage wrote them.
pub(super) const PASSED_ON: [ColumnSpec; 4] = [CATEGORY_BASIS, LANGUAGE, RELEVANCE, WEIGHT];

/// The columns of the Parquet files, all of text; `frozen`, a number, follows them. The last are written as stages left them.
pub(super) const COLUMNS: [&str; 14] = [
    "id",
    "category",
    "question",
    "function",
    "ground_truth",
    "tier",
    "request_id",
    "external_id",
    "answer_from",
    "list_id",
    CATEGORY_BASIS.name,
    LANGUAGE.name,
    RELEVANCE.name,
    WEIGHT.name,
];

/// The cells of one entry, in the order of [`COLUMNS`].
pub(super) type RowCells = [Option<String>; COLUMNS.len()];
