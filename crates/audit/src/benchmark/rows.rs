//! Rows of any form that a training set may have: requests, conversations, texts.
//!
//! A training set may have lines that cannot be read, which are counted; a benchmark may not, because an entry that is
//! not there is never found.

use super::entry::{BenchError, ReadEntry, Result};
use super::formats::Source;
use super::read::Reading;
use super::read::is_parquet;
use crate::AuditError;
use crate::item::{Docs, Item};
use crate::rows::{ReadRow, items_of, items_of_value};
use callsieve_ingest::foreign_rows::read_rows;
use callsieve_ingest::kind::check_kind;
use callsieve_ingest::read::{FileFormat, Limits, ReadError, read_blocks};
use callsieve_ingest::reasons::ItemFault;

/// Reads the rows of a file. Blank lines are left out, and rows that hold nothing to compare.
pub(super) fn read(source: &Source, reading: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        check_kind(path)?;
        let mut rows = Vec::new();
        let (columns, fallback) = (reading.columns, reading.fallback);
        if is_parquet(path) {
            read_rows(path, |at, row| {
                rows.extend(match row {
                    Ok(value) => items_of_value(at, value, columns, fallback),
                    Err(fault) => vec![ReadRow { position: at, id: None, item: None, fault: Some(fault) }],
                });
                Ok::<_, AuditError>(())
            })?;
        } else {
            read_blocks(path, FileFormat::of(path), &Limits::default(), &mut |_| {}, &mut |block| {
                rows.extend(items_of(&block, columns, fallback));
                Ok::<_, ReadError>(())
            })
            .map_err(AuditError::Input)?;
        }
        for row in rows {
            if let Some(fault) = row.fault {
                let ItemFault { reason, detail } = fault;
                let found =
                    if detail.is_empty() { reason.to_owned() } else { format!("{detail} ({reason})") };
                return Err(BenchError::Row { path: path.clone(), line: row.position.line, found }.into());
            }
            if let Some(item) = row.item.filter(has_content) {
                let id = row.id.unwrap_or_else(|| format!("{}:{}", source.name, row.position.line));
                entries.push(ReadEntry { id, record: row.position.record, item });
            }
        }
    }
    Ok(entries)
}

/// Returns whether there is anything to compare in an item.
fn has_content(item: &Item) -> bool {
    let has_functions = match &item.functions {
        Docs::None => false,
        Docs::Text(text) => !text.trim().is_empty(),
        Docs::Read(functions) => !functions.is_empty(),
    };
    has_functions || !item.queries.is_empty() || !item.calls.is_empty()
}
