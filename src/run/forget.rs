//! Removes one record permanently from all files of a finished run.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::refuse;
use super::names::{prefix_hint, resolve, rows_of};
use super::outcome::write_again;
use super::place::{PLACE, name_and_line, of_request};
use super::why::is_forgotten;
use super::{Error, OpenRun, Touched, open};
use crate::columns::TIER;
use crate::engine;
use crate::engine::corpus::Corpus;
use crate::engine::error::damaged;
use crate::engine::folder::RunFolder;
use crate::engine::forgotten::{ANSWER_FORGOTTEN, Forgotten};
use crate::engine::layout::{DECISIONS, step_name};
use crate::engine::manifest::read_run_file;
use crate::engine::row_names::{NameKind, RowName};
use crate::engine::runner::{self, Outcome};
use crate::engine::sink::Exported;
use crate::engine::vocabulary::{RowIx, TableId};
use crate::erasure::dataset;
use crate::erasure::forget::{Erasure, with_equal_records};
use crate::export::tier::HUMAN;
use crate::export::written;
use crate::report::end_of_merges;
use crate::report::model::{Fates, Report};
use crate::stages::Registry;

/// The shortest start of a request id that is taken for one: what is forgotten does not come back, and a number of
/// four digits that the log knows as an id may be the start of another record's.
const SHORTEST_PREFIX: usize = 12;
/// Rows named at most in a message.
const MAX_NAMED: usize = 20;

/// What is to be forgotten.
#[derive(Debug, Clone, Copy)]
pub struct Forget<'a> {
    /// The record, by any name that `callsieve why` takes; the start of a request id has 12 digits or more.
    pub id: &'a str,
    /// Removes every record with this id of the log, if there are several.
    pub all: bool,
}

/// What was forgotten, and where.
#[derive(Debug)]
#[non_exhaustive]
pub struct ForgetReport {
    /// The requests. None if only an interrupted earlier call was finished.
    pub requests: Vec<ForgottenRequest>,
    /// Doc lists that no other request has.
    pub doc_lists: usize,
    /// Ids of requests that are held from now on, since their answer was taken from what was forgotten.
    pub answers_held: Vec<String>,
    /// Ids of requests that were merged into what was forgotten, and may have the same text.
    pub merged_into_them: Vec<String>,
    /// Ids of requests into which it was merged and that a person answered: the answer may repeat its values.
    pub answered_by_people: Vec<String>,
    /// The files that were touched.
    pub files: Vec<Touched>,
    /// The requests of the run by fate, after it.
    pub counts: Fates,
    /// Stages of the run asked a language model, whose replies stay in its cache.
    pub has_asked: bool,
    /// The record is not in the run: the call finished an interrupted earlier one.
    pub is_other: bool,
}

/// A forgotten request: only its place is known.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ForgottenRequest {
    /// The id that it had.
    pub was: String,
    /// The tombstone that replaces its id.
    pub is: String,
    /// The input that it was read from.
    pub file: String,
    /// The line of the input.
    pub line: i64,
    /// The number of the record in the input.
    pub record: Option<i64>,
    /// File and line or record, for people.
    pub place: String,
}

/// Removes a record from a finished run, with the records that are byte for byte the same. Removes nothing if it was
/// forgotten before.
///
/// # Errors
/// There is no such record, the id is that of several, or another process has the run. [`Error::Halfway`] once it has
/// begun: the same call continues from there.
pub fn forget(run: &Path, record: Forget<'_>, registry: &Registry) -> Result<Option<ForgetReport>, Error> {
    // The id must not be written to the lock file.
    let folder = RunFolder::take_existing(run, "callsieve forget")?;
    read_run_file(run)?;
    let run = open(run, registry)?;
    let list = Forgotten::read(&run.folder)?;
    let rows = find(&run, record, &list)?;
    if rows.as_ref().is_none_or(BTreeSet::is_empty) && !list.unfinished {
        if rows.is_some() || is_forgotten(&run.folder, RowName::read(record.id).text)? {
            return Ok(None);
        }
        return refuse(format!(
            "no record {} in {}\nhint: use the id in the log, a request id, or the start of one ({SHORTEST_PREFIX} digits or more); `callsieve why` shows both{}",
            record.id,
            run.folder.display(),
            prefix_hint(record.id)
        ));
    }
    let rows = rows.unwrap_or_default();
    // Before anything else: an interrupted call would not find the row again.
    let decisions = run.folder.join(DECISIONS);
    callsieve_review::store::forget(&decisions, &ids_of(&run, &rows))
        .or_else(|error| refuse(error.to_string()))?;
    let forgotten = erase_all(&folder, &run, &rows).map_err(Error::Halfway)?;
    Ok(Some(ForgetReport { is_other: rows.is_empty(), ..forgotten }))
}

