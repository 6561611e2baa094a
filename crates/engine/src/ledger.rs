//! The ledger: all fates and edits of a run in one table, and the final state of each row.
//!
//! It is computed at the end of each run from the stages' deltas, so the two never disagree. Events are ordered by
//! stage, table and the canonical order of rows. `rows.parquet` and `lists.parquet` hold the final state, one row per
//! request or list. `links.parquet`, with all links, is written with them.

use std::panic::resume_unwind;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::background_writer::BackgroundWriter;
use super::context::Cancel;
use super::corpus::{BatchCells, Corpus, IdDigits, RowId, Table};
use super::decisions::{DECIDE, DECIDED, StoredRuling, read_rulings};
use super::delta::{EDITS, FATES, GROUP_ROWS, StoredEdit, StoredFate, StoredFates, read_edits, read_scores};
use super::error::{At, Error, Result, damaged};
use super::folder::RunFolder;
use super::forgotten::{self, FORGOTTEN};
use super::frame::{FrameWriter, Values};
use super::instance::StageInstance;
use super::layout::{LINKS, step_name, temporary_path};
use super::links;
use super::vocabulary::{Action, ColumnKind, ColumnSpec, RowIx, TableId};

/// One event of a run, with ids in place of row numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event<'a> {
    /// The row's table.
    pub table: TableId,
    /// The row's content id.
    pub row_id: RowId,
    /// The stage's id.
    pub stage: &'a str,
    /// `drop`, `merge`, `hold`, `edit`; `decide` for a decision of a person; `forget` for a forgotten row.
    pub action: &'a str,
    /// Reason code.
    pub reason: &'a str,
    /// For a merge: the id of the row that it was merged into.
    pub into: Option<RowId>,
    /// The event followed from the fate of the parent or the children.
    pub cascaded: bool,
    /// The metric and the score; see [`super::vocabulary::Evidence`].
    pub score: Option<(&'a str, f64)>,
    /// For an edit: the change.
    pub edit: Option<Change<'a>>,
    /// Other evidence, JSON.
    pub evidence: Option<&'a str>,
}

/// The change of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The column.
    pub column: &'a str,
    /// `safe`, `unsafe` or `suggest`.
    pub safety: &'a str,
    /// RFC 6902, or one operation `redact`.
    pub patch: &'a str,
}

