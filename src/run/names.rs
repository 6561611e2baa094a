//! Which row of a finished run a person means: the one resolver of all commands that take the name of a row.
//!
//! A name is the id of an entry, a request id or list id or the start of one, the log's own id of a request, or a place in
//! the inputs (`FILE:LINE`, `FILE#RECORD`). The log's own ids can be any text, so a name with two readings that lead
//! to different rows is refused with both, and a prefix chooses one. Several rows with one reading (steps of a
//! conversation under one id) are left to the command. See `engine::row_names`.

use std::collections::BTreeMap;

use super::error::refuse;
use super::place::{NamedPlace, PLACE, name_and_line, of_request};
use super::{Error, OpenRun};
use crate::columns::EXTERNAL_ID;
use crate::engine::corpus::RowId;
use crate::engine::entries;
use crate::engine::frame::FrameFile;
use crate::engine::layout::INGEST;
use crate::engine::raw::{REQUESTS, StoredPlace};
use crate::engine::row_names::{NameKind, NamedRow, RowName, is_ambiguous, rows_named};
use crate::engine::vocabulary::{RowIx, TableId};
use crate::text::visible::visible_line;

/// Rows named at most in a message.
const MAX_NAMED: usize = 20;
/// Returns the rows that each name means, in canonical order; none if there is no such row. A content id needs
/// `least_digits` digits.
///
/// # Errors
/// A name has readings that lead to different rows, or a file of the run folder cannot be read.
pub(super) fn resolve(
    run: &OpenRun,
    written: &[&str],
    least_digits: usize,
) -> Result<Vec<Vec<NamedRow>>, Error> {
    let names: Vec<RowName<'_>> = written.iter().map(|written| RowName::read(written)).collect();
    let mut found = rows_named(&names, least_digits, &run.corpus, EXTERNAL_ID)?;
    add_as_logged(run, &names, &mut found)?;
    add_entries(run, &names, &mut found)?;
    add_places(run, &names, &mut found)?;
    for (written, rows) in written.iter().zip(&mut found) {
        let order =
            |named: &NamedRow| (named.by, named.table, run.corpus.table(named.table).position(named.row));
        rows.sort_by_key(order);
        rows.dedup();
        if is_ambiguous(rows) {
            return refuse(ambiguous(run, written, rows)?);
        }
        if rows.len() > 1 && matches!(rows[0].by, NameKind::Request | NameKind::List) {
            return refuse(several_starts(run, written, rows));
        }
    }
    Ok(found)
}

/// Returns the distinct rows of one table among those that a name means.
pub(super) fn rows_of(named: &[NamedRow], table: TableId) -> Vec<RowIx> {
    let mut rows: Vec<RowIx> =
        named.iter().filter(|named| named.table == table).map(|named| named.row).collect();
    // Only one reading leads to several rows, so equal ones are neighbours.
    rows.dedup();
    rows
}

/// A hint on names with a prefix that is part of an id of the log.
pub(super) fn prefix_hint(written: &str) -> String {
    match RowName::read(written).kind {
        None | Some(NameKind::External) => String::new(),
        Some(_) => format!("; `external:{}` is the id of the log with this beginning", visible_line(written)),
    }
}

