//! Places in the inputs of a run: how a person names one, and how one is shown.
//!
//! `FILE:LINE` names a line of a file that is read line by line. In tables, Parquet and other JSON a line can hold several
//! records, and a record several lines: there `FILE#RECORD` names the record, by its number from 1.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::OpenRun;
use crate::columns::{FILE, LINE, RECORD};
use crate::engine::corpus::BatchCells;
use crate::engine::raw::{LineStory, StoredPlace};
use crate::engine::vocabulary::ColumnSpec;
use crate::text::visible::visible_line;

/// A place as a person names it.
pub(super) struct NamedPlace {
    /// The numbers of the files whose path ends like the one that is named.
    files: BTreeSet<i64>,
    number: Number,
}

/// What a place is named by.
enum Number {
    Line(i64),
    Record(i64),
}

impl NamedPlace {
    /// Reads `FILE:LINE` or `FILE#RECORD`; `None` for anything else.
    pub(super) fn read(run: &OpenRun, text: &str) -> Option<Self> {
        let (file, number) = text.split_at(text.rfind([':', '#'])?);
        let number = match number.strip_prefix(':') {
            Some(line) => Number::Line(line.parse().ok()?),
            None => Number::Record(number.strip_prefix('#')?.parse().ok()?),
        };
        let file = file.trim_start_matches("./");
        // Every path ends like an empty one, and an id may well be "#17".
        if file.is_empty() {
            return None;
        }
        let files = (0..)
            .zip(&run.file.inputs)
            .filter(|(_, input)| Path::new(&input.path).ends_with(file))
            .map(|(at, _)| at)
            .collect();
        Some(Self { files, number })
    }

    /// It names a line, which may hold several records.
    pub(super) fn is_line(&self) -> bool {
        matches!(self.number, Number::Line(_))
    }

    /// Whether a row was read there.
    pub(super) fn is_at(&self, place: StoredPlace) -> bool {
        let is_numbered = match self.number {
            Number::Line(line) => place.line == line,
            Number::Record(record) => place.record == Some(record),
        };
        is_numbered && self.files.contains(&place.file)
    }

    /// The place itself, if it is one of these lines.
    pub(super) fn among(&self, lines: &LineStory) -> Option<StoredPlace> {
        let first = lines.place();
        let nth = match self.number {
            Number::Line(line) => line - first.line,
            Number::Record(record) => record - first.record?,
        };
        let is_here = (0..lines.n_lines).contains(&nth) && self.files.contains(&first.file);
        let record = first.record.map(|record| record + nth);
        is_here.then_some(StoredPlace { file: first.file, line: first.line + nth, record })
    }
}

/// The columns of requests that hold their place.
pub(super) const PLACE: [ColumnSpec; 3] = [FILE, LINE, RECORD];

/// The place of a request, from cells of [`PLACE`].
pub(super) fn of_request(cells: &BatchCells, at: usize) -> Option<StoredPlace> {
    let (file, line) = cells.int(FILE, at).zip(cells.int(LINE, at))?;
    Some(StoredPlace { file, line, record: cells.int(RECORD, at) })
}

/// A place in the inputs of a run. It is displayed as `FILE:LINE`, or as `FILE#RECORD` in files whose lines do not name one
/// record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// Path of the file as the run was given it; `None` if the run has no such file.
    pub file: Option<String>,
    /// The line, from 1; of a record of several lines the first.
    pub line: i64,
    /// The number of the record in its file, from 1; `None` in files whose lines name their records.
    pub record: Option<i64>,
}

impl Place {
    pub(super) fn of(run: &OpenRun, place: StoredPlace) -> Self {
        let file = usize::try_from(place.file).ok().and_then(|file| run.file.inputs.get(file));
        // Files are read in order, so their numbers ascend.
        let is_by_record =
            u32::try_from(place.file).is_ok_and(|file| run.ingest.by_record.binary_search(&file).is_ok());
        Self {
            file: file.map(|input| input.path.clone()),
            line: place.line,
            record: place.record.filter(|_| is_by_record),
        }
    }

    /// Returns the place as text, with the line of a record that is not on the line of its number: `FILE#RECORD, line LINE`.
    pub fn with_line(&self) -> String {
        match self.record {
            Some(record) if record != self.line => format!("{self}, line {}", self.line),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = visible_line(self.file.as_deref().unwrap_or("?"));
        match self.record {
            Some(record) => write!(f, "{path}#{record}"),
            None => write!(f, "{path}:{}", self.line),
        }
    }
}

/// A place with its line for messages; `?` if it is unknown.
pub(super) fn name_and_line(run: &OpenRun, place: Option<StoredPlace>) -> String {
    place.map_or_else(|| "?".to_owned(), |place| Place::of(run, place).with_line())
}
