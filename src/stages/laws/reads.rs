//! Stages read exactly the columns that they declare.
//!
//! Reading an undeclared column panics, so any test of the stage finds it. A column that is declared but never read
//! costs time and demands too much of pipelines; this test records the reads of each stage on its examples and on the
//! sample log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use serde_json::json;

use super::judge;
use super::sample::sample;
use crate::columns::{LINE, MESSAGES, RESPONSE, TEXT};
use crate::engine::context::{Context, Quiet};
use crate::engine::contract::{Contract, Partition};
use crate::engine::corpus::Corpus;
use crate::engine::stage::Stage;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::TableId;
use crate::fixture;
use crate::stages::KINDS;

/// Whether a cell of a declared column was read, by kind and column.
type Declared = BTreeMap<(&'static str, String), bool>;

/// Runs the stage and records which of the declared columns it reads.
fn record_reads(kind: &'static str, stage: &dyn Stage, corpus: &Corpus, declared: &mut Declared) {
    let folder = tempfile::tempdir().unwrap();
    for table in TableId::ALL {
        corpus.table(table).take_looked_at();
    }
    judge(stage, corpus, &folder.path().join("columns.parquet"));
    let looked_at: BTreeMap<TableId, BTreeSet<&str>> =
        TableId::ALL.into_iter().map(|table| (table, corpus.table(table).take_looked_at())).collect();
    let Contract { reads, reads_if_there, .. } = stage.contract();
    for column in reads.iter().chain(&reads_if_there) {
        let name = format!("{}.{}", column.table.name(), column.name);
        *declared.entry((kind, name)).or_default() |= looked_at[&column.table].contains(column.name);
    }
}

#[test]
fn every_declared_column_is_read() {
    let mut declared = Declared::new();
    for kind in &KINDS {
        for example in (kind.examples)() {
            for rows in [example.fires, example.quiet] {
                let stage = match example.settings {
                    "" => (kind.for_examples)(),
                    settings => kind.with_settings(settings),
                };
                record_reads(kind.name, &*stage, &fixture::corpus(&rows.to_tables()), &mut declared);
            }
        }
    }
    let sample = sample(None);
    for (at, instance) in sample.stages.iter().enumerate() {
        record_reads(instance.kind, &*instance.stage, &sample.before(at), &mut declared);
    }
    let unread: Vec<&(&str, String)> =
        declared.iter().filter(|(_, is_read)| !**is_read).map(|(column, _)| column).collect();
    assert!(unread.is_empty(), "declared but never read: {unread:?}");
}

fn contract_that_reads_messages() -> Contract {
    Contract::of(TableId::Requests).reads([MESSAGES]).partition(Partition::Rows)
}

/// Calls `read` with a view of a contract that declares only `messages`.
fn with_view(read: fn(&View<'_>)) {
    let corpus = fixture::corpus(&json!({"doc_lists": [{"text": "[]"}],
        "requests": [{"messages": [], "response": {"role": "assistant", "content": ""}, "line": 1}]}));
    read(&View::new(&corpus, &contract_that_reads_messages()));
}

/// Defines a test that reading a cell panics with a message.
macro_rules! refuses {
    ($test:ident, $column:literal, $read:expr) => {
        #[test]
        #[should_panic(expected = $column)]
        fn $test() {
            with_view($read);
        }
    };
}

fn for_each_row(view: &View<'_>, read: impl Fn(Row<'_>)) {
    let cancel = AtomicBool::new(false);
    let cx = Context::new(1, &cancel, &Quiet);
    view.for_each_batch(&cx, |batch| {
        batch.rows().iter().for_each(|&row| read(batch.row(row)));
        Ok(())
    })
    .unwrap();
}

refuses!(reading_an_undeclared_text_panics, "column response is not among", |view| {
    for_each_row(view, |row| assert!(row.text(RESPONSE).is_some()));
});
refuses!(reading_undeclared_json_panics, "column response is not among", |view| {
    for_each_row(view, |row| drop(row.json::<serde_json::Value>(RESPONSE)));
});
refuses!(reading_an_undeclared_number_panics, "column line is not among", |view| {
    for_each_row(view, |row| assert!(row.int(LINE).is_some()));
});
refuses!(reading_an_undeclared_cell_of_the_parent_panics, "column text is not among", |view| {
    for_each_row(&view.parent(), |row| assert!(row.text(TEXT).is_some()));
});

#[test]
fn a_declared_column_can_be_read() {
    with_view(|view| for_each_row(view, |row| assert_eq!(row.text(MESSAGES), Some("[]"))));
}
