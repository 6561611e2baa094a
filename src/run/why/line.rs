//! A line without a request of its own, and a line with several records.

use std::collections::BTreeSet;

use crate::engine::corpus::RowId;
use crate::engine::error::Error;
use crate::engine::ledger::fate_word;
use crate::engine::raw::{LineStory, StoredPlace, read_lines};
use crate::engine::vocabulary::RowIx;
use crate::run::OpenRun;
use crate::run::place::{NamedPlace, name, name_and_line, record_of};
use crate::text::figures::{count, counted, table};
use crate::text::visible::visible_line;

/// Records of one line that are listed at most.
const MAX_LISTED: usize = 20;

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
    /// Returns its history; `wanted` is the name it was asked for by.
    pub(super) fn text(&self, run: &OpenRun, wanted: &str) -> String {
        let Self { story, place, is_by_line } = self;
        let title = match record_of(run, *place) {
            Some(_) => format!("record {}", name_and_line(run, Some(*place))),
            None if *is_by_line => format!("line {}", visible_line(wanted)),
            None => format!("line {}", name(run, *place)),
        };
        let detail = visible_line(&story.detail);
        let found = if detail.is_empty() { String::new() } else { format!("  found     {detail}\n") };
        let into = story.into.map(|into| format!("  into      {}\n", name_and_line(run, Some(into))));
        let into = into.unwrap_or_default();
        format!("{title}\n  fate      {}: {}\n{found}{into}", story.fate, story.reason)
    }
}

/// Lists the records on one line of a file; `None` if there is only one.
pub(super) fn several(
    run: &OpenRun,
    wanted: &str,
    requests: &[(RowIx, Option<StoredPlace>)],
    lines: &[NoRequest],
) -> Option<String> {
    let has_dataset = run.folder.join("dataset").is_dir();
    let table_of_requests = &run.corpus.requests;
    let of_request = |&(row, place): &(RowIx, Option<StoredPlace>)| {
        let id = RowId::short(&table_of_requests.row_id(row).to_string()).to_owned();
        Some((place?, [id, fate_word(table_of_requests, row, has_dataset).to_owned()]))
    };
    let of_line = |line: &NoRequest| {
        (line.place, ["-".to_owned(), format!("{}: {}", line.story.fate, line.story.reason)])
    };
    let mut all: Vec<(StoredPlace, [String; 2])> =
        requests.iter().filter_map(of_request).chain(lines.iter().map(of_line)).collect();
    all.sort();
    let records: BTreeSet<StoredPlace> = all.iter().map(|(place, _)| *place).collect();
    let files: BTreeSet<i64> = records.iter().map(|place| place.file).collect();
    if records.len() == files.len() {
        return None;
    }
    let shown =
        |(place, [id, fate]): &(StoredPlace, [String; 2])| vec![name(run, *place), id.clone(), fate.clone()];
    let rows: Vec<Vec<String>> = all.iter().take(MAX_LISTED).map(shown).collect();
    let n_records = counted(records.len() as u64, "record", "records");
    let mut text = format!("{} holds {n_records}\n\n", visible_line(wanted));
    text += &table(&["record", "request", "fate"], &rows, &[]);
    if all.len() > MAX_LISTED {
        text += &format!("… and {} more\n", count((all.len() - MAX_LISTED) as u64));
    }
    Some(text)
}