/// Visits the events of one stage for the `wanted` rows, in canonical order.
///
/// The stored events are read as a whole, some tens of bytes each, and visited in groups, because a complete event is
/// larger.
///
/// # Errors
/// The run folder is damaged, or `visit` fails.
pub fn for_each_event(
    run: &Path,
    at: usize,
    stage: &StageInstance,
    corpus: &Corpus,
    wanted: impl Fn(TableId, RowIx) -> bool,
    mut visit: impl FnMut(&[Event<'_>]) -> Result<()>,
) -> Result<()> {
    let folder = run.join("stages").join(step_name(at, &stage.id));
    for_each_fate(&StoredFates::open(&folder.join(FATES))?, &stage.id, corpus, &wanted, &mut visit)?;
    let path = folder.join(EDITS);
    let mut edits = read_edits(&path)?;
    check_rows(&path, "an edit", corpus, edits.iter().map(|edit| (edit.table, edit.row)))?;
    edits.retain(|edit| wanted(edit.table, edit.row));
    edits.sort_by_key(|edit| place(corpus, edit.table, edit.row));
    for group in edits.chunks(GROUP_ROWS) {
        visit(&group.iter().map(|edit| of_edit(edit, &stage.id, corpus)).collect::<Vec<_>>())?;
    }
    let path = folder.join(DECIDED);
    let mut rulings = read_rulings(&path)?;
    check_rows(&path, "a decision", corpus, rulings.iter().map(|ruling| (ruling.table, ruling.row)))?;
    rulings.retain(|ruling| wanted(ruling.table, ruling.row));
    rulings.sort_by_key(|ruling| place(corpus, ruling.table, ruling.row));
    if rulings.is_empty() {
        return Ok(());
    }
    visit(&rulings.iter().map(|ruling| of_ruling(ruling, &stage.id, corpus)).collect::<Vec<_>>())
}

/// Refuses events of rows that the run does not have.
fn check_rows(
    path: &Path,
    what: &str,
    corpus: &Corpus,
    mut rows: impl Iterator<Item = (TableId, RowIx)>,
) -> Result<()> {
    match rows.find(|&(table, row)| row as usize >= corpus.table(table).len()) {
        Some((_, row)) => Err(damaged(path, format!("{what} of row {row}, which does not exist"))),
        None => Ok(()),
    }
}

fn of_ruling<'a>(ruling: &'a StoredRuling, stage: &'a str, corpus: &Corpus) -> Event<'a> {
    Event {
        table: ruling.table,
        row_id: corpus.table(ruling.table).row_id(ruling.row),
        stage,
        action: DECIDE,
        reason: &ruling.reason,
        into: None,
        cascaded: false,
        score: None,
        edit: None,
        evidence: Some(&ruling.detail),
    }
}

/// Visits the `wanted` fates in canonical order.
fn for_each_fate(
    stored: &StoredFates,
    stage: &str,
    corpus: &Corpus,
    wanted: impl Fn(TableId, RowIx) -> bool,
    mut visit: impl FnMut(&[Event<'_>]) -> Result<()>,
) -> Result<()> {
    let mut order: Vec<_> = stored
        .rows()
        .filter(|&(_, table, row)| wanted(table, row))
        .map(|(at, table, row)| (place(corpus, table, row), at))
        .collect();
    order.sort_unstable();
    for group in order.chunks(GROUP_ROWS) {
        let fates = group.iter().filter_map(|&(_, at)| stored.get(at));
        visit(&fates.map(|fate| of_fate(&fate, stage, corpus)).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Returns the sort key of an event in canonical order.
fn place(corpus: &Corpus, table: TableId, row: RowIx) -> (TableId, u32) {
    (table, corpus.table(table).position(row))
}

fn of_fate<'a>(fate: &StoredFate<'a>, stage: &'a str, corpus: &Corpus) -> Event<'a> {
    let table = corpus.table(fate.table);
    Event {
        table: fate.table,
        row_id: table.row_id(fate.row),
        stage,
        action: fate.action,
        reason: fate.reason,
        into: fate.into.map(|into| table.row_id(into)),
        cascaded: fate.cascaded,
        score: fate.score,
        edit: None,
        evidence: fate.detail,
    }
}

fn of_edit<'a>(edit: &'a StoredEdit, stage: &'a str, corpus: &Corpus) -> Event<'a> {
    Event {
        table: edit.table,
        row_id: corpus.table(edit.table).row_id(edit.row),
        stage,
        action: EDIT,
        reason: &edit.reason,
        into: None,
        cascaded: false,
        score: None,
        edit: Some(Change { column: &edit.column, safety: &edit.safety, patch: &edit.patch }),
        evidence: None,
    }
}

/// The action of an event that changed a cell.
pub const EDIT: &str = "edit";
/// The stage in the ledger for rows that were forgotten after the run.
pub const FORGET: &str = "forget";

/// Visits the events of forgotten rows, in canonical order.
///
/// # Errors
/// The run folder is damaged, or `visit` fails.
pub fn for_each_forgotten(
    run: &Path,
    corpus: &Corpus,
    mut visit: impl FnMut(&[Event<'_>]) -> Result<()>,
) -> Result<()> {
    let Some(stored) = forgotten::stored(run)? else { return Ok(()) };
    for_each_fate(
        &stored,
        FORGET,
        corpus,
        |_, _| true,
        |events| {
            let mut events = events.to_vec();
            events
                .iter_mut()
                .filter(|event| event.reason == FORGOTTEN.code)
                .for_each(|event| event.action = FORGET);
            visit(&events)
        },
    )
}

/// Visits every event of a run: by stage, and in canonical order.
///
/// # Errors
/// The run folder is damaged, or `visit` fails.
pub fn for_every_event(
    run: &Path,
    stages: &[StageInstance],
    corpus: &Corpus,
    mut visit: impl FnMut(&[Event<'_>]) -> Result<()>,
) -> Result<()> {
    for (at, stage) in stages.iter().enumerate() {
        for_each_event(run, at, stage, corpus, |_, _| true, &mut visit)?;
    }
    for_each_forgotten(run, corpus, visit)
}

/// Writes `ledger.parquet`, `rows.parquet`, `lists.parquet` and `links.parquet`.
///
/// `rows.parquet` and `lists.parquet` copy the `listed` columns. `also` receives the events of the ledger as they are
/// written, group by group, so that the counts of a run match the ledger.
///
/// # Errors
/// A file cannot be read or written.
pub fn write(
    folder: &RunFolder,
    stages: &[StageInstance],
    corpus: &Corpus,
    listed: &Listed<'_>,
    exported: bool,
    also: impl FnMut(&[Event<'_>]) + Send,
) -> Result<()> {
    let sources = LedgerSources { folder: folder.path(), stages, corpus, listed };
    // The files do not depend on one another. They are written on separate threads, because writing would block the
    // threads of the pool.
    std::thread::scope(|scope| {
        let folds = scope.spawn(|| {
            sources.write_rows(exported)?;
            sources.write_lists()?;
            sources.write_links()
        });
        let ledger = sources.write_ledger(also);
        ledger.and(folds.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// The columns of `rows.parquet` and `lists.parquet` besides ids and fates.
#[derive(Default)]
pub struct Listed<'a> {
    /// Columns that are copied.
    pub columns: Vec<ColumnSpec>,
    /// Columns of `rows.parquet` that are computed from others.
    pub of_requests: Vec<Derived<'a>>,
    /// Reports whether the user asked to stop.
    pub cancel: Option<&'a dyn Cancel>,
}

/// Computes a cell of a row of a batch.
pub type CellOf<'a> = Box<dyn Fn(&BatchCells, usize) -> Option<String> + Sync + 'a>;

/// A column that is computed from another one.
pub struct Derived<'a> {
    /// Its name.
    pub name: &'static str,
    /// The column that it is computed from.
    pub reads: ColumnSpec,
    /// Its value in one row of a batch.
    pub value: CellOf<'a>,
}

/// The sources of the files.
#[derive(Clone, Copy)]
struct LedgerSources<'a> {
    folder: &'a Path,
    stages: &'a [StageInstance],
    corpus: &'a Corpus,
    listed: &'a Listed<'a>,
}

impl LedgerSources<'_> {
    /// Writes a file under a temporary name, and renames it.
    fn write_file(
        &self,
        name: &str,
        background_writer: Option<&BackgroundWriter>,
        write: impl FnOnce(&mut FrameWriter) -> Result<()>,
    ) -> Result<()> {
        let path = self.folder.join(name);
        let temporary = temporary_path(&path);
        let mut writer = FrameWriter::create(&temporary);
        if let Some(background_writer) = background_writer {
            writer = writer.by(background_writer);
        }
        if let Err(error) = write(&mut writer) {
            drop(writer);
            // What is left of it is of no use; that it cannot be removed is no new error.
            let _ = std::fs::remove_file(&temporary);
            return Err(error);
        }
        writer.finish()?;
        background_writer.map_or(Ok(()), BackgroundWriter::wait)?;
        std::fs::rename(&temporary, &path).at("renaming", &temporary)
    }

    fn go_on(&self) -> Result<()> {
        if self.listed.cancel.is_some_and(Cancel::is_cancelled) { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn listed_of(&self, table: TableId) -> Vec<ColumnSpec> {
        self.listed.columns.iter().copied().filter(|column| column.table == table).collect()
    }

    fn write_ledger(&self, mut also: impl FnMut(&[Event<'_>])) -> Result<()> {
        self.write_file("ledger.parquet", Some(&BackgroundWriter::default()), |writer| {
            write_events(writer, &[])?;
            for_every_event(self.folder, self.stages, self.corpus, |events| {
                self.go_on()?;
                also(events);
                write_events(writer, events)
            })
        })
    }

    /// Writes the final state of each request, in the order of the log.
    fn write_rows(&self, exported: bool) -> Result<()> {
        let Self { stages, corpus, .. } = *self;
        let listed = self.listed_of(TableId::Requests);
        let derived = &self.listed.of_requests;
        let mut read = listed.clone();
        read.extend(derived.iter().map(|column| column.reads).filter(|column| !listed.contains(column)));
        self.write_file("rows.parquet", None, |writer| {
            for batch in 0..corpus.requests.batches() {
                self.go_on()?;
                let range = corpus.requests.batch(batch);
                let cells = corpus.requests.read_batch(batch, &read)?;
                let made = |column: &Derived<'_>| -> Vec<Option<String>> {
                    (0..range.len()).map(|at| (column.value)(&cells, at)).collect()
                };
                let made: Vec<Vec<Option<String>>> = derived.iter().map(made).collect();
                let states = RowStates::of(&corpus.requests, batch, exported);
                let list_id = |list: &RowIx| corpus.lists.row_id(*list).digits();
                let lists: Vec<IdDigits> = corpus.list[range.clone()].iter().map(list_id).collect();
                let origins: Vec<IdDigits> = corpus.origin[range.clone()].iter().map(list_id).collect();
                let mut frame = states.columns("request_id", stages);
                frame.extend(listed.iter().map(|&column| copied(column, &cells, range.len())));
                frame.extend([
                    ("list_id", Values::Text(lists.iter().map(|id| Some(id.as_str())).collect())),
                    ("origin_list_id", Values::Text(origins.iter().map(|id| Some(id.as_str())).collect())),
                ]);
                frame.extend(derived.iter().zip(&made).map(|(column, values)| {
                    (column.name, Values::Text(values.iter().map(Option::as_deref).collect()))
                }));
                writer.write(frame)?;
            }
            Ok(())
        })
    }

    /// Writes the final state of each doc list, with its current functions.
    fn write_lists(&self) -> Result<()> {
        let Self { folder, stages, corpus, .. } = *self;
        let mut scores: FxHashMap<RowIx, f64> = FxHashMap::default();
        for (at, stage) in stages.iter().enumerate() {
            let path = folder.join("stages").join(step_name(at, &stage.id)).join(FATES);
            scores.extend(read_scores(&path, TableId::DocLists)?);
        }
        let listed = self.listed_of(TableId::DocLists);
        self.write_file("lists.parquet", None, |writer| {
            for batch in 0..corpus.lists.batches() {
                self.go_on()?;
                let range = corpus.lists.batch(batch);
                let cells = corpus.lists.read_batch(batch, &listed)?;
                let states = RowStates::of(&corpus.lists, batch, false);
                let score = |row: RowIx| scores.get(&row).copied();
                let mut frame = states.columns("list_id", stages);
                frame.push(("score", Values::Float(corpus.lists.rows_of_batch(batch).map(score).collect())));
                frame.extend(listed.iter().map(|&column| copied(column, &cells, range.len())));
                writer.write(frame)?;
            }
            Ok(())
        })
    }

    /// Writes the links of all stages.
    fn write_links(&self) -> Result<()> {
        let cancelled = || self.listed.cancel.is_some_and(Cancel::is_cancelled);
        self.write_file(LINKS, None, |writer| {
            links::fold(self.folder, self.stages, self.corpus, writer, &cancelled)
        })
    }
}

/// Returns a column of a batch to be copied.
fn copied(column: ColumnSpec, cells: &BatchCells, n_rows: usize) -> (&'static str, Values<'_>) {
    let values = match column.kind {
        ColumnKind::Text => Values::Text((0..n_rows).map(|at| cells.text(column, at)).collect()),
        ColumnKind::Int => Values::Int((0..n_rows).map(|at| cells.int(column, at)).collect()),
    };
    (column.name, values)
}

fn write_events(writer: &mut FrameWriter, events: &[Event<'_>]) -> Result<()> {
    let ids: Vec<IdDigits> = events.iter().map(|event| event.row_id.digits()).collect();
    let into: Vec<Option<IdDigits>> = events.iter().map(|event| event.into.map(RowId::digits)).collect();
    let text =
        |get: for<'e> fn(&Event<'e>) -> Option<&'e str>| Values::Text(events.iter().map(get).collect());
    writer.write(vec![
        ("table_name", text(|event| Some(event.table.name()))),
        ("row_id", Values::Text(ids.iter().map(|id| Some(id.as_str())).collect())),
        ("stage", text(|event| Some(event.stage))),
        ("action", text(|event| Some(event.action))),
        ("reason", text(|event| Some(event.reason))),
        ("merged_into", Values::Text(into.iter().map(|id| id.as_ref().map(IdDigits::as_str)).collect())),
        ("cascaded", Values::Int(events.iter().map(|event| Some(i64::from(event.cascaded))).collect())),
        ("score", Values::Float(events.iter().map(|event| event.score.map(|(_, score)| score)).collect())),
        ("metric", text(|event| event.score.map(|(metric, _)| metric))),
        ("column_name", text(|event| event.edit.map(|edit| edit.column))),
        ("safety", text(|event| event.edit.map(|edit| edit.safety))),
        ("patch", text(|event| event.edit.map(|edit| edit.patch))),
        ("evidence", text(|event| event.evidence)),
    ])
}

/// Returns the word for a row's fate at the end of a run.
pub fn fate_word(table: &Table, row: RowIx, exported: bool) -> &'static str {
    match table.fate(row) {
        Some(fate) if fate.reason.code == FORGOTTEN.code => "forgotten",
        Some(fate) => match fate.action {
            Action::Drop => "dropped",
            Action::Merge => "merged",
            Action::Hold => "held",
        },
        None if exported => "exported",
        None => "kept",
    }
}

/// The columns that `rows.parquet` and `lists.parquet` share.
struct RowStates {
    ids: Vec<IdDigits>,
    fates: Vec<&'static str>,
    stages: Vec<Option<usize>>,
    reasons: Vec<Option<&'static str>>,
    into: Vec<Option<IdDigits>>,
}

impl RowStates {
    fn of(table: &Table, batch: usize, exported: bool) -> Self {
        let rows = table.rows_of_batch(batch);
        let mut standing = Self { ids: vec![], fates: vec![], stages: vec![], reasons: vec![], into: vec![] };
        for row in rows {
            let fate = table.fate(row);
            standing.ids.push(table.row_id(row).digits());
            standing.fates.push(fate_word(table, row, exported));
            standing.stages.push(fate.map(|fate| usize::from(fate.stage)));
            standing.reasons.push(fate.map(|fate| fate.reason.code));
            standing.into.push(fate.and_then(|fate| fate.into).map(|into| table.row_id(into).digits()));
        }
        standing
    }

    fn columns<'a>(&'a self, id: &'a str, stages: &'a [StageInstance]) -> Vec<(&'a str, Values<'a>)> {
        let stage = |at: &Option<usize>| at.and_then(|at| stages.get(at)).map(|stage| stage.id.as_str());
        vec![
            (id, Values::Text(self.ids.iter().map(|id| Some(id.as_str())).collect())),
            ("fate", Values::Text(self.fates.iter().map(|&fate| Some(fate)).collect())),
            ("stage", Values::Text(self.stages.iter().map(stage).collect())),
            ("reason", Values::Text(self.reasons.clone())),
            (
                "merged_into",
                Values::Text(self.into.iter().map(|id| id.as_ref().map(IdDigits::as_str)).collect()),
            ),
        ]
    }
}
