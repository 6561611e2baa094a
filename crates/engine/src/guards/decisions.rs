//! Tests of decisions of people: the rows they name, their effects, decisions that are not applied, and stages that run
//! again because of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::tables::table;
use super::{BAD, Home, Log, drops, stage_of};
use crate::columns::{MESSAGES, TEXT};
use crate::context::{Context, Quiet};
use crate::contract::Contract;
use crate::corpus::{Corpus, Table};
use crate::decision::{Columns, Decision, DecisionKind, Decisions, Ruling, digest, reasons};
use crate::decisions::{DECIDE, DECIDED, read_rulings};
use crate::division::{BatchRows, Cuts};
use crate::error::Result;
use crate::frame::{Values, write_frame};
use crate::instance::StageInstance;
use crate::ledger::for_each_event;
use crate::runner::{self, Outcome};
use crate::services::Services;
use crate::vocabulary::{Action, Evidence, Reason, RowIx, TableId};

/// The prefix of the ids of lists, followed by a number.
const LISTS: u128 = 0xab << 120;
/// Requests with the ids 1 to 5, of three lists.
const LOG: &[u128] = &[LISTS + 1, LISTS + 1, LISTS + 2, LISTS + 2, LISTS + 3];

/// A reason that no decision can overrule.
static FINAL: Reason = Reason::policy("test/final", "Nobody can use it.").binding();

/// Returns the id of a row as it is printed.
fn id(number: u128) -> String {
    format!("{number:032x}")
}

fn on(id: impl Into<String>, kind: DecisionKind) -> Decision {
    Decision {
        file: 0,
        line: 0,
        id: id.into(),
        kind,
        word: kind.name(),
        was: None,
        by: None,
        why: None,
        body: Value::Null,
    }
}

fn saw(id: impl Into<String>, was: &str) -> Decision {
    Decision { was: Some(was.to_owned()), ..on(id, DecisionKind::Drop) }
}

/// Returns these decisions, one per line. The text of a request is also its own id.
fn file(all: Vec<Decision>) -> Arc<Decisions> {
    let all = (1..).zip(all).map(|(line, decision)| Decision { line, ..decision }).collect();
    let columns = Some(Columns { own_id: MESSAGES, request: MESSAGES, list: TEXT });
    Arc::new(Decisions { files: vec!["decisions.jsonl".to_owned()], columns, all, ..Decisions::default() })
}

impl Home {
    fn run_decided(&self, stages: &[StageInstance], decisions: &Arc<Decisions>) -> Outcome {
        let services = Services::default().with_decisions(Arc::clone(decisions));
        let cancel = AtomicBool::new(false);
        let cx = Context::new(0, &cancel, &self.shown).with_services(services);
        // Of the five requests the last is in a batch of its own, of the three lists the third.
        let cuts = Cuts { batch_rows: BatchRows::new(2).unwrap(), ..Cuts::default() };
        runner::run_cut(&self.folder, &Log::of(LOG), stages, cuts, &cx).unwrap()
    }

    /// Returns the decisions that the last stage could not apply: line and reason.
    fn not_applied(&self, outcome: &Outcome) -> Vec<(u64, String)> {
        let notes = &outcome.stages.last().unwrap().notes["decisions_not_applied"];
        let notes: Vec<(u64, String)> = notes
            .as_array()
            .unwrap()
            .iter()
            .map(|note| (note["line"].as_u64().unwrap(), note["why"].as_str().unwrap().to_owned()))
            .collect();
        let warned = self.warnings();
        for (line, why) in &notes {
            let is_of_line =
                |text: &&String| text.starts_with(&format!("decisions decisions.jsonl:{line}: "));
            let warning = warned.iter().find(is_of_line).unwrap();
            assert!(warning.ends_with(&format!(" is not applied: {why}")), "{warning}");
        }
        assert_eq!(warned.len(), notes.len(), "{warned:?}");
        notes
    }
}

