//! Small tables in memory, for tests of stages: JSON in, a corpus out.
//!
//! [`judged`] returns what a stage says about such tables, [`step`] applies it. A wrong table is a panic.
//!
//! `{"doc_lists": [{column: value, …}], "requests": [{"list": 0, column: value, …}]}`. Without requests, each list has
//! one; without lists, there is one without functions. `null` is an empty cell; any other value that is not text is
//! stored as JSON. `"merged_into": 0` makes a request one that was merged into another, equal one. `"replies": [text, …]` are
//! the replies of a language model to the requests of a stage, in their order; `null` is a request that fails, and
//! `{"served_by": name, "reply": text}` is one of a server that names its model.

#![expect(clippy::unwrap_used, reason = "a test with a wrong table fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use crate::background_writer::BackgroundWriter;
use crate::cascade::take_effect;
use crate::columns;
use crate::conservation::kept;
use crate::context::{Cancel, Context, Quiet};
use crate::corpus::{BatchCells, Cells, Corpus, Table};
use crate::error::{Error, Result};
use crate::fate::{Fate, FateEvent};
use crate::frame::{Frame, Held, Values};
use crate::language_model::{Answered, ChatAnswer, ChatRequest, LanguageModel, ModelUsage, Unanswered};
use crate::services::Services;
use crate::stage::Stage;
use crate::verdict::{Delta, Verdict};
use crate::view::View;
use crate::vocabulary::{Action, ColumnKind, ColumnSpec, Likeness, Reason, RowIx, TableId};

/// Builds the corpus of an example.
///
/// # Panics
/// If the tables are wrong.
pub fn corpus(tables: &Value) -> Corpus {
    let rows = |name: &str| tables.get(name).and_then(Value::as_array).cloned();
    let lists = rows("doc_lists").unwrap_or_else(|| vec![json!({"functions": []})]);
    let requests =
        rows("requests").unwrap_or_else(|| (0..lists.len()).map(|at| json!({"list": at})).collect());
    let list_of = |request: &Value| request.get("list").and_then(Value::as_u64).unwrap_or(0);
    let origin: Vec<RowIx> =
        requests.iter().map(|request| RowIx::try_from(list_of(request)).unwrap()).collect();
    let rows_of = table(TableId::Requests, &requests);
    let mut corpus = Corpus {
        requests: rows_of,
        lists: table(TableId::DocLists, &lists),
        list: origin.clone(),
        origin,
        inputs: [].into(),
    };
    for (row, request) in (0..).zip(&requests) {
        if let Some(into) = request.get("merged_into").and_then(Value::as_u64) {
            let into = Some(RowIx::try_from(into).unwrap());
            corpus.apply(
                TableId::Requests,
                row,
                Fate { action: Action::Merge, stage: 0, reason: &EQUAL, into },
            );
        }
    }
    corpus
}

/// The reason of the merges of an example.
static EQUAL: Reason =
    Reason::policy("example/equal", "The request is equal to another one.").of_likeness(Likeness::Equal);

/// Returns the verdict of a stage on an example, with seed 1.
///
/// # Panics
/// If the tables are wrong, or the stage fails.
pub fn judged(stage: &dyn Stage, tables: &Value) -> Judged {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(tables);
    let contract = stage.contract();
    let cancel = AtomicBool::new(false);
    let services = Services::default().with_language_model(Scripted::of(tables));
    let cx = Context::new(1, &cancel, &Quiet).with_services(services);
    let table = corpus.table(contract.table);
    let (columns, background_writer) =
        (folder.path().join("columns.parquet"), BackgroundWriter::new(usize::MAX));
    let mut verdict = Verdict::new("example", &contract, table, &columns, &background_writer);
    stage.judge(&View::new(&corpus, &contract), &cx, &mut verdict).unwrap();
    let delta = verdict.finish().unwrap();
    let writes = &contract.writes;
    let cells = delta.cells.as_ref().map(|cells| {
        let mut written = Table::new(
            contract.table,
            vec![0; table.len()],
            (0..).take(table.len()).collect(),
            &[table.len()],
        );
        written.add_columns(writes, Cells::in_memory(cells.clone()));
        written.read_batch(0, writes).unwrap()
    });
    Judged { delta, cells }
}

