//! Small tables in memory, for examples and tests: JSON in, a corpus out.
//!
//! `{"doc_lists": [{column: value, …}], "requests": [{"list": 0, column: value, …}]}`. Without requests each list
//! gets one; without lists there is one, of no functions. A value that is no text is kept as its JSON.

use serde_json::{Map, Value, json};

use super::columns::{self, ColumnKind, ColumnSpec};
use super::corpus::{Cells, Corpus, Table};
use super::frame::{Frame, Values};
use super::stage::{RowIx, TableId};

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
    table.add_columns(&known, Cells::Memory(Frame::from_columns(frame).unwrap()));
    table
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
