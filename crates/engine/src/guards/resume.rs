//! Tests of resumed runs: the reused steps, the messages and the counts.

use serde_json::{Value, json};

use super::{BAD, Home, LATE, Log, WORSE, Writes, contract, drops, stage, stage_of};
use crate::columns::{LANGUAGE, MESSAGES};
use crate::contract::Contract;
use crate::delta::{COLUMNS, StageManifest};
use crate::division::Cuts;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::instance::StageInstance;
use crate::layout::MANIFEST;
use crate::raw::{IngestCounts, LISTS, REQUESTS};
use crate::runner::{self, Manner, bytes_in, fault_share};
use crate::sink::{Exported, FinishedTables, Sink};
use crate::stage::Stage;
use crate::verdict::Verdict;
use crate::view::View;
use crate::vocabulary::{Edit, Evidence, Safety, TableId};

const LOG: &[u128] = &[0, 0, 1, 1, 2];

/// Drops request 0, then sets the language of all.
fn stages() -> [StageInstance; 2] {
    let language = |view: &View<'_>, out: &mut Verdict<'_>| {
        view.rows().try_for_each(|row| out.set(row, LANGUAGE, format!("language {row}")))
    };
    [drops("drop", TableId::Requests, 0), stage("language", TableId::Requests, language)]
}

#[test]
fn what_is_added_to_a_run_does_not_ask_again_for_rows_that_failed() {
    let home = Home::new();
    let fails = || {
        let with = contract(TableId::Requests).reasons([&LATE]);
        stage_of("asks", with, |_, out| out.fail(1, &LATE, "no answer"))
    };
    let reused = |settled: usize, stages: &[StageInstance]| {
        let cuts = Cuts::default();
        let ran = home.with_context(|cx| {
            runner::run_so(
                &home.folder,
                &Log::of(LOG),
                stages,
                Manner { cuts, settled, ..Manner::default() },
                cx,
            )
        });
        ran.unwrap().reused
    };
    assert_eq!(reused(0, &[fails()]), 0);
    // Another run asks again, except where the stage is settled.
    assert_eq!(reused(0, &[fails()]), 1);
    let [added, _] = stages();
    assert_eq!(reused(1, &[fails(), added]), 2);
    let [added, _] = stages();
    assert_eq!(reused(1, &[fails(), added]), 3);
}

#[test]
fn a_first_run_shows_no_warning_and_the_next_reuses_all_steps() {
    let home = Home::new();
    let first = home.run(&Log::of(LOG), &stages()).unwrap();
    assert_eq!((first.reused, home.warnings()), (0, vec![]));
    assert_eq!(home.outcomes(), ["5 requests, 3 doc lists", "1 request dropped", "nothing to do"]);
    let second = home.run(&Log::of(LOG), &stages()).unwrap();
    assert_eq!((second.reused, home.warnings()), (3, vec![]));
    assert_eq!(home.outcomes(), ["as before"]);
    let opened = runner::open(home.folder.path(), &second.ingest, &stages()).unwrap();
    for corpus in [&first.corpus, &second.corpus, &opened] {
        let cells = corpus.requests.read_batch(0, &[LANGUAGE, MESSAGES]).unwrap();
        let read = [0, 4].map(|at| (cells.text(LANGUAGE, at), cells.text(MESSAGES, at)));
        let expected = [(None, Some("question 0")), (Some("language 4"), Some("question 4"))];
        assert_eq!(read, expected);
        assert_eq!(corpus.requests.fate(0).map(|fate| fate.stage), Some(0));
    }
}

#[test]
fn an_item_that_a_service_failed_for_is_read_again_by_the_next_run() {
    let home = Home::new();
    let failing = || Log { failed: &[2], ..Log::of(LOG) };
    let first = home.run(&failing(), &stages()).unwrap();
    assert_eq!((first.corpus.requests.len(), first.ingest.counts.unreadable), (4, 1));
    assert_eq!(first.ingest.notes["asked"], 5);
    // The same item fails again: it is read again, and the rows are those of the finished stages.
    assert_eq!(home.run(&failing(), &stages()).unwrap().reused, 2);
    home.outcomes();
    let answered = home.run(&Log::of(LOG), &stages()).unwrap();
    assert_eq!((answered.reused, answered.corpus.requests.len()), (0, 5));
    assert_eq!(home.outcomes()[0], "changed");
    assert_eq!(home.run(&Log::of(LOG), &stages()).unwrap().reused, 3);
}

