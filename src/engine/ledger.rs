//! The ledger: every fate and every edit of a run in one table, and where each row stands.
//!
//! Made anew at the end of each run from the stages' deltas, so it never disagrees with
//! them. Events stand by stage, table and the rows' canonical order. `rows.parquet` and
//! `lists.parquet` hold the fold: one line a row, with its last word.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::columns::{self, ColumnSpec};
use super::corpus::{Corpus, Table};
use super::delta::{EDITS, FATES, GROUP_ROWS, StoredEdit, read_edits, read_fates};
use super::error::{At, Result};
use super::folder::{RunFolder, beside};
use super::forget;
use super::forgotten::FORGOTTEN;
use super::frame::{FrameWriter, Values};
use super::runner::{StageInstance, reasons_of, step_name};
use super::stage::{RowIx, TableId};
use super::verdict::FateEvent;

/// One event of a run, with ids in place of row numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// `requests` or `doc_lists`.
    pub table: &'static str,
    /// The row's content id.
    pub row_id: String,
    /// The stage's id.
    pub stage: String,
    /// `drop`, `merge`, `hold`, `edit`; `forget` for a row of which only the place is left.
    pub action: &'static str,
    /// Reason code.
    pub reason: String,
    /// For a merge: the id of the row that stands for it.
    pub into: Option<String>,
    /// It followed from the fate of the parent or the children.
    pub cascaded: bool,
    /// See [`super::stage::Evidence`].
    pub score: Option<f64>,
    /// What was measured.
    pub metric: Option<&'static str>,
    /// For an edit: the column.
    pub column: Option<String>,
    /// For an edit: `safe`, `unsafe` or `suggest`.
    pub safety: Option<String>,
    /// For an edit: RFC 6902, or one operation `redact`.
    pub patch: Option<String>,
    /// Anything else, JSON.
    pub evidence: Option<String>,
}

/// Visits the events of one stage for the rows that are `wanted`, in canonical order.
///
/// They are read as a whole, some tens of bytes each, and told in groups, since an event with its ids as text is
/// ten times that.
///
/// # Errors
/// The run folder is damaged, or `visit` fails.
pub fn for_each_event(
    run: &Path,
    at: usize,
    stage: &StageInstance,
    corpus: &Corpus,
    wanted: impl Fn(TableId, RowIx) -> bool,
    mut visit: impl FnMut(Vec<Event>) -> Result<()>,
) -> Result<()> {
    let folder = run.join("stages").join(step_name(at, &stage.id));
    let place = |table: TableId, row| (table, corpus.table(table).position(row));
    let mut fates = read_fates(&folder.join(FATES), &reasons_of(&stage.stage.contract()))?;
    fates.retain(|fate| wanted(fate.table, fate.row));
    fates.sort_by_key(|fate| place(fate.table, fate.row));
    for group in fates.chunks(GROUP_ROWS) {
        visit(group.iter().map(|fate| of_fate(fate, &stage.id, corpus)).collect())?;
    }
    let mut edits = read_edits(&folder.join(EDITS))?;
    edits.retain(|edit| wanted(edit.table, edit.row));
    edits.sort_by_key(|edit| place(edit.table, edit.row));
    for group in edits.chunks(GROUP_ROWS) {
        visit(group.iter().map(|edit| of_edit(edit, &stage.id, corpus)).collect())?;
    }
    Ok(())
}

fn of_fate(fate: &FateEvent, stage: &str, corpus: &Corpus) -> Event {
    let table = corpus.table(fate.table);
    Event {
        table: fate.table.name(),
        row_id: table.row_id(fate.row).to_string(),
        stage: stage.to_owned(),
        action: fate.action.name(),
        reason: fate.reason.code.to_owned(),
        into: fate.into.map(|into| table.row_id(into).to_string()),
        cascaded: fate.cascaded,
        score: fate.evidence.score.map(|(_, score)| score),
        metric: fate.evidence.score.map(|(metric, _)| metric.name()),
        evidence: fate.evidence.detail.as_ref().map(ToString::to_string),
        ..Event::default()
    }
}

