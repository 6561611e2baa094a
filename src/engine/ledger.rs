//! The ledger: every fate and every edit of a run in one table, and where each row stands.
//!
//! Made anew at the end of each run from the stages' deltas, so it never disagrees with
//! them. Events stand by stage, table and the rows' canonical order. `rows.parquet` and
//! `lists.parquet` hold the fold: one line a row, with its last word. `links.parquet`, of all links, is written with them.

use std::panic::resume_unwind;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::background_writer::BackgroundWriter;
use super::corpus::{BatchCells, Corpus, IdDigits, RowId, Table};
use super::decisions::{DECIDE, DECIDED, StoredRuling, read_rulings};
use super::delta::{EDITS, FATES, GROUP_ROWS, StoredEdit, StoredFate, StoredFates, read_edits, read_scores};
use super::error::{At, Result, damaged};
use super::folder::RunFolder;
use super::forgotten::{self, FORGOTTEN};
use super::frame::{FrameWriter, Values};
use super::instance::StageInstance;
use super::layout::{LINKS, beside, step_name};
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
    /// `drop`, `merge`, `hold`, `edit`; `decide` where a person decided; `forget` for a row of which only the place is left.
    pub action: &'a str,
    /// Reason code.
    pub reason: &'a str,
    /// For a merge: the id of the row that stands for it.
    pub into: Option<RowId>,
    /// It followed from the fate of the parent or the children.
    pub cascaded: bool,
    /// What was measured, and the number; see [`super::vocabulary::Evidence`].
    pub score: Option<(&'a str, f64)>,
    /// For an edit: what was changed and how.
    pub edit: Option<Change<'a>>,
    /// Anything else, JSON.
    pub evidence: Option<&'a str>,
}

/// What an edit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The column.
    pub column: &'a str,
    /// `safe`, `unsafe` or `suggest`.
    pub safety: &'a str,
    /// RFC 6902, or one operation `redact`.
    pub patch: &'a str,
}

/// Visits the events of one stage for the rows that are `wanted`, in canonical order.
///
/// They are read as a whole, some tens of bytes each, and told in groups, since an event with all that belongs to it is
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

/// Refuses what is said of a row that the run does not have.
fn check_rows(
    path: &Path,
    what: &str,
    corpus: &Corpus,
    mut rows: impl Iterator<Item = (TableId, RowIx)>,
) -> Result<()> {
    match rows.find(|&(table, row)| row as usize >= corpus.table(table).len()) {
        Some((_, row)) => Err(damaged(path, format!("{what} of row {row}, which is not there"))),
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

/// Visits the fates that are `wanted`, in canonical order.
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

/// What puts events in canonical order.
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
/// The stage that the ledger names for what was forgotten after the run.
pub const FORGET: &str = "forget";

/// Visits what forgetting records did to rows, in canonical order.
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
/// The last two copy the columns that are `listed`. `also` sees the events of the ledger as they are written, group by group, so that what is counted of a run is what
/// stands there.
///
/// # Errors
/// A file cannot be read or written.
pub fn write(
    folder: &RunFolder,
    stages: &[StageInstance],
    corpus: &Corpus,
    listed: &[ColumnSpec],
    exported: bool,
    also: impl FnMut(&[Event<'_>]) + Send,
) -> Result<()> {
    let book = Book { folder: folder.path(), stages, corpus, listed };
    // They need not wait for one another. On a thread of its own, since one that writes keeps those of a pool waiting.
    std::thread::scope(|scope| {
        let folds = scope.spawn(|| {
            book.write_rows(exported)?;
            book.write_lists()?;
            book.write_links()
        });
        let ledger = book.write_ledger(also);
        ledger.and(folds.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// What the files are made of.
#[derive(Clone, Copy)]
struct Book<'a> {
    folder: &'a Path,
    stages: &'a [StageInstance],
    corpus: &'a Corpus,
    listed: &'a [ColumnSpec],
}

impl Book<'_> {
    /// Writes a file beside its place, and renames it.
    fn write_file(
        &self,
        name: &str,
        background_writer: Option<&BackgroundWriter>,
        write: impl FnOnce(&mut FrameWriter) -> Result<()>,
    ) -> Result<()> {
        let path = self.folder.join(name);
        let beside = beside(&path);
        let mut writer = FrameWriter::create(&beside);
        if let Some(background_writer) = background_writer {
            writer = writer.by(background_writer);
        }
        write(&mut writer)?;
        writer.finish()?;
        background_writer.map_or(Ok(()), BackgroundWriter::wait)?;
        std::fs::rename(&beside, &path).at("renaming", &beside)
    }

    fn listed_of(&self, table: TableId) -> Vec<ColumnSpec> {
        self.listed.iter().copied().filter(|column| column.table == table).collect()
    }

    fn write_ledger(&self, mut also: impl FnMut(&[Event<'_>])) -> Result<()> {
        self.write_file("ledger.parquet", Some(&BackgroundWriter::default()), |writer| {
            write_events(writer, &[])?;
            for_every_event(self.folder, self.stages, self.corpus, |events| {
                also(events);
                write_events(writer, events)
            })
        })
    }

    /// Where each request stands, in the order of the log.
    fn write_rows(&self, exported: bool) -> Result<()> {
        let Self { stages, corpus, .. } = *self;
        let listed = self.listed_of(TableId::Requests);
        self.write_file("rows.parquet", None, |writer| {
            for batch in 0..corpus.requests.batches() {
                let range = corpus.requests.batch(batch);
                let cells = corpus.requests.read_batch(batch, &listed)?;
                let standing = Standing::of(&corpus.requests, batch, exported);
                let list_id = |list: &RowIx| corpus.lists.row_id(*list).digits();
                let lists: Vec<IdDigits> = corpus.list[range.clone()].iter().map(list_id).collect();
                let origins: Vec<IdDigits> = corpus.origin[range.clone()].iter().map(list_id).collect();
                let mut frame = standing.columns("request_id", stages);
                frame.extend(listed.iter().map(|&column| copied(column, &cells, range.len())));
                frame.extend([
                    ("list_id", Values::Text(lists.iter().map(|id| Some(id.as_str())).collect())),
                    ("origin_list_id", Values::Text(origins.iter().map(|id| Some(id.as_str())).collect())),
                ]);
                writer.write(frame)?;
            }
            Ok(())
        })
    }

    /// Where each doc list stands, with its functions as they are now.
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
                let range = corpus.lists.batch(batch);
                let cells = corpus.lists.read_batch(batch, &listed)?;
                let standing = Standing::of(&corpus.lists, batch, false);
                let score = |row: RowIx| scores.get(&row).copied();
                let mut frame = standing.columns("list_id", stages);
                frame.push(("score", Values::Float(corpus.lists.rows_of_batch(batch).map(score).collect())));
                frame.extend(listed.iter().map(|&column| copied(column, &cells, range.len())));
                writer.write(frame)?;
            }
            Ok(())
        })
    }

    /// What stages found about rows besides their fates.
    fn write_links(&self) -> Result<()> {
        self.write_file(LINKS, None, |writer| links::fold(self.folder, self.stages, self.corpus, writer))
    }
}

/// A column of a batch, as it is written once more.
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

/// The word for a row's fate at the end of a run.
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

/// The columns of a fold that both tables share.
struct Standing {
    ids: Vec<IdDigits>,
    fates: Vec<&'static str>,
    stages: Vec<Option<usize>>,
    reasons: Vec<Option<&'static str>>,
    into: Vec<Option<IdDigits>>,
}

impl Standing {
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