/// The ids of rows, and of the doc lists that no other request has.
fn ids_of(run: &OpenRun, rows: &BTreeSet<RowIx>) -> BTreeSet<String> {
    let Corpus { requests, lists, list, origin, .. } = &run.corpus;
    let is_of = |row: RowIx, id: RowIx| list[row as usize] == id || origin[row as usize] == id;
    let mut own: BTreeSet<RowIx> =
        rows.iter().flat_map(|&row| [list[row as usize], origin[row as usize]]).collect();
    for row in (0..).take(requests.len()).filter(|row| !rows.contains(row)) {
        own.retain(|&id| !is_of(row, id));
    }
    let ids = rows.iter().map(|&row| requests.row_id(row).to_string());
    ids.chain(own.into_iter().map(|id| lists.row_id(id).to_string())).collect()
}

/// The rows that are meant, with those that are byte for byte the same; none if they were forgotten before, and `None`
/// where there is no such row.
fn find(
    run: &OpenRun,
    Forget { id, all }: Forget<'_>,
    list: &Forgotten,
) -> Result<Option<BTreeSet<RowIx>>, Error> {
    let requests = &run.corpus.requests;
    let named = resolve(run, &[id], SHORTEST_PREFIX)?.remove(0);
    let Some(first) = named.first() else { return Ok(None) };
    if first.table == TableId::DocLists {
        return refuse(format!(
            "{id} is a list id of {}, and no record\nhint: a doc list goes with its last record; `callsieve why RUN list:{}` names its requests",
            run.folder.display(),
            RowName::read(id).text
        ));
    }
    let is_by_own_id = first.by == NameKind::External;
    let is_there = |row: &RowIx| !list.is_tombstone(requests.row_id(*row));
    let found: Vec<RowIx> = rows_of(&named, TableId::Requests).into_iter().filter(is_there).collect();
    let equal = with_equal_records(requests, &found);
    let is_one_record = found.first().is_none_or(|&first| equal == with_equal_records(requests, &[first]));
    if is_one_record || (all && is_by_own_id) {
        return Ok(Some(equal));
    }
    let mut names: Vec<String> =
        found.iter().take(MAX_NAMED).map(|&row| format!("  {}", requests.row_id(row))).collect();
    if found.len() > MAX_NAMED {
        names.push(format!("  … and {} more", found.len() - MAX_NAMED));
    }
    let hint = if is_by_own_id {
        "use one of these ids, or forget all of them with --all"
    } else {
        "use one of these ids"
    };
    refuse(format!(
        "{id} is the id of {} records of {}:\n{}\nhint: {hint}",
        found.len(),
        run.folder.display(),
        names.join("\n")
    ))
}

fn erase_all(
    folder: &RunFolder,
    run: &OpenRun,
    rows: &BTreeSet<RowIx>,
) -> engine::error::Result<ForgetReport> {
    let path = folder.path();
    folder.remove_partial()?;
    folder.remove_parts()?;
    let rows: Vec<RowIx> = rows.iter().copied().collect();
    let erasure = Erasure::begin(folder, &run.ingest, &run.stages, &rows)?;
    // Before files are replaced that the open run reads.
    let answered = answered_by_people(run, &erasure.requests)?;
    let mut touched = Vec::new();
    if let Some(bytes) = folder.remove_spool()? {
        let spool = Touched::of(path, &folder.spool());
        touched.push(Touched { removed: true, bytes_before: bytes, ..spool });
    }
    touched.extend(if run.job().erases_entries() {
        dataset::erase(path, &erasure.entries)?
    } else {
        dataset::remove(path)?
    });
    touched.extend(erasure.clean()?);
    touched.extend(erasure.bury()?);
    touched.sort_by(|one, other| one.file.cmp(&other.file));
    let (report, corpus) = write_outcome(folder, run)?;
    // With those of an interrupted call.
    let has_new_id = |row: &RowIx| corpus.requests.row_id(*row) != run.corpus.requests.row_id(*row);
    let rows: Vec<RowIx> = erasure.requests.iter().copied().filter(has_new_id).collect();
    let was_held = |row: RowIx| {
        run.corpus.requests.fate(row).is_some_and(|fate| fate.reason.code == ANSWER_FORGOTTEN.code)
    };
    let answers = erasure.answers.iter().copied().filter(|&row| !was_held(row));
    let forgotten = ForgetReport {
        requests: places(run, &corpus, &rows)?,
        doc_lists: erasure
            .lists
            .iter()
            .filter(|&&list| corpus.lists.row_id(list) != run.corpus.lists.row_id(list))
            .count(),
        answers_held: answers.map(|row| corpus.requests.row_id(row).to_string()).collect(),
        merged_into_them: merged_into(run, &rows),
        answered_by_people: answered,
        files: touched,
        has_asked: !report.language_models.is_empty(),
        counts: report.requests,
        is_other: false,
    };
    erasure.finish()?;
    Ok(forgotten)
}