/// The stage that the ledger names for what was forgotten after the run.
pub const FORGET: &str = "forget";

/// What forgetting records did to rows, in canonical order.
///
/// # Errors
/// The run folder is damaged.
pub fn forgotten_events(run: &Path, corpus: &Corpus) -> Result<Vec<Event>> {
    let mut fates = forget::read(run)?;
    fates.sort_by_key(|fate| (fate.table, corpus.table(fate.table).position(fate.row)));
    let of_ours = |fate: &FateEvent| {
        let event = of_fate(fate, FORGET, corpus);
        if fate.reason.code == FORGOTTEN.code { Event { action: FORGET, ..event } } else { event }
    };
    Ok(fates.iter().map(of_ours).collect())
}

fn of_edit(edit: &StoredEdit, stage: &str, corpus: &Corpus) -> Event {
    Event {
        table: edit.table.name(),
        row_id: corpus.table(edit.table).row_id(edit.row).to_string(),
        stage: stage.to_owned(),
        action: "edit",
        reason: edit.reason.clone(),
        column: Some(edit.column.clone()),
        safety: Some(edit.safety.clone()),
        patch: Some(edit.patch.clone()),
        ..Event::default()
    }
}

/// Writes `ledger.parquet`.
///
/// # Errors
/// A file cannot be read or written.
pub fn write_ledger(folder: &RunFolder, stages: &[StageInstance], corpus: &Corpus) -> Result<()> {
    write_beside(&folder.path().join("ledger.parquet"), |writer| {
        write_events(writer, &[])?;
        for (at, stage) in stages.iter().enumerate() {
            for_each_event(
                folder.path(),
                at,
                stage,
                corpus,
                |_, _| true,
                |events| write_events(writer, &events),
            )?;
        }
        match forgotten_events(folder.path(), corpus)? {
            none if none.is_empty() => Ok(()),
            events => write_events(writer, &events),
        }
    })
}

fn write_beside(path: &Path, write: impl FnOnce(&mut FrameWriter) -> Result<()>) -> Result<()> {
    let beside = beside(path);
    let mut writer = FrameWriter::create(&beside);
    write(&mut writer)?;
    writer.finish()?;
    std::fs::rename(&beside, path).at("renaming", &beside)
}

fn write_events(writer: &mut FrameWriter, events: &[Event]) -> Result<()> {
    let text = |get: fn(&Event) -> Option<&str>| Values::Text(events.iter().map(get).collect());
    writer.write(vec![
        ("table", text(|event| Some(event.table))),
        ("row_id", text(|event| Some(&event.row_id))),
        ("stage", text(|event| Some(&event.stage))),
        ("action", text(|event| Some(event.action))),
        ("reason", text(|event| Some(&event.reason))),
        ("into", text(|event| event.into.as_deref())),
        ("cascaded", Values::Int(events.iter().map(|event| Some(i64::from(event.cascaded))).collect())),
        ("score", Values::Float(events.iter().map(|event| event.score).collect())),
        ("metric", text(|event| event.metric)),
        ("column", text(|event| event.column.as_deref())),
        ("safety", text(|event| event.safety.as_deref())),
        ("patch", text(|event| event.patch.as_deref())),
        ("evidence", text(|event| event.evidence.as_deref())),
    ])
}

/// The word for a row's fate at the end of a run.
pub fn fate_word(table: &Table, row: RowIx, exported: bool) -> &'static str {
    match table.fate(row) {
        Some(fate) if fate.reason.code == FORGOTTEN.code => "forgotten",
        Some(fate) => match fate.action {
            super::stage::Action::Drop => "dropped",
            super::stage::Action::Merge => "merged",
            super::stage::Action::Hold => "held",
        },
        None if exported => "exported",
        None => "kept",
    }
}

/// The columns of a fold that both tables share.
struct Standing {
    ids: Vec<String>,
    fates: Vec<&'static str>,
    stages: Vec<Option<usize>>,
    reasons: Vec<Option<&'static str>>,
    into: Vec<Option<String>>,
}

