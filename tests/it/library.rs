//! Tests of the crate as a library: a program runs pipelines, observes and stops them, and adds its own stage.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::{assert_same_bytes, stable_bytes};
use callsieve::columns::{MESSAGES, TEXT, from_ingest};
use callsieve::engine::context::Context;
use callsieve::engine::contract::{Contract, Partition};
use callsieve::engine::error::Result;
use callsieve::engine::example::Example;
use callsieve::engine::fingerprint::Fingerprint;
use callsieve::engine::kind::{KindSettings, SinkKind, SourceKind};
use callsieve::engine::manifest::InputFile;
use callsieve::engine::opinion::Opinion;
use callsieve::engine::raw::{DocListRow, InputsRead, Intake, RequestRow, RowCells, SourcePlace};
use callsieve::engine::sink::{Exported, FinishedTables, Sink};
use callsieve::engine::source::Source;
use callsieve::engine::stage::RowStage;
use callsieve::engine::view::{Row, View};
use callsieve::engine::vocabulary::{ColumnSpec, Edit, Evidence, Reason, Safety, TableId};
use callsieve::run::{FailedGate, Forget, Observer, Options, Outcome, Why, execute, forget, open, plan, why};
use callsieve::stages::{Settings, StageKind};
use callsieve::{Environment, Pipeline, Registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

static SHOUTED: Reason = Reason::policy("calm/shouted", "The request is written in capital letters.");
static EXCLAIMED: Reason = Reason::policy("calm/exclaimed", "Two exclamation marks became one.");

/// A stage that this crate does not have.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Calm {
    /// Longest request, in letters, that may be written in capitals.
    max_letters: usize,
}

impl Settings for Calm {
    const NAME: &'static str = "calm";
    const SUMMARY: &'static str =
        "Drops requests in capital letters, and takes exclamation marks out of others.";
    const FUNNEL_LABEL: &'static str = "calm requests";
    fn examples() -> Vec<Example> {
        vec![
            Example::query(SHOUTED.code, "WATER THE FERNS", "Water the ferns"),
            Example::query(EXCLAIMED.code, "Water them!!", "Water them!"),
        ]
    }
    fn sentence(&self, reason: &'static Reason) -> std::borrow::Cow<'static, str> {
        format!("{} Up to {} letters may be.", reason.sentence, self.max_letters).into()
    }
}

impl RowStage for Calm {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads([MESSAGES])
            .writes([MESSAGES])
            .reasons([&SHOUTED, &EXCLAIMED])
            .partition(Partition::Rows)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        Ok(())
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let Some(mut messages) = row.json::<Vec<Value>>(MESSAGES) else { return Opinion::keep() };
        let content = messages[0]["content"].as_str().unwrap_or_default().to_owned();
        let n_letters = content.chars().filter(|c| c.is_alphabetic()).count();
        if n_letters > self.max_letters && content == content.to_uppercase() {
            return Opinion::drop(&SHOUTED, Evidence::detail(json!({ "letters": n_letters })));
        }
        let calm = content.replace("!!", "!");
        if calm == content {
            return Opinion::keep();
        }
        let path = "/0/content";
        let patch = json!([{"op": "test", "path": path, "value": content}, {"op": "replace", "path": path, "value": calm}]);
        messages[0]["content"] = calm.into();
        let mut opinion = Opinion::keep().with(MESSAGES, Value::from(messages).to_string());
        let (reason, safety) = (&EXCLAIMED, Safety::Safe);
        opinion.edits.push(Edit { column: MESSAGES, reason, safety, patch: patch.to_string() });
        opinion
    }
}

fn registry() -> Registry {
    Registry::standard().with(StageKind::of_rows::<Calm>())
}

/// Returns a log of these queries, each with an id and the same function.
fn log(folder: &Path, queries: &[&str]) -> PathBuf {
    let path = folder.join("log.jsonl");
    let line = |(at, query): (usize, &&str)| {
        let water = json!({"type": "function", "function": {"name": "water", "description": "Waters a bay.",
            "parameters": {"type": "object", "properties": {"bay": {"type": "integer", "description": "Its number."}}}}});
        let line = json!({"id": format!("r{at}"), "messages": [{"role": "user", "content": query}], "tools": [water]});
        format!("{line}\n")
    };
    std::fs::write(&path, queries.iter().enumerate().map(line).collect::<String>())
        .expect("temporary files can be written");
    path
}