/// Drops request 0 and holds request 1, which no decision can overrule.
fn first() -> StageInstance {
    let contract = Contract::of(TableId::Requests).reasons([&BAD, &FINAL]);
    stage_of("first", contract, |_, out| {
        out.drop(0, &BAD, Evidence::default())?;
        out.hold(1, &FINAL, Evidence::default())
    })
}

/// Applies labels: records each, and refuses that of request 3.
fn labels() -> StageInstance {
    let contract = Contract::of(TableId::Requests).reads([MESSAGES]).decisions([DecisionKind::Relabel]);
    stage_of("labels", contract, |view, out| {
        let cancel = AtomicBool::new(false);
        view.for_each_batch(&Context::new(0, &cancel, &Quiet), |batch| {
            for &row in batch.rows() {
                if let Some(decision) = batch.row(row).decision(DecisionKind::Relabel) {
                    let ruling = if row == 3 {
                        Ruling::refused(decision, "it has no label")
                    } else {
                        Ruling::of(decision, json!({"label": decision.body}))
                    };
                    out.ruling(row, ruling)?;
                }
            }
            Ok(())
        })
    })
}

/// Has an empty verdict.
fn silent(id: &str) -> StageInstance {
    stage_of(id, Contract::of(TableId::Requests), |_, _| Ok(()))
}

/// Returns the fate of a row: by which stage, how and why.
fn fate(outcome: &Outcome, table: TableId, row: RowIx) -> Option<(u16, Action, &'static str)> {
    outcome.corpus.table(table).fate(row).map(|fate| (fate.stage, fate.action, fate.reason.code))
}

/// Returns the decisions in the folder of a stage: row, reason and detail.
fn applied(home: &Home, step: &str) -> Vec<(RowIx, String, Value)> {
    let rulings = read_rulings(&home.path(step).join(DECIDED)).unwrap();
    assert!(rulings.iter().all(|ruling| ruling.table == TableId::Requests));
    let of = |detail: &str| serde_json::from_str(detail).unwrap();
    rulings.into_iter().map(|ruling| (ruling.row, ruling.reason, of(&ruling.detail))).collect()
}

#[test]
fn keep_takes_back_a_fate_where_it_is_given_unless_its_reason_is_binding() {
    let home = Home::new();
    let kept = Decision {
        by: Some("Kim".to_owned()),
        why: Some("it is fine".to_owned()),
        ..on(id(1), DecisionKind::Keep)
    };
    let decisions = file(vec![kept, on(id(2), DecisionKind::Keep), on(id(3), DecisionKind::Keep)]);
    let outcome = home.run_decided(&[first(), drops("second", TableId::Requests, 0)], &decisions);
    assert_eq!(fate(&outcome, TableId::Requests, 0), None);
    assert_eq!(fate(&outcome, TableId::Requests, 1), Some((0, Action::Hold, "test/final")));
    assert_eq!(home.not_applied(&outcome), [(2, "the row is held by first: test/final".to_owned())]);
    let instead_of = json!({"action": "drop", "reason": "test/bad"});
    let detail = json!({"by": "Kim", "why": "it is fine", "instead_of": instead_of});
    let expected = vec![(0, "decision/kept".to_owned(), detail)];
    assert_eq!(applied(&home, "stages/01-first"), expected);
    assert_eq!(applied(&home, "stages/02-second"), expected, "each stage that would take it");
    let noted = json!([{"table": "requests", "row": 0, "decision": "keep"}]);
    assert_eq!(outcome.stages.iter().map(|stage| &stage.notes["decisions"]).collect::<Vec<_>>(), [&noted; 2]);
}

