//! Small tables in memory, for examples and tests: JSON in, a corpus out.
//!
//! `{"doc_lists": [{column: value, …}], "requests": [{"list": 0, column: value, …}]}`. Without requests each list
//! gets one; without lists there is one, of no functions. A value that is no text is kept as its JSON.

use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value, json};

use super::columns::{self, ColumnKind, ColumnSpec};
use super::corpus::{BatchCells, Cells, Corpus, Table};
use super::frame::{Frame, Held, Values};
use super::scribe::Scribe;
use super::stage::{Context, Quiet, RowIx, Stage, TableId};
use super::verdict::{Delta, FateEvent, Verdict};
use super::view::View;

/// Builds the corpus of an example.
pub(crate) fn corpus(tables: &Value) -> Corpus {
    let rows = |name: &str| tables.get(name).and_then(Value::as_array).cloned();
    let lists = rows("doc_lists").unwrap_or_else(|| vec![json!({"functions": []})]);
    let requests =
        rows("requests").unwrap_or_else(|| (0..lists.len()).map(|at| json!({"list": at})).collect());
    let list_of = |request: &Value| request.get("list").and_then(Value::as_u64).unwrap_or(0);
    let origin: Vec<RowIx> =
        requests.iter().map(|request| RowIx::try_from(list_of(request)).unwrap()).collect();
    let requests = table(TableId::Requests, &requests);
    Corpus { requests, lists: table(TableId::DocLists, &lists), list: origin.clone(), origin }
}

/// What a stage says of an example, with seed 1.
pub(crate) fn judged(stage: &dyn Stage, tables: &Value) -> Judged {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(tables);
    let contract = stage.contract();
    let cancel = AtomicBool::new(false);
    let cx = Context { seed: 1, cancel: &cancel, progress: &Quiet };
    let table = corpus.table(contract.table);
    let (columns, scribe) = (folder.path().join("columns.parquet"), Scribe::new(usize::MAX));
    let mut verdict = Verdict::new("example", &contract, table, &columns, &scribe);
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

/// Fates and cells by row.
pub(crate) struct Judged {
    pub(crate) delta: Delta,
    cells: Option<BatchCells>,
}

impl Judged {
    /// The code by which a row left.
    pub(crate) fn fate(&self, row: usize) -> Option<&'static str> {
        let of_row = |event: &&FateEvent| event.row as usize == row;
        self.delta.fates.iter().find(of_row).map(|event| event.reason.code)
    }

    /// A text cell that the stage wrote.
    pub(crate) fn cell(&self, row: usize, column: ColumnSpec) -> Option<&str> {
        self.cells.as_ref().and_then(|cells| cells.text(column, row))
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
    for name in rows.iter().flat_map(|row| row.keys()).filter(|name| *name != "list") {
        assert!(known.iter().any(|column| column.name == name), "no column {name} in {}", id.name());
    }
    let texts: Vec<Vec<Option<String>>> =
        known.iter().map(|column| rows.iter().map(|row| row.get(column.name).map(text)).collect()).collect();
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