#[test]
fn other_inputs_are_read_and_judged() {
    let home = Home::new();
    home.run(&Log::of(LOG), &stages()).unwrap();
    home.outcomes();
    let other = home.run(&Log::of(&[0, 0]), &stages()).unwrap();
    assert_eq!((other.reused, other.corpus.requests.len()), (0, 2));
    assert_eq!(home.outcomes()[..2], ["changed", "2 requests, 1 doc list"]);
    let seed = home.with_seed(1, |cx| runner::run(&home.folder, &Log::of(&[0, 0]), &stages(), cx)).unwrap();
    assert_eq!(seed.reused, 0);
}

#[test]
fn a_stage_runs_again_when_it_or_an_earlier_one_changed() {
    let other = |change: fn(&mut [StageInstance; 2])| {
        let home = Home::new();
        home.run(&Log::of(LOG), &stages()).unwrap();
        let mut changed = stages();
        change(&mut changed);
        home.run(&Log::of(LOG), &changed).unwrap().reused
    };
    assert_eq!(other(|_| ()), 3);
    assert_eq!(other(|stages| stages[1].settings = json!({"n": 2})), 2);
    assert_eq!(other(|stages| stages[0].settings = json!({"n": 2})), 1, "what it is based on changed");
    assert_eq!(other(|stages| stages[1].kind = "other"), 2);
    assert_eq!(other(|stages| stages[1].id = "other".to_owned()), 2);
    assert_eq!(other(|stages| stages[1].stage = Box::new(Versioned(1))), 2);
    assert_eq!(other(|stages| stages.swap(0, 1)), 1);
}

/// A stage of another version.
struct Versioned(u32);

impl Stage for Versioned {
    fn contract(&self) -> Contract {
        contract(TableId::Requests)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(self.0);
        Ok(())
    }