#[test]
fn drop_applies_after_the_last_stage_with_all_fates_that_follow() {
    let home = Home::new();
    let by_list = on(id(LISTS + 3), DecisionKind::Drop);
    let decisions = file(vec![
        on(id(1), DecisionKind::Drop),
        by_list,
        on(id(3), DecisionKind::Drop),
        on(id(5), DecisionKind::Drop),
    ]);
    let outcome = home.run_decided(&[first(), silent("last")], &decisions);
    let dropped = Some((1, Action::Drop, "decision/dropped"));
    assert_eq!(fate(&outcome, TableId::Requests, 0), Some((0, Action::Drop, "test/bad")));
    assert_eq!([2, 4].map(|row| fate(&outcome, TableId::Requests, row)), [dropped; 2]);
    assert_eq!(fate(&outcome, TableId::DocLists, 2), dropped, "a list with all its requests");
    assert_eq!(fate(&outcome, TableId::DocLists, 1), None, "it has a request left");
    assert_eq!(fate(&outcome, TableId::Requests, 3), None);
    assert_eq!(home.not_applied(&outcome), [(1, "the row is dropped by first: test/bad".to_owned())]);
    assert_eq!(applied(&home, "stages/02-last"), [], "drops are fates");
}

#[test]
fn a_decision_names_one_row_or_none() {
    let (is, docs) = (digest("question 2"), format!("docs {}", LISTS + 2));
    assert_eq!(is.len(), 64);
    let none = "no row has this id";
    let changed = |what: &str| {
        format!(
            "the row is not as the person saw it: the digest of its content begins with {}",
            &digest(what)[..8]
        )
    };
    let several = |n: usize| format!("{n} rows have this id; name the request id instead");
    // What is decided, and why it is not applied.
    let cases = [
        (on(id(3), DecisionKind::Drop), None),
        (on("question 2", DecisionKind::Drop), None),
        (on("question 9", DecisionKind::Drop), Some(none.to_owned())),
        (on("QUESTION 2", DecisionKind::Drop), Some(none.to_owned())),
        (on(&id(LISTS + 3)[..31], DecisionKind::Drop), Some(several(3))),
        (on("0".repeat(30), DecisionKind::Drop), Some(several(5))),
        (on("0".repeat(8), DecisionKind::Drop), Some(several(5))),
        (on("0".repeat(7), DecisionKind::Drop), Some(none.to_owned())),
        (on(format!("{}0", id(3)), DecisionKind::Drop), Some(none.to_owned())),
        (on("g".repeat(8), DecisionKind::Drop), Some(none.to_owned())),
        (on("0".repeat(31), DecisionKind::Drop), Some(several(5))),
        (saw(id(3), &is), None),
        (saw(id(3), &is[..8]), None),
        (saw(id(3), &is[..8].to_uppercase()), None),
        (saw(id(4), &is[..8]), Some(changed("question 3"))),
        (saw(id(LISTS + 2), &digest(&docs)[..12]), None),
        (saw(id(LISTS + 2), &is), Some(changed(&docs))),
    ];
    for (decision, why) in cases {
        let home = Home::new();
        let outcome = home.run_decided(&[silent("last")], &file(vec![decision.clone()]));
        let expected: Vec<(u64, String)> = why.map(|why| (1, why)).into_iter().collect();
        assert_eq!(home.not_applied(&outcome), expected, "{} {:?}", decision.id, decision.was);
        let table = if decision.id == id(LISTS + 2) { TableId::DocLists } else { TableId::Requests };
        let row = if table == TableId::DocLists { 1 } else { 2 };
        assert_eq!(fate(&outcome, table, row).is_some(), expected.is_empty(), "{}", decision.id);
        let n_left = outcome.corpus.requests.kept();
        let n_expected = match (expected.is_empty(), table) {
            (true, TableId::Requests) => 4,
            (true, TableId::DocLists) => 3,
            (false, _) => 5,
        };
        assert_eq!(n_left, n_expected, "{}", decision.id);
    }
}

