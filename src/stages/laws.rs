//! Tests of properties that every stage must have; a new stage in the list is tested automatically.
//!
//! Properties of a whole run (same bytes with any number of threads, resume after a kill,
//! no lost rows) are tested on the program itself in `tests/`.

mod answers;
mod nulls;
// A release build does not record which cells are read.
#[cfg(debug_assertions)]
mod reads;
mod sample;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{KINDS, Registry, StageKind};
use crate::engine::background_writer::BackgroundWriter;
use crate::engine::context::{Cancel, Context, Progress, Quiet};
use crate::engine::corpus::{Cells, Corpus};
use crate::engine::error::Result;
use crate::engine::fate::Fate;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::{Delta, Verdict};
use crate::engine::view::View;
use crate::engine::vocabulary::{Safety, TableId};
use crate::environment::Environment;
use crate::{columns, fixture};

fn judge(stage: &dyn Stage, corpus: &Corpus, columns: &Path) -> Delta {
    judge_until(&AtomicBool::new(false), stage, corpus, columns).unwrap()
}

fn judge_until(cancel: &dyn Cancel, stage: &dyn Stage, corpus: &Corpus, columns: &Path) -> Result<Delta> {
    let cx = Context::new(1, cancel, &Quiet).with_services(fixture::services_without_replies());
    judge_in(&cx, stage, corpus, columns)
}

fn judge_in(cx: &Context<'_>, stage: &dyn Stage, corpus: &Corpus, columns: &Path) -> Result<Delta> {
    let contract = stage.contract();
    let background_writer = BackgroundWriter::new(usize::MAX);
    let mut verdict =
        Verdict::new("law", &contract, corpus.table(contract.table), columns, &background_writer);
    stage.judge(&View::new(corpus, &contract), cx, &mut verdict)?;
    verdict.finish()
}

/// Numbers of rows in the large tables. The requests do not fit one block of a join.
const N_REQUESTS: usize = 1_100;
const N_LISTS: usize = 100;

/// Returns tables where most requests use one doc list (as in the log of one assistant) and lists share most functions.
fn large_tables(are_read: bool) -> Value {
    let function = |name: String| {
        json!({"name": name, "description": format!("Does the work of {name} for a harbour with its own rules."),
            "parameters": {"type": "dict", "required": ["times"], "properties": {
                "times": {"type": "integer", "description": format!("How often {name} does it.")}}}})
    };
    let list = |at: usize| {
        let functions = [
            function("ring_bell".to_owned()),
            function("log_ship".to_owned()),
            function(format!("tow_{at}")),
        ];
        let mut list = json!({"text": json!(functions).to_string()});
        if are_read {
            list["functions"] = json!(functions);
        }
        list
    };
    let request = |at: usize| {
        let call = json!({"id": "c", "name": "ring_bell", "arguments": {"times": at}});
        let query = format!("Ring bell {at} of tower {} and write to keeper{at}@example.org", at * 7 % 1_009);
        json!({"list": if at < N_LISTS { at } else { 0 },
            "messages": [{"role": "user", "content": query}],
            "response": {"role": "assistant", "content": "", "calls": [call]},
            "user": format!("user {}", at % 50), "external_id": at.to_string(), "response_kind": "calls",
            "answer": [{"ring_bell": {"times": [at]}}], "tier": "recorded", "relevance": "relevant",
            "category": "simple", "language": "en"})
    };
    json!({"doc_lists": (0..N_LISTS).map(list).collect::<Vec<_>>(), "requests": (0..N_REQUESTS).map(request).collect::<Vec<_>>()})
}

#[test]
fn every_stage_checks_for_cancellation_at_every_row_and_stops_at_any_check() {
    // With one thread, the number of checks is the same each time.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for kind in &KINDS {
        let folder = tempfile::tempdir().unwrap();
        let cells = folder.path().join("columns.parquet");
        let contract = (kind.for_examples)().contract();
        let tables = large_tables(
            !contract.writes.contains(&columns::FUNCTIONS) || contract.reads.contains(&columns::FUNCTIONS),
        );
        let n_rows = match contract.table {
            TableId::Requests => N_REQUESTS as u64,
            TableId::DocLists => N_LISTS as u64,
        };
        let made = || match (kind.examples)().first() {
            Some(example) if WITH_A_MODEL.contains(&kind.name) => kind.with_settings(example.settings),
            _ => (kind.for_examples)(),
        };
        fixture::assert_stops_wherever_it_is_asked_to(kind.name, n_rows, |cancel| {
            pool.install(|| {
                let (stage, corpus) = (made(), fixture::corpus(&tables));
                judge_until(cancel, &*stage, &corpus, &cells).map(drop)
            })
        });
    }
}

/// Stages that have nothing to do, and read nothing, without a model.
const WITH_A_MODEL: [&str; 6] = [
    "annotate",
    "compress-results",
    "judge-solutions",
    "translate-back",
    "word-instructions",
    "write-instructions",
];

