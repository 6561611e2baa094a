//! Tests of the ledger, `rows.parquet` and `lists.parquet`, cell by cell.

use serde_json::{Map, Value, json};

use super::{BAD, Home, Log, WORSE, stage};
use crate::columns::{LANGUAGE, MESSAGES, listed};
use crate::corpus::Corpus;
use crate::delta::write_fates;
use crate::fate::FateEvent;
use crate::forgotten::FORGOTTEN;
use crate::frame::FrameFile;
use crate::instance::StageInstance;
use crate::layout::FORGOTTEN_FATES;
use crate::ledger::{self, fate_word, for_each_event};
use crate::runner;
use crate::vocabulary::{Action, Edit, Evidence, Metric, Safety, TableId};

/// Six requests; the first two of list 0, the next two of list 1.
const LOG: &[u128] = &[0x70, 0x70, 0x71, 0x71, 0x72, 0x73];

fn listing() -> ledger::Listed<'static> {
    ledger::Listed { columns: listed(), of_requests: Vec::new(), cancel: None }
}

/// Returns every kind of event: an edit, fates of all three kinds in both tables, some that follow, scores and details.
fn stages() -> [StageInstance; 2] {
    let requests = stage("requests", TableId::Requests, |_, out| {
        let edit =
            |safety, patch: &str| Edit { column: MESSAGES, reason: &BAD, safety, patch: patch.to_owned() };
        out.edit(5, edit(Safety::Suggest, "[1]"))?;
        out.edit(0, edit(Safety::Safe, "[2]"))?;
        out.set(0, MESSAGES, "other")?;
        out.set(0, LANGUAGE, "en")?;
        out.merge(1, 0, &BAD, Evidence::score(Metric::Cosine, 0.5))?;
        out.hold(4, &WORSE, Evidence::detail(json!({"n": 1})))
    });
    let lists = stage("lists", TableId::DocLists, |_, out| {
        out.merge(1, 0, &BAD, Evidence::score(Metric::ParameterJaccard, 0.25))?;
        out.drop(3, &WORSE, Evidence::default())
    });
    [requests, lists]
}

fn finished() -> (Home, Corpus) {
    let home = Home::new();
    let corpus = home.run(&Log::of(LOG), &stages()).unwrap().corpus;
    (home, corpus)
}

/// Returns the cells of a file that are not null, row by row.
fn rows(home: &Home, name: &str) -> Vec<Value> {
    let frame = FrameFile::open(&home.path(name)).unwrap().read_all().unwrap();
    let row = |row| -> Map<String, Value> {
        frame.row_json(row).into_iter().filter(|(_, value)| !value.is_null()).collect()
    };
    (0..frame.height()).map(|at| Value::Object(row(at))).collect()
}

/// Returns a row id as it is printed.
fn id(number: u128) -> String {
    format!("{number:032x}")
}

