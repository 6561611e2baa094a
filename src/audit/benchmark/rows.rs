//! Rows of any form that a training set may have: requests, conversations, texts.

use super::entry::{ReadEntry, Result};
use super::formats::Source;
use super::read::Reading;
use crate::audit::AuditError;
use crate::audit::rows::items_of;
use crate::ingest::read::{Format, Limits, ReadError, read_blocks};

/// Reads the rows of a file; those without anything to compare are left out.
pub(super) fn read(source: &Source, reading: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        let mut rows = Vec::new();
        read_blocks(path, Format::of(path), &Limits::default(), &mut |_| {}, &mut |block| {
            rows.extend(items_of(&block, reading.columns, reading.fallback));
            Ok::<_, ReadError>(())
        })
        .map_err(AuditError::Input)?;
        for row in rows {
            if let Some(item) = row.item {
                let id = row.id.unwrap_or_else(|| format!("{}:{}", source.name, row.position.line));
                entries.push(ReadEntry { id, record: row.position.record, item });
            }
        }
    }
    Ok(entries)
}
