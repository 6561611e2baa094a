//! The lines that got no row of their own: noted while a source reads, and read back for a line's story.

use std::path::Path;

use super::LINES;
use super::rows::Place;
use crate::engine::background_writer::BackgroundWriter;
use crate::engine::error::{Result, damaged};
use crate::engine::frame::{FrameFile, FrameWriter, Values};
use crate::engine::part::BatchRows;
use crate::engine::vocabulary::Reason;

/// A line was joined into the row of another one.
pub static JOINED: Reason = Reason::policy(
    "ingest/joined",
    "The line holds nothing but the answer to the request of another line, and was joined into it.",
);

/// A line that got no row of its own, as it is written.
pub(super) struct Noted {
    pub(super) place: Place,
    /// How many lines follow on one another with this fate.
    pub(super) n_lines: u64,
    pub(super) fate: &'static str,
    pub(super) reason: &'static str,
    pub(super) detail: String,
    /// The line of the request it went into.
    pub(super) into: Option<Place>,
}

impl Noted {
    pub(super) fn of(place: Place, reason: &'static str, fate: &'static str) -> Self {
        Self { place, n_lines: 1, fate, reason, detail: String::new(), into: None }
    }
}

/// Takes lines and writes them in batches.
pub(super) struct LineWriter {
    file: FrameWriter,
    batch_rows: BatchRows,
    pending: Vec<Noted>,
}

impl LineWriter {
    pub(super) fn create(path: &Path, batch_rows: BatchRows, background_writer: &BackgroundWriter) -> Self {
        Self {
            file: FrameWriter::create_private(path).by(background_writer),
            batch_rows,
            pending: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, line: Noted) -> Result<()> {
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
        let into = |get: fn(&Place) -> Option<i64>| {
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

/// A line without a request, or several that follow on one another, read back.
#[derive(Debug, Clone)]
pub struct LineStory {
    /// Number of the input file.
    pub file: u32,
    /// The line, or the first of them.
    pub line: i64,
    /// Number of its item in the file, or of the first of them. Runs of earlier versions have none.
    pub record: Option<i64>,
    /// How many lines these are.
    pub n_lines: i64,
    /// `unreadable`, `no-request`, `joined-into` or `forgotten`.
    pub fate: String,
    /// Reason code.
    pub reason: String,
    /// What was found.
    pub detail: String,
    /// Where the request stands that the line was joined into.
    pub into: Option<StoredPlace>,
}

impl LineStory {
    /// Where it stands, or the first of them.
    pub fn place(&self) -> StoredPlace {
        StoredPlace { file: i64::from(self.file), line: self.line, record: self.record }
    }
}

/// A place in an input, as a run folder has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredPlace {
    /// Number of the input file.
    pub file: i64,
    /// The line, from 1.
    pub line: i64,
    /// Number of the item in the file, from 1. Runs of earlier versions have none.
    pub record: Option<i64>,
}

/// Reads the lines that gave no request of their own.
///
/// # Errors
/// The run folder is damaged.
pub fn read_lines(run: &Path) -> Result<Vec<LineStory>> {
    let path = run.join("ingest").join(LINES);
    let frame = FrameFile::open(&path)?.read_all()?;
    let text =
        |name: &str, row| frame.texts(name).and_then(|cells| cells.get(row)).unwrap_or_default().to_owned();
    // Runs of earlier versions joined nothing or counted no records, and have no such columns.
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