fn fate(
    table: &str,
    row: u128,
    stage: &str,
    action: &str,
    reason: &str,
    cascaded: u8,
    more: &Value,
) -> Value {
    let mut event = json!({"table_name": table, "row_id": id(row), "stage": stage, "action": action, "reason": reason,
        "cascaded": cascaded});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

#[test]
fn the_ledger_has_every_event_by_stage_and_in_canonical_order() {
    let (home, corpus) = finished();
    let mut counted = Vec::new();
    ledger::write(&home.folder, &stages(), &corpus, &listing(), true, |events| counted.push(events.len()))
        .unwrap();
    let edit = |row, patch: &str, safety: &str| {
        let more = json!({"column_name": "messages", "safety": safety, "patch": patch});
        fate("requests", row, "requests", "edit", "test/bad", 0, &more)
    };
    let none = json!({});
    let expected = [
        fate(
            "requests",
            2,
            "requests",
            "merge",
            "test/bad",
            0,
            &json!({"merged_into": id(1), "score": 0.5, "metric": "cosine"}),
        ),
        fate("requests", 5, "requests", "hold", "test/worse", 0, &json!({"evidence": "{\"n\":1}"})),
        fate("doc_lists", 0x72, "requests", "hold", "cascade/no-request-left", 1, &none),
        edit(1, "[2]", "safe"),
        edit(6, "[1]", "suggest"),
        fate("requests", 6, "lists", "drop", "test/worse", 1, &none),
        fate(
            "doc_lists",
            0x71,
            "lists",
            "merge",
            "test/bad",
            0,
            &json!({"merged_into": id(0x70), "score": 0.25, "metric": "parameter-jaccard"}),
        ),
        fate("doc_lists", 0x73, "lists", "drop", "test/worse", 0, &none),
    ];
    let found = rows(&home, "ledger.parquet");
    assert_eq!(found, expected);
    assert_eq!(counted.iter().sum::<usize>(), expected.len(), "who counts them sees the same ones");
}

#[test]
fn rows_and_lists_have_one_row_each_with_the_final_state() {
    let (home, corpus) = finished();
    for (exported, word) in [(true, "exported"), (false, "kept")] {
        ledger::write(&home.folder, &stages(), &corpus, &listing(), exported, |_| ()).unwrap();
        let request = |n: u128, list: u128, origin: u128, fate: &Value| {
            let mut row = json!({"request_id": id(n), "file": 0, "line": n, "record": n, "list_id": id(list),
                "origin_list_id": id(origin)});
            row.as_object_mut().unwrap().extend(fate.as_object().unwrap().clone());
            row
        };
        let kept = json!({"fate": word});
        let merged =
            json!({"fate": "merged", "stage": "requests", "reason": "test/bad", "merged_into": id(1)});
        let held = json!({"fate": "held", "stage": "requests", "reason": "test/worse"});
        let dropped = json!({"fate": "dropped", "stage": "lists", "reason": "test/worse"});
        let requests = [
            request(1, 0x70, 0x70, &kept),
            request(2, 0x70, 0x70, &merged),
            request(3, 0x70, 0x71, &kept),
            request(4, 0x70, 0x71, &kept),
            request(5, 0x72, 0x72, &held),
            request(6, 0x73, 0x73, &dropped),
        ];
        assert_eq!(rows(&home, "rows.parquet"), requests);
        let lists = [
            json!({"list_id": id(0x70), "fate": "kept"}),
            json!({"list_id": id(0x71), "fate": "merged", "stage": "lists", "reason": "test/bad", "merged_into": id(0x70),
                "score": 0.25}),
            json!({"list_id": id(0x72), "fate": "held", "stage": "requests", "reason": "cascade/no-request-left"}),
            json!({"list_id": id(0x73), "fate": "dropped", "stage": "lists", "reason": "test/worse"}),
        ];
        assert_eq!(rows(&home, "lists.parquet"), lists);
        assert!(!home.path("ledger.parquet.partial").exists());
    }
}

#[test]
fn forgotten_rows_have_a_fate_of_their_own() {
    let (home, _) = finished();
    let event = |table, row, reason, cascaded| {
        let (into, evidence) = (None, Evidence::default());
        FateEvent { table, row, action: Action::Drop, reason, into, cascaded, evidence }
    };
    let fates = [
        event(TableId::Requests, 0, &FORGOTTEN, false),
        event(TableId::DocLists, 0, &crate::cascade::NO_REQUEST_LEFT, true),
    ];
    write_fates(&home.path(FORGOTTEN_FATES), &fates).unwrap();
    let ingest = home.folder.manifest("ingest").unwrap().unwrap();
    let corpus = runner::open(home.folder.path(), &ingest, &stages()).unwrap();
    assert_eq!(fate_word(&corpus.requests, 0, true), "forgotten");
    assert_eq!(fate_word(&corpus.lists, 0, true), "dropped");
    assert_eq!(fate_word(&corpus.requests, 2, true), "exported");
    ledger::write(&home.folder, &stages(), &corpus, &listing(), true, |_| ()).unwrap();
    let events = rows(&home, "ledger.parquet");
    let last: Vec<&Value> = events.iter().filter(|event| event["stage"] == "forget").collect();
    let none = json!({});
    let expected = [
        fate("requests", 1, "forget", "forget", "forgotten/record", 0, &none),
        fate("doc_lists", 0x70, "forget", "drop", "cascade/no-request-left", 1, &none),
    ];
    assert_eq!(last, expected.iter().collect::<Vec<_>>());
    assert_eq!(events.len(), 10);
    assert_eq!(rows(&home, "rows.parquet")[0]["fate"], "forgotten");
}

#[test]
fn events_of_chosen_rows_only() {
    let (home, corpus) = finished();
    let mut found = Vec::new();
    let is_wanted = |table, row| (table, row) == (TableId::Requests, 0) || row == 1;
    for (at, stage) in stages().iter().enumerate() {
        for_each_event(home.folder.path(), at, stage, &corpus, is_wanted, |events| {
            found.extend(
                events.iter().map(|event| (event.stage.to_owned(), event.row_id.0, event.action.to_owned())),
            );
            Ok(())
        })
        .unwrap();
    }
    let expected = [("requests", 2, "merge"), ("requests", 1, "edit"), ("lists", 0x71, "merge")];
    assert_eq!(found, expected.map(|(stage, row, action)| (stage.to_owned(), row, action.to_owned())));
}