#[test]
fn an_id_in_capitals_matches_and_the_start_of_several_ids_means_none_of_their_rows() {
    let home = Home::new();
    let log = Log::of(&[0xab, 0xab]);
    let decisions = file(vec![on(id(0xab).to_uppercase(), DecisionKind::Drop)]);
    let services = Services::default().with_decisions(decisions);
    let cancel = AtomicBool::new(false);
    let cx = Context::new(0, &cancel, &home.shown).with_services(services);
    let outcome = runner::run(&home.folder, &log, &[silent("last")], &cx).unwrap();
    assert_eq!(outcome.corpus.requests.kept(), 0);

    // Of the five requests whose id begins so, four are not kept when drops are decided; the person may mean any.
    let home = Home::new();
    let others = stage_of("others", Contract::of(TableId::Requests).reasons([&BAD]), |view, out| {
        view.rows().filter(|&row| row != 3).try_for_each(|row| out.drop(row, &BAD, Evidence::default()))
    });
    let decisions = file(vec![on("0".repeat(8), DecisionKind::Drop)]);
    let outcome = home.run_decided(&[others], &decisions);
    assert_eq!(fate(&outcome, TableId::Requests, 3), None);
    let several = "5 rows have this id; name the request id instead";
    assert_eq!(home.not_applied(&outcome), [(1, several.to_owned())]);
}

#[test]
fn a_stage_gets_the_decisions_of_its_contract_and_what_it_refuses_is_reported() {
    let home = Home::new();
    let label = |number| Decision { body: json!("relevant"), ..on(id(number), DecisionKind::Relabel) };
    let answer = on(id(3), DecisionKind::Answer);
    let decisions = file(vec![label(3), label(4), label(1), answer, label(LISTS + 1)]);
    let outcome = home.run_decided(&[first(), labels(), silent("last")], &decisions);
    let expected = [
        (2, "it has no label"),
        (3, "the row is dropped by first: test/bad"),
        (4, "no stage of the pipeline takes answer of requests"),
        (5, "no stage of the pipeline takes relabel of doc_lists"),
    ];
    let expected = expected.map(|(line, why)| (line, why.to_owned()));
    assert_eq!(home.not_applied(&outcome), expected);
    let detail = json!({"label": "relevant"});
    assert_eq!(applied(&home, "stages/02-labels"), [(2, "decision/relabelled".to_owned(), detail)]);
    let noted = json!([
        {"table": "requests", "row": 2, "decision": "relabel"},
        {"table": "requests", "row": 3, "decision": "relabel", "why": "it has no label"},
    ]);
    assert_eq!(outcome.stages[1].notes["decisions"], noted);
    assert!(!outcome.stages[0].notes.contains_key("decisions"));

    let home = Home::new();
    let contract = Contract::of(TableId::Requests).decisions([DecisionKind::Relabel]);
    let idle = stage_of("idle", contract, |_, _| Ok(()));
    let outcome = home.run_decided(&[idle], &file(vec![label(3)]));
    assert_eq!(home.not_applied(&outcome), [(1, "no stage had a use for it".to_owned())]);
}

#[test]
#[should_panic(expected = "decision answer is not among those that were declared")]
fn a_stage_gets_no_decision_of_a_kind_that_its_contract_does_not_name() {
    let contract = Contract::of(TableId::Requests).reads([MESSAGES]).decisions([DecisionKind::Relabel]);
    let nosy = stage_of("nosy", contract, |view, _| {
        let cancel = AtomicBool::new(false);
        view.for_each_batch(&Context::new(0, &cancel, &Quiet), |batch| {
            assert!(batch.row(0).decision(DecisionKind::Relabel).is_none());
            assert!(batch.row(0).decision(DecisionKind::Answer).is_none());
            Ok(())
        })
    });
    Home::new().run_decided(&[nosy], &file(vec![on(id(1), DecisionKind::Keep)]));
}