/// Writes the files about the whole run again, from the remaining rows.
fn write_outcome(folder: &RunFolder, run: &OpenRun) -> engine::error::Result<(Report, Corpus)> {
    let corpus = runner::open(folder.path(), &run.ingest, &run.stages)?;
    let kept = corpus.requests.in_order().iter().copied().filter(|&row| corpus.requests.is_kept(row));
    let has_dataset = folder.path().join("dataset").is_dir();
    let counts = written::counts(folder.path())?;
    let exported = has_dataset.then(|| Exported {
        rows: kept.collect(),
        counts: counts.made,
        frozen: counts.frozen,
        ..Exported::default()
    });
    let mut stages = Vec::new();
    for (at, instance) in run.stages.iter().enumerate() {
        let step = format!("stages/{}", step_name(at, &instance.id));
        let manifest = folder.manifest(&step)?;
        stages.push(manifest.ok_or_else(|| damaged(folder.path(), format!("the step {step} is not there")))?);
    }
    let outcome = Outcome { ingest: run.ingest.clone(), stages, reused: 0, corpus, exported };
    let report = write_again(&run.stages, folder, &outcome, &run.file, &run.registry)?;
    Ok((report, outcome.corpus))
}

fn places(run: &OpenRun, corpus: &Corpus, rows: &[RowIx]) -> engine::error::Result<Vec<ForgottenRequest>> {
    let requests = &corpus.requests;
    let mut places = Vec::new();
    for &row in rows {
        let batch = requests.batch_of(row);
        let cells = requests.read_batch(batch, &PLACE)?;
        let place = of_request(&cells, row as usize - requests.batch(batch).start);
        let file = place.and_then(|place| run.file.inputs.get(usize::try_from(place.file).ok()?));
        places.push(ForgottenRequest {
            was: run.corpus.requests.row_id(row).to_string(),
            is: requests.row_id(row).to_string(),
            file: file.map_or_else(|| "?".to_owned(), |input| input.path.clone()),
            line: place.map_or(0, |place| place.line),
            record: place.and_then(|place| place.record),
            place: name_and_line(run, place),
        });
    }
    Ok(places)
}

/// Rows into which these rows were merged, and which a person answered, perhaps with suggested values of these rows.
fn answered_by_people(run: &OpenRun, rows: &BTreeSet<RowIx>) -> engine::error::Result<Vec<String>> {
    let requests = &run.corpus.requests;
    if !requests.has(TIER) {
        return Ok(Vec::new());
    }
    let ends: BTreeSet<RowIx> = rows.iter().map(|&row| end_of_merges(requests, row)).collect();
    let mut answered = Vec::new();
    for row in ends.into_iter().filter(|row| !rows.contains(row)) {
        let batch = requests.batch_of(row);
        let cells = requests.read_batch(batch, &[TIER])?;
        if cells.text(TIER, row as usize - requests.batch(batch).start) == Some(HUMAN) {
            answered.push(requests.row_id(row).to_string());
        }
    }
    Ok(answered)
}

/// Rows that were merged into these rows: they keep their fate, and may have the same text.
fn merged_into(run: &OpenRun, rows: &[RowIx]) -> Vec<String> {
    let requests = &run.corpus.requests;
    let rows: BTreeSet<RowIx> = rows.iter().copied().collect();
    let is_merged = |row: &RowIx| {
        let into = requests.fate(*row).and_then(|fate| fate.into);
        into.is_some_and(|into| rows.contains(&into)) && !rows.contains(row)
    };
    requests
        .in_order()
        .iter()
        .copied()
        .filter(is_merged)
        .map(|row| requests.row_id(row).to_string())
        .collect()
}
