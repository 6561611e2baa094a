//! The history of one row, from the line it was read from to its fate.

mod line;
mod list;
mod story;

use std::path::Path;

use super::error::refuse;
use super::names::{places_of, prefix_hint, resolve, rows_of};
use super::place::NamedPlace;
use super::{Error, OpenRun};
use crate::engine::corpus::RowId;
use crate::engine::forgotten::{FORGOTTEN, Forgotten};
use crate::engine::raw::StoredPlace;
use crate::engine::row_names::{NameKind, RowName};
use crate::engine::vocabulary::{RowIx, TableId};
use crate::text::figures::{count, counted};
use list::ListStory;
use story::Story;

/// Characters of a text that are shown unless all are asked for.
const MAX_CHARS: usize = 200;
/// Digits of an id that `why` takes for the start of one; nothing is changed by a wrong one.
const LEAST_DIGITS: usize = 4;

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
/// entry of the dataset; a prefix such as `external:` chooses one. Long texts are shortened unless `full`.
///
/// # Errors
/// There is no such row, the name means several, or a file of the run folder cannot be read.
pub fn why(run: &OpenRun, row: &str, full: bool) -> Result<Why, Error> {
    let max_chars = if full { usize::MAX } else { MAX_CHARS };
    let name = RowName::read(row);
    let place = NamedPlace::read(run, name.text).filter(|_| name.may_be(NameKind::Place));
    let named = resolve(run, &[row], LEAST_DIGITS)?.remove(0);
    let lines = place.as_ref().map_or(Ok(Vec::new()), |place| line::at(run, place))?;
    let found = rows_of(&named, TableId::Requests);
    if place.as_ref().is_some_and(NamedPlace::is_line)
        && let Some(text) = line::several(run, name.text, &with_places(run, &found)?, &lines)
    {
        return Ok(Why::Records(text));
    }
    if let (Some(other), [_, ..]) = (named.iter().find(|named| named.by != NameKind::Place), &lines[..]) {
        return refuse(format!(
            "\"{row}\" is {} of a request of {}, and a line without a request\nhint: write {}: or place: before it",
            other.by.meaning(),
            run.folder.display(),
            other.by.word()
        ));
    }
    let mut text = String::new();
    for (nth, &row) in found.iter().enumerate() {
        if nth > 0 {
            text.push('\n');
        }
        text += &Story { run, row, max_chars }.text()?;
    }
    let lists = rows_of(&named, TableId::DocLists);
    for &list in &lists {
        text += &ListStory { style: Story { run, row: 0, max_chars }, list }.text()?;
    }
    if named.is_empty() {
        match lines.first() {
            Some(line) => text = line.text(run, name.text),
            None if is_forgotten(&run.folder, name.text)? => {
                text = format!("request {}\nfate      forgotten: {}\n", name.text, FORGOTTEN.code);
            }
            None => {
                return refuse(format!(
                    "no row {row} in {}\nhint: use the id in the log, the start of a request id or list id ({LEAST_DIGITS} digits or more), FILE:LINE, FILE#RECORD, or the id of an entry{}{}",
                    run.folder.display(),
                    prefix_hint(row),
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

/// Returns rows with their places.
fn with_places(run: &OpenRun, rows: &[RowIx]) -> Result<Vec<(RowIx, Option<StoredPlace>)>, Error> {
    Ok(rows.iter().copied().zip(places_of(run, rows)?).collect())
}

/// Whether this is the whole id of a forgotten request, whose row has another id now or is removed.
pub(super) fn is_forgotten(run: &Path, wanted: &str) -> Result<bool, Error> {
    let whole = RowId::number(wanted).filter(|_| wanted.len() == 32);
    let list = Forgotten::read(run)?;
    Ok(whole.is_some_and(|id| list.holds(id) || list.is_tombstone(RowId(id))))
}
