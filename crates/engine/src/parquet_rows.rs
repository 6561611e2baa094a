//! Reads a range of rows of a Parquet file; tables of a run and files of other programs are read through here.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader as _};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::RowGroupMetaData;

use super::error::{At, Result, unless_damaged};

const READING: &str = "reading";

/// Returns the number of rows of a row group.
pub(super) fn n_rows(group: &RowGroupMetaData) -> usize {
    usize::try_from(group.num_rows()).unwrap_or_default()
}

/// Decodes some columns of a range of rows; rows past the end are left out.
///
/// # Errors
/// The file cannot be read, or is damaged.
pub(super) fn read(
    path: &Path,
    metadata: &ArrowReaderMetadata,
    columns: ProjectionMask,
    rows: &Range<usize>,
) -> Result<RecordBatch> {
    let file = File::open(path).at(READING, path)?;
    let (groups, offset) = groups_of(metadata.metadata().row_groups(), rows);
    unless_damaged(path, || {
        let mut reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_row_groups(groups)
            .with_projection(columns)
            .with_batch_size(rows.len().max(1))
            .with_offset(offset)
            .with_limit(rows.len())
            .build()
            .at(READING, path)?;
        let mut batches = reader.by_ref().collect::<Result<Vec<_>, _>>().at(READING, path)?;
        match batches.len() {
            1 => Ok(batches.swap_remove(0)),
            _ => arrow_select::concat::concat_batches(&reader.schema(), &batches).at(READING, path),
        }
    })
}

/// Returns the row groups that hold these rows, and the place of the first row in the first of them.
fn groups_of(all: &[RowGroupMetaData], rows: &Range<usize>) -> (Vec<usize>, usize) {
    let (mut groups, mut offset, mut first) = (Vec::new(), 0, 0);
    for (at, group) in all.iter().enumerate() {
        let end = first + n_rows(group);
        if first < rows.end && rows.start < end {
            if groups.is_empty() {
                offset = rows.start - first;
            }
            groups.push(at);
        }
        first = end;
    }
    (groups, offset)
}