impl Standing {
    fn of(table: &Table, batch: usize, exported: bool) -> Self {
        let rows = table.rows_of_batch(batch);
        let mut standing = Self { ids: vec![], fates: vec![], stages: vec![], reasons: vec![], into: vec![] };
        for row in rows {
            let fate = table.fate(row);
            standing.ids.push(table.row_id(row).to_string());
            standing.fates.push(fate_word(table, row, exported));
            standing.stages.push(fate.map(|fate| usize::from(fate.stage)));
            standing.reasons.push(fate.map(|fate| fate.reason.code));
            standing.into.push(fate.and_then(|fate| fate.into).map(|into| table.row_id(into).to_string()));
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
            ("into", Values::Text(self.into.iter().map(Option::as_deref).collect())),
        ]
    }
}

/// Writes `rows.parquet`: where each request stands, in the order of the log.
///
/// # Errors
/// A file cannot be read or written.
pub fn write_rows(
    folder: &RunFolder,
    stages: &[StageInstance],
    corpus: &Corpus,
    exported: bool,
) -> Result<()> {
    let asked: [ColumnSpec; 3] = [columns::EXTERNAL_ID, columns::FILE, columns::LINE];
    write_beside(&folder.path().join("rows.parquet"), |writer| {
        for batch in 0..corpus.requests.batches() {
            let range = corpus.requests.batch(batch);
            let cells = corpus.requests.read_batch(batch, &asked)?;
            let standing = Standing::of(&corpus.requests, batch, exported);
            let list_id = |list: &RowIx| corpus.lists.row_id(*list).to_string();
            let lists: Vec<String> = corpus.list[range.clone()].iter().map(list_id).collect();
            let origins: Vec<String> = corpus.origin[range.clone()].iter().map(list_id).collect();
            let mut frame = standing.columns("request_id", stages);
            let rows = 0..range.len();
            frame.extend([
                (
                    "external_id",
                    Values::Text(rows.clone().map(|at| cells.text(columns::EXTERNAL_ID, at)).collect()),
                ),
                ("file", Values::Int(rows.clone().map(|at| cells.int(columns::FILE, at)).collect())),
                ("line", Values::Int(rows.map(|at| cells.int(columns::LINE, at)).collect())),
                ("list_id", Values::Text(lists.iter().map(|id| Some(id.as_str())).collect())),
                ("origin_list_id", Values::Text(origins.iter().map(|id| Some(id.as_str())).collect())),
            ]);
            writer.write(frame)?;
        }
        Ok(())
    })
}

/// Writes `lists.parquet`: where each doc list stands, with its functions as they are now.
///
/// # Errors
/// A file cannot be read or written.
pub fn write_lists(folder: &RunFolder, stages: &[StageInstance], corpus: &Corpus) -> Result<()> {
    let mut scores: FxHashMap<RowIx, f64> = FxHashMap::default();
    for (at, stage) in stages.iter().enumerate() {
        let path = folder.path().join("stages").join(step_name(at, &stage.id)).join(FATES);
        let fates = read_fates(&path, &reasons_of(&stage.stage.contract()))?;
        let of_lists = fates.iter().filter(|fate| fate.table == TableId::DocLists);
        scores.extend(of_lists.filter_map(|fate| Some((fate.row, fate.evidence.score?.1))));
    }
    let asked = [columns::FUNCTIONS, columns::COMPARED, columns::PARSE_STEPS];
    write_beside(&folder.path().join("lists.parquet"), |writer| {
        for batch in 0..corpus.lists.batches() {
            let range = corpus.lists.batch(batch);
            let cells = corpus.lists.read_batch(batch, &asked)?;
            let standing = Standing::of(&corpus.lists, batch, false);
            let score = |row: RowIx| scores.get(&row).copied();
            let mut frame = standing.columns("list_id", stages);
            let rows = 0..range.len();
            frame.push(("score", Values::Float(corpus.lists.rows_of_batch(batch).map(score).collect())));
            for column in asked {
                frame.push((
                    column.name,
                    Values::Text(rows.clone().map(|at| cells.text(column, at)).collect()),
                ));
            }
            writer.write(frame)?;
        }
        Ok(())
    })
}
