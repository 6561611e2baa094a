//! The columns that a stage declares are the ones that it reads.
//!
//! A cell of another column cannot be had: that panics, so any test of the stage finds it. A column that is declared and
//! never read costs time and asks too much of pipelines; it is found by looking on while each stage judges its examples
//! and the sample log.

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

/// By kind and column: whether a cell was read.
type Declared = BTreeMap<(&'static str, String), bool>;

/// Judges, and notes which of the declared columns were read.
fn look_on(kind: &'static str, stage: &dyn Stage, corpus: &Corpus, declared: &mut Declared) {
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
                look_on(kind.name, &*stage, &fixture::corpus(&rows.to_tables()), &mut declared);
            }
        }
    }
    let sample = sample(None);
    for (at, instance) in sample.stages.iter().enumerate() {
        look_on(instance.kind, &*instance.stage, &sample.before(at), &mut declared);
    }
    let unread: Vec<&(&str, String)> =
        declared.iter().filter(|(_, is_read)| !**is_read).map(|(column, _)| column).collect();
    assert!(unread.is_empty(), "declared and never read: {unread:?}");
}

fn contract_that_reads_messages() -> Contract {
    Contract::of(TableId::Requests).reads([MESSAGES]).partition(Partition::Rows)
}

/// Reads as `look` does, in a view of a contract that declares `messages` alone.
fn read_by(look: fn(&View<'_>)) {
    let corpus = fixture::corpus(&json!({"doc_lists": [{"text": "[]"}],
        "requests": [{"messages": [], "response": {"role": "assistant", "content": ""}, "line": 1}]}));
    look(&View::new(&corpus, &contract_that_reads_messages()));
}

/// A test that a cell is refused, by the message of the panic.
macro_rules! refuses {
    ($test:ident, $column:literal, $look:expr) => {
        #[test]
        #[should_panic(expected = $column)]
        fn $test() {
            read_by($look);
        }
    };
}

fn for_each_row(view: &View<'_>, look: impl Fn(Row<'_>)) {
    let cancel = AtomicBool::new(false);
    let cx = Context::new(1, &cancel, &Quiet);
    view.for_each_batch(&cx, |batch| {
        batch.rows().iter().for_each(|&row| look(batch.row(row)));
        Ok(())
    })
    .unwrap();
}

refuses!(a_text_that_is_not_declared_is_refused, "column response is not among", |view| {
    for_each_row(view, |row| assert!(row.text(RESPONSE).is_some()));
});
refuses!(json_that_is_not_declared_is_refused, "column response is not among", |view| {
    for_each_row(view, |row| drop(row.json::<serde_json::Value>(RESPONSE)));
});
refuses!(a_number_that_is_not_declared_is_refused, "column line is not among", |view| {
    for_each_row(view, |row| assert!(row.int(LINE).is_some()));
});
refuses!(a_cell_of_the_parent_that_is_not_declared_is_refused, "column text is not among", |view| {
    for_each_row(&view.parent(), |row| assert!(row.text(TEXT).is_some()));
});

#[test]
fn a_declared_column_is_given() {
    read_by(|view| for_each_row(view, |row| assert_eq!(row.text(MESSAGES), Some("[]"))));
}
