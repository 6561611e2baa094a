//! A line without a request of its own, and a line with several records.

use std::collections::BTreeSet;

use super::model::{LineHistory, RecordOfLine, RecordsOfLine};
use crate::engine::ledger::fate_word;
use crate::engine::raw::{LineStory, StoredPlace, read_lines};
use crate::engine::vocabulary::RowIx;
use crate::run::place::{NamedPlace, Place};
use crate::run::{Error, OpenRun};

/// A line without a request of its own.
pub(super) struct NoRequest {
    story: LineStory,
    /// The named place, which may be a later one of the line.
    place: StoredPlace,
    /// It was named by its line.
    is_by_line: bool,
}

/// Returns the lines without a request at a place.
pub(super) fn at(run: &OpenRun, named: &NamedPlace) -> Result<Vec<NoRequest>, Error> {
    let is_by_line = named.is_line();
    let found = |story: LineStory| named.among(&story).map(|place| NoRequest { story, place, is_by_line });
    Ok(read_lines(&run.folder)?.into_iter().filter_map(found).collect())
}

impl NoRequest {
    /// Returns its history; `wanted` is the requested name.
    pub(super) fn history(self, run: &OpenRun, wanted: &str) -> LineHistory {
        let Self { story, place, is_by_line } = self;
        let place = Place::of(run, place);
        LineHistory {
            name: if is_by_line && place.record.is_none() { wanted.to_owned() } else { place.to_string() },
            place,
            fate: story.fate,
            reason: story.reason,
            found: story.detail,
            joined_into: story.into.map(|into| Place::of(run, into)),
        }
    }

    fn record(&self, run: &OpenRun) -> RecordOfLine {
        RecordOfLine {
            place: Place::of(run, self.place),
            request_id: None,
            fate: self.story.fate.clone(),
            reason: Some(self.story.reason.clone()),
        }
    }
}

/// Lists the records on one line of a file; `None` if there is only one.
pub(super) fn several(
    run: &OpenRun,
    wanted: &str,
    requests: &[(RowIx, Option<StoredPlace>)],
    lines: &[NoRequest],
) -> Option<RecordsOfLine> {
    let has_dataset = run.folder.join("dataset").is_dir();
    let of_request = |&(row, place): &(RowIx, Option<StoredPlace>)| {
        let place = place?;
        let record = RecordOfLine {
            place: Place::of(run, place),
            request_id: Some(run.corpus.requests.row_id(row).to_string()),
            fate: fate_word(&run.corpus.requests, row, has_dataset).to_owned(),
            reason: None,
        };
        Some((place, record))
    };
    let mut all: Vec<(StoredPlace, RecordOfLine)> = requests.iter().filter_map(of_request).collect();
    all.extend(lines.iter().map(|line| (line.place, line.record(run))));
    all.sort_by(|(place, record), (other_place, other)| {
        let key =
            |record: &RecordOfLine| (record.request_id.clone(), record.fate.clone(), record.reason.clone());
        place.cmp(other_place).then_with(|| key(record).cmp(&key(other)))
    });
    let places: BTreeSet<StoredPlace> = all.iter().map(|(place, _)| *place).collect();
    let files: BTreeSet<i64> = places.iter().map(|place| place.file).collect();
    (places.len() != files.len()).then(|| RecordsOfLine {
        name: wanted.to_owned(),
        n_records: places.len(),
        records: all.into_iter().map(|(_, record)| record).collect(),
    })
}
