//! Places in the inputs of a run: how a person names one, and how one is shown.
//!
//! `FILE:LINE` names a line of a file that is read line by line. In tables, Parquet and other JSON a line can hold several
//! records, and a record several lines: there `FILE#RECORD` names the record, by its number from 1.

use std::collections::BTreeSet;
use std::path::Path;

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

    /// The place itself, where it is one of these lines.
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

/// The number of the record, where the line alone does not name it.
pub(super) fn record_of(run: &OpenRun, place: StoredPlace) -> Option<i64> {
    // Files are read in order, so their numbers ascend.
    let is_by_record =
        u32::try_from(place.file).is_ok_and(|file| run.ingest.by_record.binary_search(&file).is_ok());
    place.record.filter(|_| is_by_record)
}

/// A place as `FILE:LINE` or `FILE#RECORD`.
pub(super) fn name(run: &OpenRun, place: StoredPlace) -> String {
    let file = usize::try_from(place.file).ok().and_then(|file| run.file.inputs.get(file));
    let path = visible_line(file.map_or("?", |input| &input.path));
    match record_of(run, place) {
        Some(record) => format!("{path}#{record}"),
        None => format!("{path}:{}", place.line),
    }
}

/// The same, with the line of a record that is not on the line of its number.
pub(super) fn name_and_line(run: &OpenRun, place: Option<StoredPlace>) -> String {
    let Some(place) = place else { return "?".to_owned() };
    let name = name(run, place);
    match record_of(run, place) {
        Some(record) if record != place.line => format!("{name}, line {}", place.line),
        _ => name,
    }
}
