//! The source record of each entry of a dataset: `entries.parquet` in the run folder.
//!
//! The ids of rows are hashes of raw text, and a hash over a small space can be reversed, for example by trying all
//! telephone numbers. So these ids stay in the run folder. The tables of a dataset have ids of their own, hashes of the
//! redacted text, and this file joins the two. Unchanged entries of an earlier dataset have a row here too, as far as
//! their records are known.

use std::path::{Path, PathBuf};

use super::corpus::RowId;
use super::error::{At, Result};
use super::frame::{FrameFile, FrameWriter, Values};
use super::layout::{ENTRIES, temporary_path};

/// Number of rows of a row group.
const GROUP_ROWS: usize = 1 << 14;
/// The columns; all hold text.
const COLUMNS: [&str; 6] = ["set", "id", "published_id", "request_id", "list_id", "answer_from"];

/// An entry and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryOrigin {
    /// The set it is in: `scored` or `unverified`.
    pub set: String,
    /// The entry's id in that set.
    pub id: String,
    /// Its `request_id` in the tables of the dataset.
    pub published_id: Option<String>,
    /// The request it was built from.
    pub request_id: Option<String>,
    /// The doc list of that request.
    pub list_id: Option<String>,
    /// The request whose record its answer was taken from.
    pub answer_from: Option<String>,
}

impl EntryOrigin {
    fn cell(&self, column: usize) -> Option<&str> {
        match column {
            0 => Some(&self.set),
            1 => Some(&self.id),
            2 => self.published_id.as_deref(),
            3 => self.request_id.as_deref(),
            4 => self.list_id.as_deref(),
            _ => self.answer_from.as_deref(),
        }
    }

    /// Returns the request's id as a number.
    pub fn record(&self) -> Option<u128> {
        self.request_id.as_deref().and_then(RowId::number)
    }
}

/// Returns the path of the file of a run.
pub fn path(run: &Path) -> PathBuf {
    run.join(ENTRIES)
}

/// Writes the file of a run.
///
/// # Errors
/// It cannot be written.
pub fn write(run: &Path, entries: &[EntryOrigin]) -> Result<()> {
    let path = path(run);
    let temporary = temporary_path(&path);
    let mut writer = FrameWriter::create(&temporary);
    for group in std::iter::once(&entries[..0]).chain(entries.chunks(GROUP_ROWS)) {
        let cells = |column: usize| Values::Text(group.iter().map(|entry| entry.cell(column)).collect());
        writer.write(COLUMNS.iter().enumerate().map(|(at, name)| (*name, cells(at))).collect())?;
    }
    writer.finish()?;
    std::fs::rename(&temporary, &path).at("renaming", &temporary)
}

/// Reads the file of a run; empty if there is none, as in a plain folder of question files.
///
/// # Errors
/// It cannot be read.
pub fn read(run: &Path) -> Result<Vec<EntryOrigin>> {
    let path = path(run);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let frame = FrameFile::open(&path)?.read_all()?;
    let columns = COLUMNS.map(|name| frame.texts(name));
    let entry = |row: usize| {
        let cell = |column: usize| columns[column].and_then(|cells| cells.get(row)).map(str::to_owned);
        EntryOrigin {
            set: cell(0).unwrap_or_default(),
            id: cell(1).unwrap_or_default(),
            published_id: cell(2),
            request_id: cell(3),
            list_id: cell(4),
            answer_from: cell(5),
        }
    };
    Ok((0..frame.height()).map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(read(run.path()).unwrap(), []);
        let entry = |id: &str, request: Option<&str>| EntryOrigin {
            set: "scored".to_owned(),
            id: id.to_owned(),
            published_id: Some("0b".to_owned()),
            request_id: request.map(str::to_owned),
            list_id: None,
            answer_from: None,
        };
        let entries = [entry("live_simple_0-0-0", Some("0a")), entry("live_simple_1-1-0", None)];
        write(run.path(), &entries).unwrap();
        assert_eq!(read(run.path()).unwrap(), entries);
        assert_eq!((entries[0].record(), entries[1].record()), (Some(10), None));
    }
}