/// Adds the rows with the log's own id as it was logged; the tables have it as redaction left it.
fn add_as_logged(run: &OpenRun, names: &[RowName<'_>], found: &mut [Vec<NamedRow>]) -> Result<(), Error> {
    let requests = &run.corpus.requests;
    if !requests.has(EXTERNAL_ID) {
        return Ok(());
    }
    let file = FrameFile::open(&run.folder.join(INGEST).join(REQUESTS))?;
    for batch in 0..requests.batches() {
        let range = requests.batch(batch);
        let frame = file.read(range.start, range.len(), Some(&[EXTERNAL_ID.name]))?;
        let Some(ids) = frame.texts(EXTERNAL_ID.name) else { return Ok(()) };
        for row in requests.rows_of_batch(batch) {
            let Some(id) = ids.get(row as usize - range.start) else { continue };
            for (name, rows) in names.iter().zip(&mut *found) {
                if name.may_be(NameKind::External) && name.text == id {
                    rows.push(NamedRow { by: NameKind::External, table: TableId::Requests, row });
                }
            }
        }
    }
    Ok(())
}

/// Adds the requests that entries of the dataset were made from, by the id of the entry or the published id of the request.
fn add_entries(run: &OpenRun, names: &[RowName<'_>], found: &mut [Vec<NamedRow>]) -> Result<(), Error> {
    let entries = entries::read(&run.folder)?;
    let requests = &run.corpus.requests;
    for (name, rows) in names.iter().zip(found).filter(|(name, _)| name.may_be(NameKind::Entry)) {
        let is_meant = |origin: &&entries::EntryOrigin| {
            origin.id == name.text || origin.published_id.as_deref() == Some(name.text)
        };
        for record in entries.iter().filter(is_meant).filter_map(entries::EntryOrigin::record) {
            let row = requests.in_order().iter().find(|&&row| requests.row_id(row) == RowId(record));
            rows.extend(row.map(|&row| NamedRow { by: NameKind::Entry, table: TableId::Requests, row }));
        }
    }
    Ok(())
}

fn add_places(run: &OpenRun, names: &[RowName<'_>], found: &mut [Vec<NamedRow>]) -> Result<(), Error> {
    let place =
        |name: &RowName<'_>| NamedPlace::read(run, name.text).filter(|_| name.may_be(NameKind::Place));
    let places: Vec<(usize, NamedPlace)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((at, place(name)?))).collect();
    let requests = &run.corpus.requests;
    for batch in (0..requests.batches()).take_while(|_| !places.is_empty()) {
        let cells = requests.read_batch(batch, &PLACE)?;
        let start = requests.batch(batch).start;
        for row in requests.rows_of_batch(batch) {
            let Some(is_at) = of_request(&cells, row as usize - start) else { continue };
            for (at, _) in places.iter().filter(|(_, place)| place.is_at(is_at)) {
                found[*at].push(NamedRow { by: NameKind::Place, table: TableId::Requests, row });
            }
        }
    }
    Ok(())
}

/// Returns the message about a name with several readings: each with the name that has only this one.
fn ambiguous(run: &OpenRun, written: &str, named: &[NamedRow]) -> Result<String, Error> {
    let shown = visible_line(written);
    let mut lines = Vec::new();
    for NamedRow { by, table, row } in named.iter().take(MAX_NAMED) {
        let id = run.corpus.table(*table).row_id(*row).to_string();
        let what = match table {
            TableId::Requests => format!("request {id}, {}", name_and_line(run, places_of(run, &[*row])?[0])),
            TableId::DocLists => format!("list {id}"),
        };
        lines.push(format!("  {}:{shown}  {} of {what}", by.word(), by.meaning()));
    }
    if named.len() > MAX_NAMED {
        lines.push(format!("  … and {} more", named.len() - MAX_NAMED));
    }
    Ok(format!(
        "\"{shown}\" means different rows of {}:\n{}\nhint: write the prefix as in this list, or the whole id after `request:` or `list:`",
        run.folder.display(),
        lines.join("\n")
    ))
}

/// Returns the message about the start of several ids.
fn several_starts(run: &OpenRun, written: &str, named: &[NamedRow]) -> String {
    let id = |named: &NamedRow| format!("  {}", run.corpus.table(named.table).row_id(named.row));
    let mut lines: Vec<String> = named.iter().take(MAX_NAMED).map(id).collect();
    if named.len() > MAX_NAMED {
        lines.push(format!("  … and {} more", named.len() - MAX_NAMED));
    }
    format!(
        "\"{}\" is the start of {} {} ids of {}:\n{}\nhint: use more digits",
        visible_line(written),
        named.len(),
        named[0].by.word(),
        run.folder.display(),
        lines.join("\n")
    )
}

/// Returns the places that requests were read from, in their order.
pub(super) fn places_of(run: &OpenRun, rows: &[RowIx]) -> Result<Vec<Option<StoredPlace>>, Error> {
    let requests = &run.corpus.requests;
    let mut batches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (nth, &row) in rows.iter().enumerate() {
        batches.entry(requests.batch_of(row)).or_default().push(nth);
    }
    let mut places = vec![None; rows.len()];
    for (batch, of_batch) in batches {
        let cells = requests.read_batch(batch, &PLACE)?;
        let start = requests.batch(batch).start;
        for nth in of_batch {
            places[nth] = of_request(&cells, rows[nth] as usize - start);
        }
    }
    Ok(places)
}