/// A language model that replies as an example says.
#[derive(Debug)]
struct Scripted {
    replies: Vec<Option<ChatAnswer>>,
    n_asked: AtomicU64,
}

impl Scripted {
    fn of(tables: &Value) -> Option<Arc<dyn LanguageModel>> {
        let replies = tables.get("replies")?.as_array().unwrap();
        let answer = |reply: &Value| match reply {
            Value::Null => None,
            Value::Object(named) if named.contains_key("served_by") => {
                let mut answer = ChatAnswer::of_text(text(&named["reply"]));
                answer.model = named["served_by"].as_str().map(str::to_owned);
                Some(answer)
            }
            reply => Some(ChatAnswer::of_text(text(reply))),
        };
        Some(Arc::new(Self { replies: replies.iter().map(answer).collect(), n_asked: AtomicU64::new(0) }))
    }
}

/// Returns services whose language model fails all requests.
pub fn services_without_replies() -> Services {
    Services::default().with_language_model(Scripted::of(&json!({"replies": []})))
}

impl LanguageModel for Scripted {
    fn answer(&self, requests: &[ChatRequest], _: &Context<'_>) -> Result<Answered> {
        let reply = |_: &ChatRequest| {
            let at = usize::try_from(self.n_asked.fetch_add(1, Ordering::Relaxed)).unwrap();
            let answer = self.replies.get(at).cloned().flatten();
            answer.ok_or_else(|| Unanswered::Failed("status 503".to_owned()))
        };
        let outcomes: Vec<_> = requests.iter().map(reply).collect();
        Ok(Answered { costs: vec![None; outcomes.len()], outcomes, usage: ModelUsage::default() })
    }
}

/// Fates and cells by row.
pub struct Judged {
    /// Everything that the stage returned.
    pub delta: Delta,
    cells: Option<BatchCells>,
}

impl Judged {
    /// Returns the reason code of a row's fate.
    pub fn fate(&self, row: usize) -> Option<&'static str> {
        let of_row = |event: &&FateEvent| event.row as usize == row;
        self.delta.fates.iter().find(of_row).map(|event| event.reason.code)
    }

    /// Returns a text cell that the stage wrote.
    pub fn cell(&self, row: usize, column: ColumnSpec) -> Option<&str> {
        self.cells.as_ref().and_then(|cells| cells.text(column, row))
    }
}

/// Judges the kept rows and applies the verdict, like the runner.
///
/// # Errors
/// The errors of the stage.
///
/// # Panics
/// A row is lost, has a fate and is kept, or is kept without its list.
pub fn step(stage: &dyn Stage, corpus: &mut Corpus) -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let contract = stage.contract();
    let cancel = AtomicBool::new(false);
    let cx = Context::new(1, &cancel, &Quiet);
    let (columns, background_writer) =
        (folder.path().join("columns.parquet"), BackgroundWriter::new(usize::MAX));
    let mut verdict =
        Verdict::new("law", &contract, corpus.table(contract.table), &columns, &background_writer);
    stage.judge(&View::new(corpus, &contract), &cx, &mut verdict)?;
    let delta = verdict.finish()?;
    let before = kept(corpus);
    let fates = take_effect(corpus, contract.table, delta.fates, 0)?;
    if let Some(cells) = delta.cells {
        corpus.table_mut(contract.table).add_columns(&contract.writes, Cells::in_memory(cells));
    }
    let gone = |table| fates.iter().filter(|fate| fate.table == table).count() as u64;
    let after = kept(corpus);
    assert_eq!(before.requests, after.requests + gone(TableId::Requests), "requests");
    assert_eq!(before.doc_lists, after.doc_lists + gone(TableId::DocLists), "doc lists");
    for (request, &list) in (0..).zip(&corpus.list) {
        let is_kept = corpus.requests.is_kept(request);
        assert!(!is_kept || corpus.lists.is_kept(list), "request {request} is kept, its list is not");
    }
    for fate in &fates {
        assert!(fate.into.is_none_or(|into| corpus.table(fate.table).is_kept(into)), "{fate:?}");
    }
    Ok(())
}

