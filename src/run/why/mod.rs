//! The history of one row, from the line it was read from to its fate.

mod line;
mod list;
mod story;

use std::path::Path;

use super::error::refuse;
use super::place::{NamedPlace, PLACE, of_request};
use super::{Error, OpenRun};
use crate::columns;
use crate::engine::corpus::RowId;
use crate::engine::entries::{self, EntryOrigin};
use crate::engine::forgotten::{FORGOTTEN, Forgotten};
use crate::engine::raw::StoredPlace;
use crate::engine::vocabulary::RowIx;
use crate::text::figures::{count, counted};
use list::ListStory;
use story::Story;

/// Characters of a text that are shown unless all are asked for.
const MAX_CHARS: usize = 200;

/// The explanation of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The history of the row, or of each row that the name matches.
    Story(String),
    /// A table of the records on the named line, which has several.
    Records(String),
}

/// Explains a row: by the log's own id, the start of a request id or a list id, `FILE:LINE`, `FILE#RECORD`, or the id of an
/// entry of the dataset. Long texts are shortened unless `full`.
///
/// # Errors
/// There is no such row, or a file of the run folder cannot be read.
pub fn why(run: &OpenRun, row: &str, full: bool) -> Result<Why, Error> {
    let max_chars = if full { usize::MAX } else { MAX_CHARS };
    let entry = request_of_entry(&run.folder, row)?;
    let wanted = entry.as_deref().unwrap_or(row);
    let named = NamedPlace::read(run, wanted);
    let found = find(run, wanted, named.as_ref())?;
    let lines = named.as_ref().map_or(Ok(Vec::new()), |named| line::at(run, named))?;
    if named.as_ref().is_some_and(NamedPlace::is_line)
        && let Some(text) = line::several(run, wanted, &found, &lines)
    {
        return Ok(Why::Records(text));
    }
    let mut text = String::new();
    for (nth, (row, _)) in found.iter().enumerate() {
        if nth > 0 {
            text.push('\n');
        }
        text += &Story { run, row: *row, max_chars }.text()?;
    }
    let lists = if found.is_empty() && lines.is_empty() { lists_named(run, wanted) } else { Vec::new() };
    for (nth, &list) in lists.iter().enumerate() {
        text += if nth > 0 { "\n" } else { "" };
        text += &ListStory { style: Story { run, row: 0, max_chars }, list }.text()?;
    }
    if found.is_empty() && lists.is_empty() {
        match lines.first() {
            Some(line) => text = line.text(run, wanted),
            None if is_forgotten(&run.folder, row)? => {
                text = format!("request {row}\nfate      forgotten: {}\n", FORGOTTEN.code);
            }
            None => {
                return refuse(format!(
                    "no row {row} in {}\nhint: use the id in the log, the start of a request id or list id (4 digits or more), FILE:LINE, FILE#RECORD, or the id of an entry{}",
                    run.folder.display(),
                    without_an_id(run)
                ));
            }
        }
    }
    Ok(Why::Story(text))
}

/// A hint on lines that have no id.
fn without_an_id(run: &OpenRun) -> String {
    let counts = &run.ingest.counts;
    let n_lines = counts.no_request + counts.unreadable + counts.joined;
    if n_lines == 0 {
        return String::new();
    }
    let gave = format!("{} of {} hold no request", count(n_lines), counted(counts.lines, "line", "lines"));
    format!(
        "\nhint: {gave} and have no id; for these use FILE:LINE, or FILE#RECORD in a table or a JSON array"
    )
}

/// Returns the id of the request that an entry of the dataset was made from, by the id of the entry or by the published
/// id of the request.
fn request_of_entry(run: &Path, entry: &str) -> Result<Option<String>, Error> {
    let is_meant = |origin: &EntryOrigin| origin.id == entry || origin.published_id.as_deref() == Some(entry);
    Ok(entries::read(run)?.into_iter().find(is_meant).and_then(|origin| origin.request_id))
}

/// Whether a name can be the start of an id.
fn is_start_of_an_id(wanted: &str) -> bool {
    const SHORTEST_PREFIX: usize = 4;
    wanted.len() >= SHORTEST_PREFIX && wanted.chars().all(|c| c.is_ascii_hexdigit())
}

/// Returns the doc lists whose ids start with a name.
fn lists_named(run: &OpenRun, wanted: &str) -> Vec<RowIx> {
    let lists = &run.corpus.lists;
    let start = wanted.to_ascii_lowercase();
    let has_id = |&list: &RowIx| lists.row_id(list).to_string().starts_with(&start);
    if is_start_of_an_id(wanted) {
        lists.in_order().iter().copied().filter(has_id).collect()
    } else {
        Vec::new()
    }
}

/// Returns the rows that a name matches, with their places.
fn find(
    run: &OpenRun,
    wanted: &str,
    named: Option<&NamedPlace>,
) -> Result<Vec<(RowIx, Option<StoredPlace>)>, Error> {
    let requests = &run.corpus.requests;
    let asked = [&PLACE[..], &[columns::EXTERNAL_ID]].concat();
    let is_hex = is_start_of_an_id(wanted);
    let mut found = Vec::new();
    for batch in 0..requests.batches() {
        let range = requests.batch(batch);
        let cells = requests.read_batch(batch, &asked)?;
        for row in requests.rows_of_batch(batch) {
            let at = row as usize - range.start;
            let place = of_request(&cells, at);
            let is_there = named.zip(place).is_some_and(|(named, place)| named.is_at(place));
            let has_id = cells.text(columns::EXTERNAL_ID, at) == Some(wanted);
            if is_there
                || has_id
                || (is_hex && requests.row_id(row).to_string().starts_with(&wanted.to_ascii_lowercase()))
            {
                found.push((row, place));
            }
        }
    }
    Ok(found)
}

/// Whether this is the whole id of a forgotten request, whose row has another id now or is removed.
pub(super) fn is_forgotten(run: &Path, wanted: &str) -> Result<bool, Error> {
    let whole = RowId::number(wanted).filter(|_| wanted.len() == 32);
    let list = Forgotten::read(run)?;
    Ok(whole.is_some_and(|id| list.holds(id) || list.is_tombstone(RowId(id))))
}
