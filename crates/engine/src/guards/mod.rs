//! Tests of every guard of the engine: each guard is triggered.
//!
//! This file holds what the tests share: a log, configurable stages and sinks, and a run folder. The tests are in
//! `verdict` and `contract` (invalid verdicts), `conservation` (rows in and rows out), `cascade` (fates that follow),
//! `decisions` and `links`, `replay` (damaged deltas) and `writing` (files that cannot be written). `resume` (reused
//! steps), `tables`, `view` and `ledger` test the foundations. `docs/guards.md` lists each guard with its test.

mod calls;
mod cascade;
mod conservation;
mod contract;
mod decisions;
mod ledger;
mod links;
mod replay;
mod resume;
mod tables;
mod verdict;
mod view;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::background_writer::BackgroundWriter;
use super::context::{Context, Progress};
use super::contract::Contract;
use super::corpus::Corpus;
use super::division::{BatchRows, Cuts, Parts};
use super::error::{Error, Result};
use super::fingerprint::Fingerprint;
use super::folder::RunFolder;
use super::instance::StageInstance;
use super::layout::MANIFEST;
use super::manifest::InputFile;
use super::raw::{DocListRow, InputsRead, Intake, LineRow, RequestRow, RowCells, SourcePlace};
use super::runner::{self, Manner, Outcome, Running};
use super::seal::{Files, read_sealed, write_sealed};
use super::sink::{Exported, FinishedTables, Sink};
use super::source::Source;
use super::stage::Stage;
use super::verdict::Verdict;
use super::view::View;
use super::vocabulary::{ColumnSpec, Evidence, Reason, RowIx, TableId};
use crate::columns::{FILE, LANGUAGE, LINE, MESSAGES, RECORD, TEXT, TIME_MS};

static BAD: Reason = Reason::policy("test/bad", "It is bad.");
static WORSE: Reason = Reason::policy("test/worse", "It is worse.");
/// A reason that counts as a fault.
static LATE: Reason = Reason::fault("test/late", "It came too late.");
/// A reason that no contract here names.
static FOREIGN: Reason = Reason::policy("test/foreign", "Another stage would say so.");

#[test]
fn every_broken_guard_is_an_internal_error() {
    let shown = [conservation::broken(), verdict::refused(), writing::panicked()].into_iter().flatten();
    let is_bug: Vec<bool> = shown.map(|Shown { error, .. }| error.is_bug()).collect();
    assert!(is_bug.len() > 40 && is_bug.iter().all(|is_bug| *is_bug), "{is_bug:?}");
}

/// A cause of an error, and the text of the error.
struct Shown {
    cause: &'static str,
    error: Error,
    text: &'static str,
}

impl Shown {
    fn new<T>(cause: &'static str, done: Result<T>, text: &'static str) -> Self {
        Self { cause, error: done.err().unwrap_or_else(|| panic!("{cause} passes")), text }
    }

    fn check(&self) {
        assert_eq!(self.error.to_string(), self.text, "{}", self.cause);
        assert!(self.error.is_bug(), "{}", self.cause);
    }
}

/// A log of one request per line, each with the number of its doc list; its own counts may be wrong.
struct Log {
    lists: &'static [u128],
    items: u64,
    further_parts: u64,
    /// Items that a service failed for.
    failed: &'static [u64],
}

impl Log {
    fn of(lists: &'static [u128]) -> Self {
        Self { lists, items: lists.len() as u64, further_parts: 0, failed: &[] }
    }

    fn file(&self) -> InputFile {
        let sha256 = format!("{:?}", self.lists);
        InputFile { path: "log.jsonl".to_owned(), bytes: sha256.len() as u64, sha256 }
    }
}

impl Source for Log {
    fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        vec![FILE, LINE, RECORD, MESSAGES, TIME_MS, TEXT]
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        Ok(vec![self.file()])
    }

    fn read(&self, into: &mut Intake, _: &Context<'_>) -> Result<InputsRead> {
        for (n, &list) in (0_u32..).zip(self.lists) {
            let line = u64::from(n) + 1;
            let place = SourcePlace { file: 0, line, record: line };
            if self.failed.contains(&line) {
                let (reason, detail) = ("test/no-reply", "the service failed".to_owned());
                into.line(LineRow { place, n_lines: 1, unreadable: true, ends_file: false, reason, detail })?;
                continue;
            }
            let docs = RowCells::default().with(TEXT, Some(format!("docs {list}")));
            into.request(RequestRow {
                content_key: u128::from(n) + 1,
                place,
                list: DocListRow { content_key: list, cells: docs },
                cells: RowCells::default()
                    .with(FILE, Some(0))
                    .with(LINE, Some(i64::from(n) + 1))
                    .with(RECORD, Some(i64::from(n) + 1))
                    .with(MESSAGES, Some(format!("question {n}"))),
                ..RequestRow::default()
            })?;
        }
        Ok(InputsRead {
            inputs: vec![self.file()],
            items: self.items,
            further_parts: self.further_parts,
            failed: self.failed.to_vec(),
            notes: [("asked".to_owned(), Value::from(self.items))].into(),
        })
    }
}

/// A stage whose verdict a test defines.
struct Acts<J> {
    contract: Contract,
    judge: J,
}

impl<J: Fn(&View<'_>, &mut Verdict<'_>) -> Result<()> + Send + Sync> Stage for Acts<J> {
    fn contract(&self) -> Contract {
        self.contract.clone()
    }

    fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
        Ok(())
    }

    fn judge(&self, view: &View<'_>, _: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        (self.judge)(view, out)
    }
}

/// Returns a contract that allows merges and both reasons, and writes messages, time and language of requests.
fn contract(table: TableId) -> Contract {
    let writes = [MESSAGES, TIME_MS, LANGUAGE].into_iter().filter(|column| column.table == table);
    Contract::of(table).writes(writes).reasons([&BAD, &WORSE]).merges()
}

fn stage(
    id: &str,
    table: TableId,
    judge: impl Fn(&View<'_>, &mut Verdict<'_>) -> Result<()> + Send + Sync + 'static,
) -> StageInstance {
    stage_of(id, contract(table), judge)
}

fn stage_of(
    id: &str,
    contract: Contract,
    judge: impl Fn(&View<'_>, &mut Verdict<'_>) -> Result<()> + Send + Sync + 'static,
) -> StageInstance {
    let stage = Box::new(Acts { contract, judge });
    StageInstance { id: id.to_owned(), kind: "acts", settings: Value::Null, stage }
}

/// Returns a stage that drops one row.
fn drops(id: &str, table: TableId, row: RowIx) -> StageInstance {
    stage(id, table, move |_, out| out.drop(row, &BAD, Evidence::default()))
}

/// A sink that writes the rows that a test defines.
struct Writes(fn(&Corpus) -> Vec<RowIx>);

impl Sink for Writes {
    fn id(&self) -> &'static str {
        "sink"
    }

    fn reads(&self) -> Vec<ColumnSpec> {
        Vec::new()
    }

    fn write(&self, from: &FinishedTables<'_>, _: &Path, _: &Context<'_>) -> Result<Exported> {
        Ok(Exported { rows: (self.0)(from.corpus), ..Exported::default() })
    }
}

/// A run folder, with the messages of the runs in it.
struct Home {
    _dir: tempfile::TempDir,
    folder: RunFolder,
    shown: Display,
}

/// The recorded messages.
#[derive(Default)]
struct Display {
    /// How steps ended.
    outcomes: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
}

impl Progress for Display {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn end(&self, outcome: &str) {
        self.outcomes.lock().unwrap().push(outcome.to_owned());
    }
    fn warn(&self, message: &str) {
        self.warnings.lock().unwrap().push(message.to_owned());
    }
}

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        Self { _dir: home, folder, shown: Display::default() }
    }

    fn with_context<T>(&self, act: impl FnOnce(&Context<'_>) -> T) -> T {
        self.with_seed(0, act)
    }

    fn with_seed<T>(&self, seed: u64, act: impl FnOnce(&Context<'_>) -> T) -> T {
        act(&Context::new(seed, &AtomicBool::new(false), &self.shown))
    }

    fn run(&self, log: &Log, stages: &[StageInstance]) -> Result<Outcome> {
        self.with_context(|cx| runner::run(&self.folder, log, stages, cx))
    }

    fn run_by(
        &self,
        background_writer: &BackgroundWriter,
        log: &Log,
        stages: &[StageInstance],
    ) -> Result<Outcome> {
        self.with_context(|cx| {
            let (folder, cuts) = (&self.folder, Cuts::default());
            runner::run_by(
                Running { folder, background_writer, cx, manner: Manner { cuts, ..Manner::default() } },
                log,
                stages,
            )
        })
    }

    fn run_in_parts(&self, parts: usize, log: &Log, stages: &[StageInstance]) -> Result<Outcome> {
        self.run_cut(Cuts { parts: Parts::new(parts).unwrap(), ..Cuts::default() }, log, stages)
    }

    fn run_in_batches(&self, rows: usize, log: &Log, stages: &[StageInstance]) -> Result<Outcome> {
        self.run_cut(Cuts { batch_rows: BatchRows::new(rows).unwrap(), ..Cuts::default() }, log, stages)
    }

    fn run_cut(&self, cuts: Cuts, log: &Log, stages: &[StageInstance]) -> Result<Outcome> {
        self.with_context(|cx| runner::run_cut(&self.folder, log, stages, cuts, cx))
    }

    fn export(&self, sink: &dyn Sink, corpus: &Corpus) -> Result<Exported> {
        self.with_context(|cx| runner::export(&self.folder, sink, &[], corpus, cx))
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Returns the warnings since the last call, with paths from the run folder on.
    fn warnings(&self) -> Vec<String> {
        let warnings = std::mem::take(&mut *self.shown.warnings.lock().unwrap());
        warnings.iter().map(|warning| self.short(warning)).collect()
    }

    /// Returns how the steps ended since the last call.
    fn outcomes(&self) -> Vec<String> {
        std::mem::take(&mut *self.shown.outcomes.lock().unwrap())
    }

    /// Returns a text with paths from the run folder on.
    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}{}", self.folder.path().display(), std::path::MAIN_SEPARATOR), "")
    }

    /// Updates the checksums of the files of a step that a test changed.
    fn seal(&self, step: &str, amend: impl FnOnce(&mut Value)) {
        let folder = self.path(step);
        let path = folder.join(MANIFEST);
        let mut manifest = read_sealed::<Value>(&path).unwrap().value;
        amend(&mut manifest);
        std::fs::remove_file(&path).unwrap();
        write_sealed(&path, &manifest, &Files::of_folder(&folder).unwrap()).unwrap();
    }
}