const CALM: &str =
    "name = 'calm'\n[[stages]]\nkind = 'calm'\nmax_letters = 4\n[[stages]]\nkind = 'parse-docs'\n";

fn pipeline(log: PathBuf) -> Pipeline {
    let mut pipeline = Pipeline::parse(CALM, "calm.toml", &[], &registry()).expect("it is right");
    pipeline.set_inputs(vec![log]).unwrap();
    pipeline
}

const QUERIES: [&str; 3] = ["Water bay 4!!", "WATER BAY 5", "NOW"];

#[test]
fn a_custom_stage_runs_and_its_run_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = pipeline(log(folder.path(), &QUERIES));
    let planned = plan(&pipeline).unwrap();
    assert_eq!(planned.stages[0].kind, "calm");
    let out = folder.path().join("run");
    let ran = execute(&pipeline, &out, &Options::default(), &()).unwrap();
    assert!(ran.outcome.is_done());
    assert_eq!((ran.report.requests.kept, ran.report.requests.dropped, ran.reused), (2, 1, 0));
    assert_eq!(ran.report.funnel[1].description, "calm requests");

    let run = open(&out, &registry()).unwrap();
    let sentence = "The request is written in capital letters. Up to 4 letters may be.";
    let Why::Requests { requests } = why(&run, "r1").unwrap() else { panic!("it is one record") };
    let [request] = &requests[..] else { panic!("it is one record") };
    assert_eq!((request.fate.name, request.fate.reason), ("dropped", Some("calm/shouted")));
    assert_eq!(request.fate.description.as_deref(), Some(sentence));
    assert_eq!(request.stages[0].events[0].evidence.as_ref().unwrap().as_str(), r#"{"letters":8}"#);
    let Why::Requests { requests } = why(&run, "r0").unwrap() else { panic!("it is one record") };
    let (stage, sent) = (&requests[0].stages[0], requests[0].sent.as_ref().unwrap());
    let edit = stage.events[0].edit.as_ref().unwrap();
    assert_eq!((stage.number, stage.id.as_str(), edit.column.as_str()), (1, "calm", "messages"));
    assert_eq!(edit.words, [r#"- message 1 "Water bay 4!!""#, r#"+ message 1 "Water bay 4!""#]);
    assert_eq!((sent.messages[0].content.as_str(), requests[0].fate.name), ("Water bay 4!", "kept"));
    let report = run.report().unwrap();
    assert_eq!(report.fates[0].description, sentence);
    assert_eq!(serde_json::to_value(&report).unwrap(), serde_json::to_value(&ran.report).unwrap());
    let mut edits = Vec::new();
    run.diff(Some("calm/exclaimed"), |edit| edits.push((edit.stage.to_owned(), edit.patch.to_owned())))
        .unwrap();
    assert_eq!(edits.len(), 1);
    assert!(edits[0].0 == "calm" && edits[0].1.contains("Water bay 4!"), "{edits:?}");
}

#[test]
fn a_run_with_an_unknown_stage_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    execute(&pipeline(log(folder.path(), &QUERIES)), &out, &Options::default(), &()).unwrap();
    let error = open(&out, &Registry::standard()).unwrap_err().to_string();
    assert!(error.ends_with("unknown kind of stage calm"), "{error}");
    let error = Pipeline::parse(CALM, "calm.toml", &[], &Registry::standard()).unwrap_err().to_string();
    assert!(error.contains("unknown kind of stage \"calm\""), "{error}");
}

/// A source that reads no file: it counts down.
#[derive(Debug, Default, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Countdown {
    /// Where it begins.
    from: u32,
}

impl KindSettings for Countdown {
    const NAME: &'static str = "countdown";
    const SUMMARY: &'static str = "a request for each number down to 1";

    fn check(&self) -> std::result::Result<(), String> {
        (self.from < 100).then_some(()).ok_or_else(|| format!("from must be below 100, not {}", self.from))
    }
}

