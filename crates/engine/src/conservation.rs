//! Conservation of rows: no row is lost, invented or written twice. A run that violates this stops with an error.

use super::corpus::Corpus;
use super::delta::{KeptRows, StageManifest};
use super::error::{Error, Result};
use super::raw::{IngestCounts, InputsRead};
use super::vocabulary::{RowIx, TableId};

/// Checks that every line of the inputs became a request or a doc list, or has a fate. It compares the source's own
/// count with what arrived.
pub(super) fn check_lines(read: &InputsRead, arrived: &IngestCounts) -> Result<()> {
    let accounted = arrived.accounted();
    if read.lines() == accounted {
        return Ok(());
    }
    let InputsRead { items, further_parts, .. } = read;
    let what =
        format!("{items} items with {further_parts} further parts in the inputs, {accounted} lines arrived");
    Err(broken("ingest", what))
}

/// Checks that rows in equal rows out, by the stage's own counts and by the tables.
pub(super) fn check_stage(manifest: &StageManifest, corpus: &Corpus) -> Result<()> {
    let after = kept(corpus);
    let sides = [
        (TableId::Requests, manifest.before.requests, after.requests),
        (TableId::DocLists, manifest.before.doc_lists, after.doc_lists),
    ];
    for (table, before, after) in sides {
        let fates = manifest.fates.iter().filter(|count| count.table == table);
        let lost = fates.map(|count| count.rows).sum::<u64>();
        if before != after + lost {
            let what = format!("{}: {before} before, {after} kept, {lost} with a fate", table.name());
            return Err(broken(&manifest.id, what));
        }
    }
    check_links(&manifest.id, corpus)
}

/// Checks that every kept request has a kept list.
fn check_links(stage: &str, corpus: &Corpus) -> Result<()> {
    let stray = (0..)
        .zip(&corpus.list)
        .find(|&(row, &list)| corpus.requests.is_kept(row) && !corpus.lists.is_kept(list));
    match stray {
        None => Ok(()),
        Some((row, _)) => {
            let what = format!("request {} is kept, its doc list is not", corpus.requests.row_id(row));
            Err(broken(stage, what))
        }
    }
}

/// Checks that each kept request was written once, and nothing else.
pub(super) fn check_export(sink: &str, rows: &[RowIx], corpus: &Corpus) -> Result<()> {
    let requests = &corpus.requests;
    let mut written = vec![false; requests.len()];
    for &row in rows {
        let Some(is_written) = written.get_mut(row as usize) else {
            return Err(broken(sink, format!("request number {row} was written and does not exist")));
        };
        if std::mem::replace(is_written, true) || !requests.is_kept(row) {
            let what = format!("request {} was written twice or was not kept", requests.row_id(row));
            return Err(broken(sink, what));
        }
    }
    if rows.len() != requests.kept() {
        return Err(broken(sink, format!("{} requests kept, {} written", requests.kept(), rows.len())));
    }
    Ok(())
}

/// Returns the number of kept rows of each table.
pub(crate) fn kept(corpus: &Corpus) -> KeptRows {
    KeptRows { requests: corpus.requests.kept() as u64, doc_lists: corpus.lists.kept() as u64 }
}

fn broken(at: &str, what: String) -> Error {
    Error::Conservation { at: at.to_owned(), what }
}
