//! The columns of a dataset's tables.

use crate::columns::passed_on;

/// The columns that the export fills itself, all of text.
pub(super) const OWN: [&str; 10] = [
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
];

/// Returns the columns of the Parquet files, all of text; `frozen`, a number, follows them. Columns after [`OWN`] are
/// copied from the stages and empty if no stage wrote them.
pub(super) fn table_columns() -> Vec<&'static str> {
    OWN.into_iter().chain(passed_on().into_iter().map(|column| column.name)).collect()
}

/// The cells of one entry, in the order of [`table_columns`].
pub(super) type EntryCells = Vec<Option<String>>;