    fn judge(&self, _: &View<'_>, _: &crate::context::Context<'_>, _: &mut Verdict<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_removed_stage_is_removed_from_the_folder() {
    let home = Home::new();
    home.run(&Log::of(LOG), &stages()).unwrap();
    let [first, _] = stages();
    assert_eq!(home.run(&Log::of(LOG), &[first]).unwrap().reused, 2);
    assert!(home.path("stages/01-drop").is_dir() && !home.path("stages/02-language").exists());
}

#[test]
fn damaged_steps_run_again_with_a_warning_that_counts_their_files() {
    let home = Home::new();
    let run = || home.run(&Log::of(LOG), &stages()).unwrap();
    run();
    let spoil = |name: &str| std::fs::write(home.path(name), "").unwrap();
    let found = |name: &str| std::fs::metadata(home.path(name)).unwrap().len();

    let bytes = found("stages/02-language/columns.parquet");
    spoil("stages/02-language/columns.parquet");
    assert_eq!(run().reused, 2);
    let text = format!(
        "stages/02-language/columns.parquet is damaged (expected {bytes} bytes, found 0): the stage runs again"
    );
    assert_eq!(home.warnings(), [text]);

    std::fs::remove_file(home.path("stages/02-language/fates.parquet")).unwrap();
    spoil("stages/02-language/columns.parquet");
    spoil("stages/02-language/edits.parquet");
    assert_eq!(run().reused, 2);
    let [warning] = &home.warnings()[..] else { panic!("one warning a step") };
    assert!(warning.contains("columns.parquet is damaged (expected"), "{warning}");
    assert!(warning.ends_with("found 0), and 2 more of its files: the stage runs again"), "{warning}");

    std::fs::remove_file(home.path("stages/01-drop").join(MANIFEST)).unwrap();
    assert_eq!(run().reused, 2, "the other stage said what it said of the same rows");
    let text = "stages/01-drop/manifest.json is damaged (there is no such file): the stage runs again";
    assert_eq!(home.warnings(), [text]);

    spoil("stages/01-drop/manifest.json");
    assert_eq!(run().reused, 2);
    let [warning] = &home.warnings()[..] else { panic!("one warning a step") };
    assert!(warning.starts_with("stages/01-drop/manifest.json is damaged ("), "{warning}");

    for name in [REQUESTS, LISTS] {
        spoil(&format!("ingest/{name}"));
    }
    let outcome = run();
    assert_eq!((outcome.reused, outcome.corpus.requests.kept()), (2, 4));
    let [warning] = &home.warnings()[..] else { panic!("one warning a step") };
    assert!(warning.starts_with("ingest/doc_lists.parquet is damaged ("), "{warning}");
    assert!(warning.ends_with("), and 1 more of its files: the inputs are read again"), "{warning}");
    assert_eq!((run().reused, home.warnings()), (3, vec![]));
}

#[test]
fn reused_inputs_keep_their_batches_and_inputs_read_again_have_the_new_size() {
    let home = Home::new();
    let run = |rows: usize| {
        let outcome = home.run_in_batches(rows, &Log::of(LOG), &stages()).unwrap();
        let opened = runner::open(home.folder.path(), &outcome.ingest, &stages()).unwrap();
        for corpus in [&outcome.corpus, &opened] {
            let table = &corpus.requests;
            let read: Vec<(usize, String)> = (0..table.batches())
                .flat_map(|batch| {
                    let cells = table.read_batch(batch, &[LANGUAGE, MESSAGES]).unwrap();
                    let text = move |at| {
                        [LANGUAGE, MESSAGES].map(|column| cells.text(column, at).unwrap_or("-").to_owned())
                    };
                    (0..table.batch(batch).len()).map(move |at| (batch, text(at).join(", ")))
                })
                .collect();
            let expected = (0..5).map(|row| {
                let language = if row == 0 { "-".to_owned() } else { format!("language {row}") };
                (row / outcome.ingest.request_batches[0], format!("{language}, question {row}"))
            });
            assert_eq!(read, expected.collect::<Vec<_>>(), "{rows} rows");
        }
        (outcome.reused, outcome.ingest.request_batches, outcome.ingest.list_batches)
    };
    assert_eq!(run(2), (0, vec![2, 2, 1], vec![2, 1]));
    assert_eq!(run(3), (3, vec![2, 2, 1], vec![2, 1]), "all is taken over as it is");
    // The steps of the stages have cells in batches of two, the tables have batches of three.
    std::fs::write(home.path("ingest").join(REQUESTS), "").unwrap();
    assert_eq!(run(3), (2, vec![3, 2], vec![3]), "the inputs are read again");
    // A step that runs now has cells in batches of three, the one after it in batches of two.
    std::fs::write(home.path("stages/01-drop/fates.parquet"), "").unwrap();
    assert_eq!(run(1), (2, vec![3, 2], vec![3]));
}

#[test]
fn cells_of_a_small_run_stay_in_memory() {
    let home = Home::new();
    let outcome = home.run(&Log::of(LOG), &stages()).unwrap();
    for file in ["stages/02-language/columns.parquet", "ingest/requests.parquet"] {
        std::fs::remove_file(home.path(file)).unwrap();
    }
    let cells = outcome.corpus.requests.read_batch(0, &[LANGUAGE, MESSAGES]).unwrap();
    assert_eq!((cells.text(LANGUAGE, 1), cells.text(MESSAGES, 1)), (Some("language 1"), Some("question 1")));
}

#[test]
fn a_manifest_counts_the_fates_and_edits_of_a_stage() {
    let home = Home::new();
    let edit = |safety| Edit { column: MESSAGES, reason: &BAD, safety, patch: "[]".to_owned() };
    let judge = move |_: &View<'_>, out: &mut Verdict<'_>| {
        for (row, safety) in [
            (1, Safety::Safe),
            (1, Safety::Unsafe),
            (2, Safety::Suggest),
            (3, Safety::Suggest),
            (4, Safety::Suggest),
        ] {
            out.edit(row, edit(safety))?;
        }
        out.edit(2, Edit { reason: &WORSE, ..edit(Safety::Safe) })?;
        out.set(1, MESSAGES, "other")?;
        out.note("compared", json!(["a set"]));
        out.note("compared", json!(["another set"]));
        out.merge(1, 0, &BAD, Evidence::default())?;
        out.drop(2, &BAD, Evidence::default())?;
        out.drop(3, &WORSE, Evidence::default())?;
        out.hold(4, &BAD, Evidence::default())
    };
    let outcome = home.run(&Log::of(LOG), &[stage("all", TableId::Requests, judge)]).unwrap();
    let outcomes = home.outcomes();
    assert_eq!(outcomes[1], "1 request merged, 2 requests dropped, 1 request held, 3 edits");
    let stored: Value = home.folder.manifest("stages/01-all").unwrap().unwrap();
    let counts = ["before", "after", "edits", "suggestions", "notes", "table", "id", "kind"];
    let said: Vec<&Value> = counts.iter().map(|name| &stored[name]).collect();
    let expected = [
        json!({"requests": 5, "doc_lists": 3}),
        json!({"requests": 1, "doc_lists": 1}),
        json!({"test/bad": 2, "test/worse": 1}),
        json!({"test/bad": 3}),
        json!({"compared": ["another set"]}),
        json!("requests"),
        json!("all"),
        json!("acts"),
    ];
    assert_eq!(said, expected.iter().collect::<Vec<_>>());
    let fate = |table: &str, action: &str, reason: &str, cascaded: bool| json!({"table": table, "action": action, "reason": reason, "cascaded": cascaded, "rows": 1});
    let fates = json!([
        fate("requests", "drop", "test/bad", false),
        fate("requests", "drop", "test/worse", false),
        fate("requests", "hold", "test/bad", false),
        fate("requests", "merge", "test/bad", false),
        fate("doc_lists", "drop", "cascade/no-request-left", true),
        fate("doc_lists", "hold", "cascade/no-request-left", true),
    ]);
    assert_eq!(stored["fates"], fates);
    // The manifest itself is not counted, because it holds the count.
    let folder = home.path("stages/01-all");
    let manifest = std::fs::metadata(folder.join(MANIFEST)).unwrap().len();
    let bytes = bytes_in(&folder).unwrap() - manifest;
    assert!(bytes > std::fs::metadata(folder.join(COLUMNS)).unwrap().len());
    assert_eq!((&stored["bytes"], outcome.stages[0].bytes), (&json!(bytes), bytes));
    let read: StageManifest = home.folder.manifest("stages/01-all").unwrap().unwrap();
    assert_eq!(read.fates.iter().map(|count| count.rows).sum::<u64>(), 6);
}

#[test]
fn one_line_summarises_the_result_for_the_stages_own_table() {
    let home = Home::new();
    let merge = stage("merge", TableId::DocLists, |_, out| out.merge(1, 0, &BAD, Evidence::default()));
    let drop = stage("drop", TableId::DocLists, |_, out| {
        out.drop(0, &BAD, Evidence::default())?;
        out.hold(2, &BAD, Evidence::default())
    });
    home.run(&Log::of(LOG), &[merge, drop]).unwrap();
    assert_eq!(home.outcomes()[1..], ["1 doc list merged", "1 doc list dropped, 1 doc list held"]);
}

/// Writes the kept requests, and some entries of an earlier dataset.
struct Frozen(u64);

impl Sink for Frozen {
    fn id(&self) -> &'static str {
        "frozen"
    }

    fn reads(&self) -> Vec<crate::vocabulary::ColumnSpec> {
        Vec::new()
    }

    fn write(
        &self,
        from: &FinishedTables<'_>,
        _: &std::path::Path,
        _: &crate::context::Context<'_>,
    ) -> Result<Exported> {
        let requests = &from.corpus.requests;
        let rows = requests.in_order().iter().copied().filter(|&row| requests.is_kept(row));
        let frozen = vec![("simple".to_owned(), self.0), ("multiple".to_owned(), 1)];
        Ok(Exported { rows: rows.collect(), frozen, ..Exported::default() })
    }
}

#[test]
fn an_export_shows_how_many_entries_it_wrote() {
    let home = Home::new();
    let corpus = home.run(&Log::of(LOG), &stages()).unwrap().corpus;
    home.outcomes();
    home.export(&Frozen(2), &corpus).unwrap();
    home.export(&Writes(|_| vec![1, 2, 3, 4]), &corpus).unwrap();
    assert_eq!(home.outcomes(), ["4 entries and 3 frozen", "4 entries"]);
}

#[test]
fn the_share_of_faults_combines_lines_and_requests() {
    let home = Home::new();
    let late = || Contract { reasons: vec![&BAD, &LATE], ..contract(TableId::Requests) };
    let judge = |_: &View<'_>, out: &mut Verdict<'_>| {
        out.drop(0, &LATE, Evidence::default())?;
        out.drop(1, &BAD, Evidence::default())?;
        out.hold(3, &BAD, Evidence::default())
    };
    let corpus = home.run(&Log::of(&[0, 0, 0, 0]), &[stage_of("late", late(), judge)]).unwrap().corpus;
    let share = |lines, unreadable, records| {
        fault_share(&IngestCounts { lines, unreadable, records, ..IngestCounts::default() }, &corpus)
    };
    let is = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    is(share(10, 2, 4), 0.2 + 0.8 * 0.25);
    is(share(10, 0, 4), 0.25);
    is(share(0, 0, 0), 0.0);
    is(share(7, 3, 0), 3.0 / 7.0);
}

#[test]
fn bytes_of_a_folder_are_those_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(bytes_in(folder.path()).unwrap(), 0);
    for (name, bytes) in [("a", 3), ("b", 5)] {
        std::fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
    }
    assert_eq!(bytes_in(folder.path()).unwrap(), 8);
    assert!(bytes_in(&folder.path().join("none")).is_err());
}
