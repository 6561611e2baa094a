//! The lines without a row of their own: recorded while a source reads, and read back to explain a line.

use std::path::Path;

use super::LINES;
use super::rows::SourcePlace;
use crate::background_writer::BackgroundWriter;
use crate::division::BatchRows;
use crate::error::{Result, damaged};
use crate::frame::{FrameFile, FrameWriter, Values};
use crate::vocabulary::Reason;

/// The reason of a line that was joined into the request of another line.
pub static JOINED: Reason = Reason::policy(
    "ingest/joined",
    "The line holds only the answer to the request of another line and was joined into it.",
);

/// A line without a row of its own, as it is written.
pub(super) struct LineWithoutRow {
    pub(super) place: SourcePlace,
    /// The number of consecutive lines with this fate.
    pub(super) n_lines: u64,
    pub(super) fate: &'static str,
    pub(super) reason: &'static str,
    pub(super) detail: String,
    /// The line of the request that it was joined into.
    pub(super) into: Option<SourcePlace>,
}

impl LineWithoutRow {
    pub(super) fn of(place: SourcePlace, reason: &'static str, fate: &'static str) -> Self {
        Self { place, n_lines: 1, fate, reason, detail: String::new(), into: None }
    }
}

/// A writer of lines in batches.
pub(super) struct LineWriter {
    file: FrameWriter,
    batch_rows: BatchRows,
    pending: Vec<LineWithoutRow>,
}

impl LineWriter {
    pub(super) fn create(path: &Path, batch_rows: BatchRows, background_writer: &BackgroundWriter) -> Self {
        Self {
            file: FrameWriter::create_private(path).by(background_writer),
            batch_rows,
            pending: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, line: LineWithoutRow) -> Result<()> {
        self.pending.push(line);
        if self.pending.len() >= self.batch_rows.get() { self.write() } else { Ok(()) }
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.write()?;
        self.file.finish().map(drop)
    }

    fn write(&mut self) -> Result<()> {
        let lines = std::mem::take(&mut self.pending);
        let int = |line: u64| i64::try_from(line).ok();
        let into = |get: fn(&SourcePlace) -> Option<i64>| {
            Values::Int(lines.iter().map(|line| line.into.as_ref().and_then(get)).collect())
        };
        self.file.write(vec![
            ("file", Values::U32(lines.iter().map(|line| line.place.file).collect())),
            ("line", Values::Int(lines.iter().map(|line| int(line.place.line)).collect())),
            ("record", Values::Int(lines.iter().map(|line| int(line.place.record)).collect())),
            ("lines", Values::Int(lines.iter().map(|line| int(line.n_lines)).collect())),
            ("fate", Values::Text(lines.iter().map(|line| Some(line.fate)).collect())),
            ("reason", Values::Text(lines.iter().map(|line| Some(line.reason)).collect())),
            ("detail", Values::Text(lines.iter().map(|line| Some(line.detail.as_str())).collect())),
            ("into_file", into(|place| Some(i64::from(place.file)))),
            ("into_line", into(|place| i64::try_from(place.line).ok())),
            ("into_record", into(|place| i64::try_from(place.record).ok())),
        ])
    }
}

/// A line without a request, or several consecutive ones, read back.
#[derive(Debug, Clone)]
pub struct LineStory {
    /// Number of the input file.
    pub file: u32,
    /// The line, or the first of them.
    pub line: i64,
    /// The item's number in the file, or that of the first of them. Runs of earlier versions have none.
    pub record: Option<i64>,
    /// The number of lines.
    pub n_lines: i64,
    /// `unreadable`, `no-request`, `joined-into` or `forgotten`.
    pub fate: String,
    /// Reason code.
    pub reason: String,
    /// What was found.
    pub detail: String,
    /// The place of the request that the line was joined into.
    pub into: Option<StoredPlace>,
}

impl LineStory {
    /// Returns the place of the line, or of the first of them.
    pub fn place(&self) -> StoredPlace {
        StoredPlace { file: i64::from(self.file), line: self.line, record: self.record }
    }
}

/// A place in an input, as stored in a run folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredPlace {
    /// Number of the input file.
    pub file: i64,
    /// The line, from 1.
    pub line: i64,
    /// Number of the item in the file, from 1. Runs of earlier versions have none.
    pub record: Option<i64>,
}

/// Reads the lines without a request of their own.
///
/// # Errors
/// The run folder is damaged.
pub fn read_lines(run: &Path) -> Result<Vec<LineStory>> {
    let path = run.join("ingest").join(LINES);
    let frame = FrameFile::open(&path)?.read_all()?;
    let text =
        |name: &str, row| frame.texts(name).and_then(|cells| cells.get(row)).unwrap_or_default().to_owned();
    // Runs of earlier versions joined no lines or counted no records, and lack these columns.
    let int = |name: &str, row| frame.ints(name).and_then(|cells| cells.get(row));
    (0..frame.height())
        .map(|row| {
            let file = frame.u32s("file").and_then(|cells| cells.get(row));
            let line = frame.ints("line").and_then(|cells| cells.get(row));
            let (Some(file), Some(line)) = (file, line) else {
                return Err(damaged(&path, format!("row {row} has no place")));
            };
            Ok(LineStory {
                file,
                line,
                record: int("record", row),
                n_lines: int("lines", row).unwrap_or(1),
                fate: text("fate", row),
                reason: text("reason", row),
                detail: text("detail", row),
                into: int("into_file", row).zip(int("into_line", row)).map(|(file, line)| StoredPlace {
                    file,
                    line,
                    record: int("into_record", row),
                }),
            })
        })
        .collect()
}
