//! Tests of links in a run folder: read back by stage and rows, in canonical order, and collected in one table.

use serde_json::json;

use super::tables::table;
use super::{BAD, Home, Log, contract, stage_of};
use crate::columns::MESSAGES;
use crate::contract::Contract;
use crate::corpus::{Corpus, Table};
use crate::frame::{FrameFile, FrameWriter};
use crate::instance::StageInstance;
use crate::layout::LINKS;
use crate::ledger;
use crate::link::{Link, Span};
use crate::links::{LinkTexts, StoredLink, fold, of_stage, write_links};
use crate::vocabulary::{Evidence, RowIx, TableId};

fn link(record: &str) -> Link {
    let (set, method) = ("a-set".to_owned(), "cosine".to_owned());
    let spans = vec![Span::value(MESSAGES, "/0")];
    Link {
        object: "query",
        set,
        record: record.to_owned(),
        method,
        score: 0.5,
        verdict: None,
        spans,
        record_spans: Vec::new(),
        group: None,
    }
}

/// Links each request, and drops one of them.
fn linking(id: &str, record: &'static str) -> StageInstance {
    let contract = Contract { links: true, ..contract(TableId::Requests) };
    stage_of(id, contract, move |view, out| {
        view.rows().try_for_each(|row| out.link(row, &link(&format!("{record}{row}"))))?;
        out.drop(view.rows().next().unwrap_or_default(), &BAD, Evidence::default())
    })
}

fn stages() -> [StageInstance; 2] {
    [linking("one", "a"), linking("two", "b")]
}

/// Returns six requests; later rows are earlier in time.
fn corpus() -> Corpus {
    let lists = Table::new(TableId::DocLists, vec![1], vec![0], &[1]);
    Corpus { requests: table(), lists, origin: vec![0; 6], list: vec![0; 6], inputs: [].into() }
}

fn records(links: &[StoredLink]) -> Vec<(RowIx, &str)> {
    links.iter().map(|link| (link.row, &*link.record)).collect()
}

#[test]
fn links_of_a_stage_are_those_of_the_wanted_rows_in_canonical_order() {
    let home = Home::new();
    home.run(&Log::of(&[0; 6]), &stages()).unwrap();
    let of = |at: usize, wanted: fn(TableId, RowIx) -> bool| {
        of_stage(home.folder.path(), at, &stages()[at], &corpus(), wanted)
    };
    let all = of(0, |_, _| true).unwrap();
    assert_eq!(records(&all), [(5, "a5"), (4, "a4"), (3, "a3"), (2, "a2"), (1, "a1"), (0, "a0")]);
    let expected = StoredLink {
        table: TableId::Requests,
        row: 5,
        object: "query".into(),
        set: "a-set".into(),
        record: "a5".into(),
        method: "cosine".into(),
        score: 0.5,
        verdict: None,
        spans: json!([{"column": "messages", "path": "/0"}]).to_string().into(),
        record_spans: "[]".into(),
        n_records: 1,
        examples: None,
    };
    assert_eq!(all[0], expected);
    let two = of(1, |table, row| table == TableId::Requests && row < 3).unwrap();
    assert_eq!(records(&two), [(2, "b2"), (1, "b1")], "row 0 had left");
    assert_eq!(of(1, |table, _| table == TableId::DocLists).unwrap(), []);
}

#[test]
fn a_stage_without_links_and_one_that_left_no_file_have_none() {
    let home = Home::new();
    home.run(&Log::of(&[0; 6]), &stages()).unwrap();
    let without = stage_of("one", contract(TableId::Requests), |_, _| Ok(()));
    let of = |stage: &StageInstance| of_stage(home.folder.path(), 0, stage, &corpus(), |_, _| true).unwrap();
    assert_eq!(of(&without), [], "its contract names none");
    std::fs::remove_file(home.path("stages/01-one").join(LINKS)).unwrap();
    assert_eq!(of(&stages()[0]), [], "a build that knew no links ran it");
}

#[test]
fn a_link_of_a_row_that_does_not_exist_is_damage() {
    let home = Home::new();
    home.run(&Log::of(&[0; 6]), &stages()).unwrap();
    let path = home.path("stages/01-one").join(LINKS);
    let of = |row: RowIx| {
        write_links(&path, &[LinkTexts::default().stored(TableId::Requests, row, &link("a"))]).unwrap();
        of_stage(home.folder.path(), 0, &stages()[0], &corpus(), |_, _| true)
    };
    assert_eq!(of(5).unwrap().len(), 1);
    let error = of(6).unwrap_err().to_string();
    assert!(error.contains(": a link of row 6, which does not exist"), "{error}");
    assert_eq!(home.short(&error).matches("stages/01-one/links.parquet").count(), 1, "{error}");
}

#[test]
fn the_table_of_a_run_has_the_links_of_all_stages_and_columns_where_there_are_none() {
    let home = Home::new();
    home.run(&Log::of(&[0; 6]), &stages()).unwrap();
    let folded = |stages: &[StageInstance]| {
        let path = home.path("folded.parquet");
        let mut writer = FrameWriter::create(&path);
        fold(home.folder.path(), stages, &corpus(), &mut writer, &|| false).unwrap();
        writer.finish().unwrap();
        FrameFile::open(&path).unwrap().read_all().unwrap()
    };
    let frame = folded(&stages());
    assert_eq!(frame.height(), 11);
    let text = |name: &str, at: usize| frame.texts(name).unwrap().get(at).unwrap().to_owned();
    let shown = |at: usize| ["table_name", "row_id", "stage", "record"].map(|name| text(name, at));
    let id = |number: u128| format!("{number:032x}");
    assert_eq!(shown(0), ["requests", &id(15), "one", "a5"]);
    assert_eq!(shown(10), ["requests", &id(11), "two", "b1"]);
    assert_eq!(["object", "set", "method"].map(|name| text(name, 10)), ["query", "a-set", "cosine"]);
    assert_eq!(
        (frame.float("score", 3), text("spans", 3)),
        (Some(0.5), json!([{"column": "messages", "path": "/0"}]).to_string())
    );
    let empty = folded(&[]);
    assert_eq!(empty.height(), 0);
    assert!(empty.texts("record").is_some());

    let outcome = home.run(&Log::of(&[0; 6]), &stages()).unwrap();
    ledger::write(&home.folder, &stages(), &outcome.corpus, &ledger::Listed::default(), false, |_| ())
        .unwrap();
    let written = FrameFile::open(&home.path(LINKS)).unwrap().read_all().unwrap();
    assert_eq!((written.height(), written.texts("record").unwrap().get(10)), (11, Some("b5")));
}
