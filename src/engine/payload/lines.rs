//! The lines that got no row of their own: noted while a source reads, and read back for a line's story.

use std::path::Path;

use super::rows::Place;
use super::{BATCH_ROWS, LINES};
use crate::engine::error::{Result, damaged};
use crate::engine::frame::{FrameFile, FrameWriter, Values};
use crate::engine::scribe::Scribe;
use crate::engine::stage::Reason;

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
    pending: Vec<Noted>,
}

impl LineWriter {
    pub(super) fn create(path: &Path, scribe: &Scribe) -> Self {
        Self { file: FrameWriter::create_private(path).by(scribe), pending: Vec::new() }
    }

    pub(super) fn push(&mut self, line: Noted) -> Result<()> {
        self.pending.push(line);
        if self.pending.len() >= BATCH_ROWS { self.write() } else { Ok(()) }
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
            ("lines", Values::Int(lines.iter().map(|line| int(line.n_lines)).collect())),
            ("fate", Values::Text(lines.iter().map(|line| Some(line.fate)).collect())),
            ("reason", Values::Text(lines.iter().map(|line| Some(line.reason)).collect())),
            ("detail", Values::Text(lines.iter().map(|line| Some(line.detail.as_str())).collect())),
            ("into_file", into(|place| Some(i64::from(place.file)))),
            ("into_line", into(|place| i64::try_from(place.line).ok())),
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
    /// How many lines these are.
    pub n_lines: i64,
    /// `unreadable`, `no-request`, `joined-into` or `forgotten`.
    pub fate: String,
    /// Reason code.
    pub reason: String,
    /// What was found.
    pub detail: String,
    /// File and line of the request that the line was joined into.
    pub into: Option<(i64, i64)>,
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
    // Runs of earlier versions joined nothing and have no such columns.
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
                n_lines: int("lines", row).unwrap_or(1),
                fate: text("fate", row),
                reason: text("reason", row),
                detail: text("detail", row),
                into: int("into_file", row).zip(int("into_line", row)),
            })
        })
        .collect()
}