impl Source for Countdown {
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        fingerprint.add_part("from", &self.from.to_le_bytes());
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        from_ingest()
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        Ok(Vec::new())
    }

    fn read(&self, into: &mut Intake, _cx: &Context<'_>) -> Result<InputsRead> {
        for number in 1..=self.from {
            let place = SourcePlace { line: number.into(), record: number.into(), ..SourcePlace::default() };
            let messages = json!([{"role": "user", "content": format!("Say {number}.")}]);
            let list =
                DocListRow { content_key: 7, cells: RowCells::default().with(TEXT, Some("[]".to_owned())) };
            into.request(RequestRow {
                content_key: number.into(),
                place,
                time_ms: Some(i64::from(self.from - number)),
                log_format: Self::NAME,
                list,
                cells: RowCells::default().with(MESSAGES, Some(messages.to_string())),
                ..RequestRow::default()
            })?;
        }
        Ok(InputsRead { items: self.from.into(), ..InputsRead::default() })
    }
}

/// A sink that writes the messages of kept requests.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Lines {}

impl KindSettings for Lines {
    const NAME: &'static str = "lines";
    const SUMMARY: &'static str = "a line for each request";
}

impl Sink for Lines {
    fn reads(&self) -> Vec<ColumnSpec> {
        vec![MESSAGES]
    }

    fn write(&self, from: &FinishedTables<'_>, into: &Path, cx: &Context<'_>) -> Result<Exported> {
        let view = View::new(from.corpus, &Contract::of(TableId::Requests).reads(self.reads()));
        let (mut text, mut exported) = (String::new(), Exported::default());
        view.for_each_batch(cx, |batch| {
            for (row, line) in batch.map_rows(|row| (row.ix(), row.text(MESSAGES).map(str::to_owned)))? {
                text += &format!("{}\n", line.unwrap_or_default());
                exported.rows.push(row);
            }
            Ok(())
        })?;
        std::fs::write(into.join("lines.jsonl"), text).expect("the folder of the dataset is there");
        Ok(exported)
    }
}