#[test]
fn only_the_stages_that_a_decision_can_change_run_again() {
    let stages = || [first(), labels(), silent("last")];
    let reused = |after: Vec<Decision>| {
        let home = Home::new();
        home.run_decided(&stages(), &file(vec![on(id(4), DecisionKind::Answer)]));
        home.run_decided(&stages(), &file(after)).reused
    };
    let answer = || on(id(4), DecisionKind::Answer);
    assert_eq!(reused(vec![answer()]), 4);
    assert_eq!(reused(vec![]), 3);
    assert_eq!(reused(vec![answer(), on(id(3), DecisionKind::Drop)]), 3, "the last stage drops");
    assert_eq!(reused(vec![answer(), on(id(3), DecisionKind::Relabel)]), 2, "one takes labels");
    assert_eq!(reused(vec![answer(), on(id(3), DecisionKind::Keep)]), 1, "any may be overruled");
    let change = |change: fn(&mut Decision)| {
        let mut decision = answer();
        change(&mut decision);
        reused(vec![decision])
    };
    assert_eq!(change(|decision| decision.id = id(3)), 3);
    assert_eq!(change(|decision| decision.body = json!([])), 3);
    assert_eq!(change(|decision| decision.was = Some(digest("question 3"))), 3);
    assert_eq!(change(|decision| decision.by = Some("Kim".to_owned())), 3);
    assert_eq!(change(|decision| decision.why = Some("so".to_owned())), 3);
}

#[test]
fn decisions_of_reused_steps_are_accounted_for_again() {
    let home = Home::new();
    let label = Decision { body: json!("relevant"), ..on(id(3), DecisionKind::Relabel) };
    let decisions = file(vec![label, on(id(9), DecisionKind::Drop)]);
    let [first, second] = [0, 1].map(|_| home.run_decided(&[labels(), silent("last")], &decisions));
    assert_eq!((first.reused, second.reused), (0, 3));
    assert_eq!(home.warnings().len(), 2, "each time");
    assert_eq!(first.stages[1].notes, second.stages[1].notes);
}

#[test]
fn the_ledger_shows_decisions_of_the_wanted_rows_in_canonical_order() {
    let home = Home::new();
    let all = stage_of("all", Contract::of(TableId::Requests).reasons([&BAD]), |view, out| {
        view.rows().try_for_each(|row| out.drop(row, &BAD, Evidence::default()))
    });
    let kept = [1, 2, 4, 5].map(|number| on(id(number), DecisionKind::Keep)).to_vec();
    home.run_decided(&[all], &file(kept));
    // Later rows are earlier in time.
    let lists = Table::new(TableId::DocLists, vec![1], vec![0], &[1]);
    let corpus = Corpus { requests: table(), lists, origin: vec![0; 6], list: vec![0; 6], inputs: [].into() };
    let mut found = Vec::new();
    let stage = silent("all");
    for_each_event(
        home.folder.path(),
        0,
        &stage,
        &corpus,
        |_, row| row > 0,
        |events| {
            let decisions = events.iter().filter(|event| event.action == DECIDE);
            found.extend(
                decisions.map(|event| (event.row_id.0, event.stage.to_owned(), event.reason.to_owned())),
            );
            Ok(())
        },
    )
    .unwrap();
    let expected = [14, 13, 11].map(|row| (row, "all".to_owned(), "decision/kept".to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_damaged_file_of_decisions_is_an_error_that_names_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(DECIDED);
    assert_eq!(read_rulings(&path).unwrap(), [], "there need be none");
    let written = |table: &'static str| -> Result<usize> {
        let text = |text: &'static str| Values::Text(vec![Some(text)]);
        let columns = vec![
            ("table", text(table)),
            ("row", Values::U32(vec![0])),
            ("reason", text("decision/kept")),
            ("detail", text("{}")),
        ];
        write_frame(&path, columns)?;
        Ok(read_rulings(&path)?.len())
    };
    assert_eq!(written("requests").unwrap(), 1);
    let error = written("answers").unwrap_err().to_string();
    assert!(error.contains("decisions.parquet") && error.contains("row 0 is no decision"), "{error}");
}

#[test]
fn each_kind_has_a_word_and_a_reason_of_its_own() {
    let words = DecisionKind::ALL.map(DecisionKind::name);
    assert_eq!(words, ["keep", "drop", "relabel", "answer", "edit"]);
    let codes = reasons().map(|reason| reason.code);
    let expected = ["kept", "dropped", "relabelled", "answered", "edited"];
    assert_eq!(codes, expected.map(|word| format!("decision/{word}")));
}
