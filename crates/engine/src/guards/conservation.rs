//! Tests that lost, invented or doubled rows stop the run.

use serde_json::{Value, json};

use super::{BAD, Home, Log, Shown, Writes, drops, stage};
use crate::corpus::Corpus;
use crate::delta::{FATES, read_fates, write_fates};
use crate::error::Error;
use crate::vocabulary::{Evidence, RowIx, TableId};

/// Returns every way in which rows do not add up.
pub(super) fn broken() -> Vec<Shown> {
    [sources(), stages(), sinks()].into_iter().flatten().collect()
}

/// Returns errors of a source that counts other lines than the three that arrive.
fn sources() -> Vec<Shown> {
    let honest = || Log::of(&[0, 0, 1]);
    let wrong = [
        (
            "a source that loses a line",
            Log { items: 4, ..honest() },
            "ingest: rows do not add up: 4 items with 0 further parts in the inputs, 3 lines arrived",
        ),
        (
            "a source that makes a line up",
            Log { items: 2, ..honest() },
            "ingest: rows do not add up: 2 items with 0 further parts in the inputs, 3 lines arrived",
        ),
        (
            "a source that loses a part of a line",
            Log { items: 2, further_parts: 2, ..honest() },
            "ingest: rows do not add up: 2 items with 2 further parts in the inputs, 3 lines arrived",
        ),
    ];
    let run = |(cause, log, text): (_, Log, _)| {
        let home = Home::new();
        let done = home.run(&log, &[]);
        // A later run must not reuse it.
        assert!(!home.path("ingest").exists(), "{cause}");
        Shown::new(cause, done, text)
    };
    wrong.into_iter().map(run).collect()
}

/// Returns errors of deltas with inconsistent counts.
///
/// No stage can cause them: `Verdict` refuses invalid fates, and the cascade drops requests with their list and a list
/// with its last request. So these are deltas of a finished run that were changed together with their checksums; the
/// next run reads them back and compares the same counts.
fn stages() -> Vec<Shown> {
    let count = |table: &str, n: i64| {
        let pointer = format!("/before/{table}");
        move |manifest: &mut Value| *manifest.pointer_mut(&pointer).unwrap() = json!(n)
    };
    vec![
        replayed(
            "a request that is lost in a stage",
            |_| (),
            count("requests", 4),
            "judge: rows do not add up: requests: 4 before, 1 kept, 2 with a fate",
        ),
        replayed(
            "a request that a stage makes up",
            |_| (),
            count("requests", 2),
            "judge: rows do not add up: requests: 2 before, 1 kept, 2 with a fate",
        ),
        replayed(
            "a doc list that is lost in a stage",
            |_| (),
            count("doc_lists", 3),
            "judge: rows do not add up: doc_lists: 3 before, 1 kept, 1 with a fate",
        ),
        replayed(
            "a fate that is not in the delta",
            |home| leave_out(home, TableId::DocLists, 0),
            |_| (),
            "judge: rows do not add up: doc_lists: 2 before, 2 kept, 1 with a fate",
        ),
        replayed(
            "a request whose list is gone",
            |home| leave_out(home, TableId::Requests, 1),
            |manifest| {
                let of_requests = |count: &&mut Value| count["table"] == "requests";
                let count = manifest["fates"].as_array_mut().unwrap().iter_mut().find(of_requests).unwrap();
                count["rows"] = json!(1);
            },
            "judge: rows do not add up: request 00000000000000000000000000000002 is kept, its doc list is not",
        ),
    ]
}

/// Runs a stage that drops a list with two requests, of two lists and three requests; changes its delta, and runs
/// again.
fn replayed(
    cause: &'static str,
    damage: impl FnOnce(&Home),
    amend: impl FnOnce(&mut Value),
    text: &'static str,
) -> Shown {
    let home = Home::new();
    let (log, stages) = (Log::of(&[0, 0, 1]), [drops("judge", TableId::DocLists, 0)]);
    let outcome = home.run(&log, &stages).unwrap();
    assert_eq!((outcome.corpus.requests.kept(), outcome.corpus.lists.kept()), (1, 1));
    damage(&home);
    home.seal("stages/01-judge", amend);
    let done = home.run(&log, &stages);
    assert_eq!(home.warnings(), [""; 0], "{cause}: the files are as the manifest says");
    Shown::new(cause, done, text)
}

/// Removes a fate from the delta.
fn leave_out(home: &Home, table: TableId, row: RowIx) {
    let path = home.path("stages/01-judge").join(FATES);
    let mut fates = read_fates(&path, &[&BAD]).unwrap();
    let before = fates.len();
    fates.retain(|fate| (fate.table, fate.row) != (table, row));
    assert_eq!(fates.len(), before - 1);
    write_fates(&path, &fates).unwrap();
}

/// The requests that a sink writes.
type Rows = fn(&Corpus) -> Vec<RowIx>;

/// Sinks that do not write each kept request once. Requests 0 and 2 are kept, 1 is not.
fn sinks() -> Vec<Shown> {
    let wrong: [(_, Rows, _); 5] = [
        (
            "a sink that writes a request twice",
            |_| vec![0, 2, 0],
            "sink: rows do not add up: request 00000000000000000000000000000001 was written twice or was not kept",
        ),
        (
            "a sink that writes a request that is not kept",
            |_| vec![0, 1],
            "sink: rows do not add up: request 00000000000000000000000000000002 was written twice or was not kept",
        ),
        (
            "a sink that writes a request that does not exist",
            |_| vec![0, 3],
            "sink: rows do not add up: request number 3 was written and does not exist",
        ),
        ("a sink that loses a request", |_| vec![2], "sink: rows do not add up: 2 requests kept, 1 written"),
        ("a sink that loses all", |_| vec![], "sink: rows do not add up: 2 requests kept, 0 written"),
    ];
    let run = |(cause, write, text)| {
        let home = Home::new();
        let outcome = home.run(&Log::of(&[0, 0, 1]), &[drops("drop", TableId::Requests, 1)]).unwrap();
        let done = home.export(&Writes(write), &outcome.corpus);
        assert!(!home.path("dataset").exists(), "{cause}");
        Shown::new(cause, done, text)
    };
    wrong.into_iter().map(run).collect()
}

#[test]
fn rows_that_do_not_add_up_stop_the_run() {
    for shown in broken() {
        shown.check();
        assert!(matches!(shown.error, Error::Conservation { .. }), "{}", shown.cause);
    }
}

#[test]
fn rows_that_add_up_pass() {
    let home = Home::new();
    let stages = [
        drops("drop", TableId::Requests, 1),
        stage("merge", TableId::Requests, |_, out| out.merge(3, 2, &BAD, Evidence::default())),
        stage("hold", TableId::DocLists, |_, out| out.hold(0, &BAD, Evidence::default())),
    ];
    // Of the second item the third and the fourth line are further parts.
    let log = Log { items: 2, further_parts: 3, ..Log::of(&[0, 0, 1, 1, 1]) };
    let outcome = home.run(&log, &stages).unwrap();
    assert_eq!((outcome.ingest.counts.lines, outcome.ingest.counts.records), (5, 5));
    let kept: Vec<(u64, u64)> =
        outcome.stages.iter().map(|stage| (stage.after.requests, stage.after.doc_lists)).collect();
    assert_eq!(kept, [(4, 2), (3, 2), (2, 1)]);
    // The sink chooses the order.
    let exported = home.export(&Writes(|_| vec![4, 2]), &outcome.corpus).unwrap();
    assert_eq!(exported.rows, [4, 2]);
    assert!(home.path("dataset").is_dir());
}