#[test]
fn a_source_and_a_sink_of_a_program_make_a_run_without_files() {
    const COUNTDOWN: &str = "name = 'countdown'\n[ingest]\nkind = 'countdown'\nfrom = 3\n\
        [[stages]]\nkind = 'calm'\n[export]\nkind = 'lines'\n";
    let registry = registry().with_source(SourceKind::of::<Countdown>()).with_sink(SinkKind::of::<Lines>());
    let mut pipeline = Pipeline::parse(COUNTDOWN, "countdown.toml", &[], &registry).unwrap();
    assert_eq!(plan(&pipeline).unwrap().export, Some("a line for each request"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let ran = execute(&pipeline, &out, &Options::default(), &()).unwrap();
    assert!(ran.outcome.is_done());
    let lines = std::fs::read_to_string(out.join("dataset/lines.jsonl")).unwrap();
    let said: Vec<&str> = lines.lines().map(|line| &line[line.len() - 6..line.len() - 3]).collect();
    assert_eq!(said, [" 1.", " 2.", " 3."]);
    assert_eq!(execute(&pipeline, &out, &Options::default(), &()).unwrap().reused, 2);
    let run = open(&out, &registry).unwrap();
    assert_eq!(run.file().pipeline["ingest"], json!({"kind": "countdown", "from": 3}));
    let card = run.card().unwrap();
    assert!(card.contains("kind = \"lines\"") && card.contains("from = 3"), "{card}");

    let error = pipeline.set_inputs(vec!["log.jsonl".into()]).unwrap_err().to_string();
    assert!(error.starts_with("log.jsonl: the pipeline countdown reads no files"), "{error}");
    for (right, wrong, message) in [
        ("from = 3", "from = 300", "ingest: from must be below 100, not 300"),
        ("from", "form", "ingest: unknown key \"form\"\nhint: did you mean \"from\"?"),
        ("'lines'", "'line'", "export: unknown kind \"line\"\nhint: did you mean \"lines\"?"),
        ("kind = 'countdown'", "kind = 3", "ingest: kind: expected a text"),
    ] {
        let wrong = COUNTDOWN.replace(right, wrong);
        let error = Pipeline::parse(&wrong, "countdown.toml", &[], &registry).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// Records what it observes, and stops the run when a given step begins.
struct Stopping {
    at: &'static str,
    is_cancelled: AtomicBool,
    seen: Mutex<Vec<String>>,
}

impl Observer for Stopping {
    fn begin(&self, step: &str, _rows: Option<u64>) {
        self.seen.lock().expect("nothing panics here").push(step.to_owned());
        if step == self.at {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

#[test]
fn an_observer_stops_a_run_and_the_same_call_continues() {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = pipeline(log(folder.path(), &QUERIES));
    let out = folder.path().join("run");
    let stopping = |at| Stopping { at, is_cancelled: AtomicBool::new(false), seen: Mutex::default() };
    let stopped = stopping("parse-docs");
    let error = execute(&pipeline, &out, &Options::default(), &stopped).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert!(open(&out, &registry()).is_err(), "it is not finished");
    let watched = stopping("nothing");
    let ran = execute(&pipeline, &out, &Options::default(), &watched).unwrap();
    assert_eq!(ran.reused, 2);
    let seen = |observer: &Stopping| observer.seen.lock().unwrap().join(" ");
    assert_eq!(seen(&stopped), "ingest calm parse-docs");
    assert_eq!(seen(&watched), "compare inputs parse-docs ledger");
    let ran = execute(&pipeline, &out, &Options::default().fresh(true), &()).unwrap();
    assert_eq!(ran.reused, 0);
}

#[test]
fn a_failed_gate_has_typed_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, "").unwrap();
    let run = || execute(&pipeline(path.clone()), &folder.path().join("run"), &Options::default(), &());
    assert_eq!(run().unwrap().outcome, Outcome::GateFailed(vec![FailedGate::NoRequest { lines: 0 }]));
    std::fs::write(&path, "{}\n{}\n").unwrap();
    assert!(
        matches!(run().unwrap_err(), callsieve::run::Error::NoRequest(what) if what.contains("found 2 ingest/"))
    );
}

#[test]
fn a_pool_of_any_size_has_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = pipeline(log(folder.path(), &QUERIES));
    let run = |n_threads: usize| {
        let out = folder.path().join(n_threads.to_string());
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap());
        execute(&pipeline, &out, &Options::default().pool(pool), &()).unwrap();
        stable_bytes(&out)
    };
    assert_same_bytes(&run(1), &run(3));
}

#[test]
fn a_record_is_forgotten_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    execute(&pipeline(log(folder.path(), &QUERIES)), &out, &Options::default(), &()).unwrap();
    let run = open(&out, &registry()).unwrap();
    let Why::Requests { requests } = why(&run, "r0").unwrap() else { panic!("it is one record") };
    let id = requests[0].id.clone();
    let forgotten = forget(&out, Forget { id: &id, all: false }, &registry()).unwrap().unwrap();
    assert_eq!((forgotten.requests[0].was.as_str(), forgotten.counts.forgotten), (id.as_str(), 1));
    assert!(forget(&out, Forget { id: &id, all: false }, &registry()).unwrap().is_none());
}

#[test]
fn the_command_line_and_the_environment_are_what_the_program_passes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let options = Options::default().command(["mine".to_owned(), "--now".to_owned()]);
    execute(&pipeline(log(folder.path(), &QUERIES)), &out, &options, &()).unwrap();
    assert_eq!(open(&out, &registry()).unwrap().file().command, ["mine", "--now"]);
    let environment = Environment::default().with_sets(folder.path().join("none"));
    let strict =
        "[[stages]]\nkind = 'parse-docs'\n[[stages]]\nkind = 'drop-public-overlap'\nmissing = 'error'\n";
    let parsed = Pipeline::parse(strict, "p.toml", &[], &registry().in_environment(environment));
    let error = parsed.unwrap_err().to_string();
    assert!(error.contains(folder.path().join("none").to_str().unwrap()), "{error}");
}

/// Notes how many rows are done when all bytes are reported as read.
#[derive(Default)]
struct Reading {
    rows: AtomicU64,
    rows_at_end: AtomicU64,
}

impl Observer for Reading {
    fn advance(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    fn read(&self, bytes: u64, total: u64) {
        if bytes == total {
            self.rows_at_end.store(self.rows.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

#[test]
fn progress_is_complete_when_all_lines_are_parsed() {
    let folder = tempfile::tempdir().unwrap();
    let queries: Vec<String> = (0..400).map(|at| format!("Water the ferns of bay {at}")).collect();
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let seen = Reading::default();
    let pipeline = pipeline(log(folder.path(), &queries));
    execute(&pipeline, &folder.path().join("run"), &Options::default(), &seen).unwrap();
    assert_eq!(seen.rows_at_end.into_inner(), 400);
}