/// Stages that work on after their rows are read, with the minimum number of cancellation checks in that part. For
/// `merge-near-queries`, one of the two checks per request is in the loop over the groups.
const WORK_AFTER_READING: [(&str, u64); 5] = [
    ("drop-public-overlap", N_LISTS as u64),
    ("merge-near-docs", N_LISTS as u64),
    ("merge-near-queries", 2 * N_REQUESTS as u64),
    ("drop-public-queries", N_REQUESTS as u64),
    ("judge-queries", N_REQUESTS as u64),
];

/// Counts cancellation checks, in all and until the last batch is read.
#[derive(Default)]
struct CountedChecks {
    in_all: AtomicU64,
    while_reading: AtomicU64,
}

impl Cancel for CountedChecks {
    fn is_cancelled(&self) -> bool {
        self.in_all.fetch_add(1, Ordering::Relaxed);
        false
    }
}

impl Progress for CountedChecks {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {
        self.while_reading.store(self.in_all.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    fn end(&self, _: &str) {}
    fn warn(&self, _: &str) {}
}

#[test]
fn a_stage_that_works_on_after_reading_its_rows_checks_for_cancellation_there_too() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for (name, least) in WORK_AFTER_READING {
        let kind = KINDS.iter().find(|kind| kind.name == name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (checks, corpus) = (CountedChecks::default(), fixture::corpus(&large_tables(true)));
        pool.install(|| {
            let cx = Context::new(1, &checks, &checks);
            judge_in(&cx, &*(kind.for_examples)(), &corpus, &folder.path().join("columns.parquet"))
        })
        .unwrap();
        let after_reading = checks.in_all.into_inner() - checks.while_reading.into_inner();
        assert!(after_reading >= least, "{name}: checked {after_reading} times after reading");
    }
}

fn apply(stage: &dyn Stage, corpus: &mut Corpus, delta: &Delta) {
    for event in &delta.fates {
        let fate = Fate { action: event.action, stage: 0, reason: event.reason, into: event.into };
        corpus.apply(event.table, event.row, fate);
    }
    if let Some(cells) = &delta.cells {
        let contract = stage.contract();
        corpus.table_mut(contract.table).add_columns(&contract.writes, Cells::in_memory(cells.clone()));
    }
}

/// Returns the reason codes in the fates and edits of a stage on some tables.
fn codes_on(kind: &StageKind, settings: &str, tables: &Value) -> BTreeSet<String> {
    let stage = if settings.is_empty() { (kind.for_examples)() } else { kind.with_settings(settings) };
    let delta = fixture::judged(&*stage, tables).delta;
    let fates = delta.fates.iter().map(|event| event.reason.code.to_owned());
    fates.chain(delta.edits.iter().map(|(_, edit)| edit.reason.code.to_owned())).collect()
}

/// Returns all example rows of a kind in one pair of tables.
fn all_examples(kind: &StageKind) -> Value {
    let mut lists: Vec<Value> = Vec::new();
    let mut requests: Vec<Value> = Vec::new();
    for example in (kind.examples)() {
        for sample in [example.fires, example.quiet] {
            let tables = sample.to_tables();
            let own_lists =
                tables.get("doc_lists").and_then(Value::as_array).cloned().unwrap_or_else(|| vec![json!({})]);
            let of_lists = || (0..own_lists.len()).map(|at| json!({ "list": at })).collect::<Vec<Value>>();
            let own_requests =
                tables.get("requests").and_then(Value::as_array).cloned().unwrap_or_else(of_lists);
            let first = requests.len() as u64;
            for mut request in own_requests {
                request["list"] =
                    json!(lists.len() as u64 + request.get("list").and_then(Value::as_u64).unwrap_or(0));
                if let Some(into) = request.get("merged_into").and_then(Value::as_u64) {
                    request["merged_into"] = json!(first + into);
                }
                requests.push(request);
            }
            lists.extend(own_lists);
        }
    }
    json!({ "doc_lists": lists, "requests": requests })
}

#[test]
fn every_reason_has_an_example_that_fires_and_one_that_does_not() {
    let mut wrong = Vec::new();
    for kind in &KINDS {
        let examples = (kind.examples)();
        for reason in kind.with_defaults().contract().reasons {
            let of_reason: Vec<_> = examples.iter().filter(|example| example.reason == reason.code).collect();
            let [example] = of_reason[..] else {
                wrong.push(format!("{}: {} has {} examples", kind.name, reason.code, of_reason.len()));
                continue;
            };
            let on_fires = codes_on(kind, example.settings, &example.fires.to_tables());
            if !on_fires.contains(reason.code) {
                wrong.push(format!("{}: {} does not fire; found {on_fires:?}", kind.name, reason.code));
            }
            if codes_on(kind, example.settings, &example.quiet.to_tables()).contains(reason.code) {
                wrong.push(format!("{}: {} fires on its quiet example", kind.name, reason.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_second_run_of_an_idempotent_stage_changes_nothing() {
    // A stage without reasons only writes cells, and has no examples.
    let has_reasons = |kind: &&StageKind| !kind.with_defaults().contract().reasons.is_empty();
    for kind in KINDS.iter().filter(|kind| kind.with_defaults().contract().idempotent).filter(has_reasons) {
        let folder = tempfile::tempdir().unwrap();
        let stage = (kind.for_examples)();
        let mut corpus = fixture::corpus(&all_examples(kind));
        let first = judge(&*stage, &corpus, &folder.path().join("first.parquet"));
        assert!(
            !first.fates.is_empty() || !first.edits.is_empty(),
            "{}: the stage changes nothing on its examples",
            kind.name
        );
        apply(&*stage, &mut corpus, &first);
        let second = judge(&*stage, &corpus, &folder.path().join("second.parquet"));
        // Suggested edits are suggested again; no edit is applied again.
        let applied: Vec<_> =
            second.edits.iter().filter(|(_, edit)| edit.safety != Safety::Suggest).collect();
        assert!(
            second.fates.is_empty() && applied.is_empty(),
            "{}: {:?} {applied:?}",
            kind.name,
            second.fates
        );
    }
}

#[test]
fn rows_without_a_fate_are_kept_and_rows_merge_into_earlier_kept_rows() {
    for kind in &KINDS {
        let folder = tempfile::tempdir().unwrap();
        let stage = (kind.for_examples)();
        let mut corpus = fixture::corpus(&all_examples(kind));
        let table = stage.contract().table;
        let before = corpus.table(table).kept();
        let delta = judge(&*stage, &corpus, &folder.path().join("columns.parquet"));
        apply(&*stage, &mut corpus, &delta);
        assert_eq!(corpus.table(table).kept() + delta.fates.len(), before, "{}", kind.name);
        for event in &delta.fates {
            if let Some(into) = event.into {
                assert!(
                    corpus.table(table).is_kept(into),
                    "{}: row {} merged into a row that is not kept",
                    kind.name,
                    event.row
                );
                let order = |row| corpus.table(table).position(row);
                assert!(order(into) < order(event.row), "{}: merged into a later row", kind.name);
            }
        }
    }
}

#[test]
fn contracts_name_known_columns_and_write_only_to_their_own_table() {
    for kind in &KINDS {
        let contract = kind.with_defaults().contract();
        for column in contract.reads.iter().chain(&contract.reads_if_there).chain(&contract.writes) {
            assert!(
                columns::ALL.contains(column),
                "{}: {} is not in the list of columns",
                kind.name,
                column.name
            );
        }
        assert!(contract.writes.iter().all(|column| column.table == contract.table), "{}", kind.name);
    }
}

#[test]
fn every_stage_has_its_code_version_in_its_fingerprint_and_names_are_unique() {
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), KINDS.len());
    for kind in &KINDS {
        let mut fingerprint = Fingerprint::default();
        kind.with_defaults().fingerprint(&mut fingerprint).unwrap();
        assert_ne!(fingerprint.finish(), Fingerprint::default().finish(), "{}", kind.name);
    }
}

#[test]
fn sources_and_sinks_have_names_of_their_own_and_describe_each_setting() {
    let registry = Registry::standard();
    let sources = registry.sources().iter().map(|kind| (kind.name, kind.summary, (kind.schema)()));
    let sinks = registry.sinks().iter().map(|kind| (kind.name, kind.summary, (kind.schema)()));
    let mut names = BTreeSet::new();
    for (name, summary, schema) in sources.chain(sinks) {
        assert!(names.insert(name) && !summary.is_empty(), "{name}");
        for (key, setting) in schema["properties"].as_object().into_iter().flatten() {
            assert!(setting["description"].is_string(), "{name}.{key}");
        }
    }
}

#[test]
fn a_source_takes_other_files_if_it_reads_files_and_only_then() {
    for kind in Registry::standard().sources() {
        let nothing = toml::de::ValueDeserializer::parse("{}").unwrap();
        // Some sources cannot be without settings.
        let Ok(source) = (kind.build)(nothing, &Environment::default()) else { continue };
        let with_files = source.with_files(vec!["a.jsonl".into()]);
        assert_eq!(with_files.is_some(), source.source.reads_files(), "{}", kind.name);
        let files = with_files.map(|source| source.source.files().to_vec()).unwrap_or_default();
        assert_eq!(files.len(), usize::from(source.source.reads_files()), "{}", kind.name);
    }
}

#[test]
fn default_settings_survive_a_round_trip_through_a_manifest() {
    for kind in &KINDS {
        let nothing = toml::de::ValueDeserializer::parse("{}").unwrap();
        let (_, settings) = (kind.build)(nothing, &Environment::default()).unwrap();
        let (_, again) = (kind.rebuild)(settings.clone(), &Environment::default()).unwrap();
        assert_eq!(settings, again, "{}", kind.name);
    }
}
