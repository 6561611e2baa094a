//! The history of one row, from the line it was read from to its fate.
//!
//! [`why`] returns it as a structure, `cli::why` makes text of it.

mod fate;
mod json_text;
mod line;
mod list;
mod model;
mod request;
mod stages;

use std::path::Path;

use super::error::refuse;
use super::names::{places_of, prefix_hint, resolve, rows_of};
use super::place::NamedPlace;
use super::{Error, OpenRun};
use crate::engine::corpus::RowId;
use crate::engine::forgotten::{FORGOTTEN, Forgotten};
use crate::engine::raw::StoredPlace;
use crate::engine::row_names::{NameKind, NamedRow, RowName};
use crate::engine::vocabulary::{RowIx, TableId};
use crate::text::figures::{count, counted};
pub use json_text::JsonText;
pub use model::{
    Basis, Facts, Judgement, KeptRequest, LineHistory, ListHistory, MergeTarget, RecordOfLine, RecordsOfLine,
    RequestHistory, RowFate, SentDocs, SentRequest, Why,
};
pub use stages::{EditOfRow, NearRecord, RowEvent, Score, StageHistory};

/// The minimum number of digits that `why` accepts as the start of an id; a wrong one changes nothing.
const LEAST_DIGITS: usize = 4;

/// Explains a row: by the log's own id, the start of a request id or a list id, `FILE:LINE`, `FILE#RECORD`, or the id of an
/// entry of the dataset; a prefix such as `external:` chooses one.
///
/// # Errors
/// There is no such row, the name means several, or a file of the run folder cannot be read.
pub fn why(run: &OpenRun, row: &str) -> Result<Why, Error> {
    let name = RowName::read(row);
    let place = NamedPlace::read(run, name.text).filter(|_| name.may_be(NameKind::Place));
    let named = resolve(run, &[row], LEAST_DIGITS)?.remove(0);
    let lines = place.as_ref().map_or(Ok(Vec::new()), |place| line::at(run, place))?;
    let found = rows_of(&named, TableId::Requests);
    if place.as_ref().is_some_and(NamedPlace::is_line)
        && let Some(records) = line::several(run, name.text, &with_places(run, &found)?, &lines)
    {
        return Ok(Why::Records(records));
    }
    if let (Some(other), [_, ..]) = (named.iter().find(|named| named.by != NameKind::Place), &lines[..]) {
        return refuse(also_a_line(run, row, *other));
    }
    // A name with two readings was refused, so the rows are of one table, and two lists have no name in common.
    if let [list, ..] = rows_of(&named, TableId::DocLists)[..] {
        return Ok(Why::List(list::history(run, list)?));
    }
    if !found.is_empty() {
        let requests = found.iter().map(|&row| request::history(run, row)).collect::<Result<_, _>>()?;
        return Ok(Why::Requests { requests });
    }
    match lines.into_iter().next() {
        Some(line) => Ok(Why::Line(line.history(run, name.text))),
        None if is_forgotten(&run.folder, name.text)? => {
            Ok(Why::Forgotten { id: name.text.to_owned(), reason: FORGOTTEN.code })
        }
        None => refuse(no_row(run, row)),
    }
}

/// The message about a name of a request that is a line without one as well.
fn also_a_line(run: &OpenRun, row: &str, other: NamedRow) -> String {
    format!(
        "\"{row}\" is {} of a request of {}, and a line without a request\nhint: write {}: or place: before it",
        other.by.meaning(),
        run.folder.display(),
        other.by.word()
    )
}

/// The message about a name without a row.
fn no_row(run: &OpenRun, row: &str) -> String {
    format!(
        "no row {row} in {}\nhint: use the id in the log, the start of a request id or list id ({LEAST_DIGITS} digits or more), FILE:LINE, FILE#RECORD, or the id of an entry{}{}",
        run.folder.display(),
        prefix_hint(row),
        without_an_id(run)
    )
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