/// Counts the checks for cancellation, and reports cancellation from a given check on.
pub struct CancelledAfter {
    n_asked: AtomicU64,
    stops_at: u64,
}

impl CancelledAfter {
    fn times(stops_at: u64) -> Self {
        Self { n_asked: AtomicU64::new(0), stops_at }
    }
}

impl Cancel for CancelledAfter {
    fn is_cancelled(&self) -> bool {
        self.n_asked.fetch_add(1, Ordering::Relaxed) >= self.stops_at
    }
}

/// The maximum number of checks after a cancellation was reported.
const MAX_LATER_CHECKS: u64 = 8;

/// Asserts that work checks for cancellation at least once per row, and stops at its beginning, middle and end.
///
/// The work must check equally often in each run.
///
/// # Panics
/// If it does not.
pub fn assert_stops_wherever_it_is_asked_to(
    name: &str,
    n_rows: u64,
    work: impl Fn(&CancelledAfter) -> Result<()>,
) {
    let never = CancelledAfter::times(u64::MAX);
    work(&never).unwrap();
    let n_asked = never.n_asked.into_inner();
    assert!(n_asked >= n_rows, "{name}: {n_asked} checks for {n_rows} rows");
    for stops_at in [0, n_asked / 2, n_asked - 1] {
        let cancel = CancelledAfter::times(stops_at);
        let stopped = work(&cancel);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{name}: {stops_at} of {n_asked}: {stopped:?}");
        let asked_afterwards = cancel.n_asked.into_inner() - stops_at;
        assert!(
            asked_afterwards <= MAX_LATER_CHECKS,
            "{name}: {asked_afterwards} checks after cancellation at check {stops_at} of {n_asked}"
        );
    }
}

fn table(id: TableId, rows: &[Value]) -> Table {
    let ids = (1..).take(rows.len()).collect();
    let order = (0..).take(rows.len()).collect();
    let mut table = Table::new(id, ids, order, &[rows.len()]);
    let rows: Vec<&Map<String, Value>> = rows.iter().map(|row| row.as_object().unwrap()).collect();
    let all = columns::ALL.iter().copied().filter(|column| column.table == id);
    let used = |column: &ColumnSpec| rows.iter().any(|row| row.contains_key(column.name));
    let known: Vec<ColumnSpec> = all.filter(used).collect();
    for name in rows
        .iter()
        .flat_map(|row| row.keys())
        .filter(|name| !["list", "merged_into"].contains(&name.as_str()))
    {
        assert!(known.iter().any(|column| column.name == name), "no column {name} in {}", id.name());
    }
    let texts: Vec<Vec<Option<String>>> = known
        .iter()
        .map(|column| {
            rows.iter().map(|row| row.get(column.name).filter(|cell| !cell.is_null()).map(text)).collect()
        })
        .collect();
    let mut frame = Vec::new();
    for (column, texts) in known.iter().zip(&texts) {
        let cells = texts.iter().map(Option::as_deref);
        let values = match column.kind {
            ColumnKind::Text => Values::Text(cells.collect()),
            ColumnKind::Int => {
                Values::Int(cells.map(|cell| cell.map(|cell| cell.parse().unwrap())).collect())
            }
        };
        frame.push((column.name, values));
    }
    if known.is_empty() {
        return table;
    }
    table.add_columns(&known, Cells::in_memory(Held::of(Frame::from_columns(frame).unwrap())));
    table
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
