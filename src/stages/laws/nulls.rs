//! Null cells never abort a stage or lose a row.
//!
//! A null means that the log has no such value, or that no stage wrote it. A stage keeps such a row, or gives it a fate
//! with a reason.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::all_examples;
use super::sample::sample;
use crate::engine::contract::Contract;
use crate::engine::corpus::Corpus;
use crate::engine::stage::Stage;
use crate::engine::vocabulary::{ColumnSpec, TableId};
use crate::fixture;
use crate::stages::KINDS;

/// Returns each column of a contract alone, and all columns together.
fn choices(contract: &Contract) -> Vec<Vec<ColumnSpec>> {
    let all: Vec<ColumnSpec> = contract.reads.iter().chain(&contract.reads_if_there).copied().collect();
    all.iter().map(|column| vec![*column]).chain([all.clone()]).collect()
}

/// Runs a stage on tables and returns its error or panic, if any.
fn failure(stage: &dyn Stage, mut corpus: Corpus) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| fixture::step(stage, &mut corpus))) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Some(
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .unwrap_or_default(),
            )
        }
    }
}

fn names(columns: &[ColumnSpec]) -> String {
    columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

/// Returns the tables of an example with null in these columns, in the rows that `is_wanted` selects.
fn without(tables: &Value, columns: &[ColumnSpec], is_wanted: impl Fn(usize) -> bool) -> Value {
    let mut tables = tables.clone();
    for (table, name) in [(TableId::Requests, "requests"), (TableId::DocLists, "doc_lists")] {
        let rows = tables.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten();
        for (_, row) in rows.enumerate().filter(|(at, _)| is_wanted(*at)) {
            for column in columns.iter().filter(|column| column.table == table) {
                row[column.name] = Value::Null;
            }
        }
    }
    tables
}

#[test]
fn every_stage_accepts_null_in_every_cell_it_reads() {
    let mut wrong = Vec::new();
    for kind in &KINDS {
        let stage = (kind.for_examples)();
        let tables = all_examples(kind);
        for columns in choices(&stage.contract()) {
            for (rows, is_wanted) in
                [("every row", (|_| true) as fn(usize) -> bool), ("every other row", |at| at % 2 == 0)]
            {
                let corpus = fixture::corpus(&without(&tables, &columns, is_wanted));
                if let Some(what) = failure(&*stage, corpus) {
                    wrong.push(format!("{}: {} null in {rows}: {what}", kind.name, names(&columns)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_stage_of_the_recipe_accepts_rows_of_the_sample_without_a_column() {
    const N_ROWS: u64 = 80;
    let mut wrong = Vec::new();
    let sample = sample(Some(N_ROWS));
    for (at, instance) in sample.stages.iter().enumerate() {
        let before = sample.before(at);
        for columns in choices(&instance.stage.contract()) {
            let mut corpus = before.clone();
            for &column in &columns {
                corpus.table_mut(column.table).empty_column(column);
            }
            if let Some(what) = failure(&*instance.stage, corpus) {
                wrong.push(format!("{}: without {}: {what}", instance.id, names(&columns)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
