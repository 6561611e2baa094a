//! Changed answers without a raised version fail.
//!
//! A run that is resumed takes over the steps whose key is the same, so code that answers otherwise under the same
//! version would mix old answers and new ones. `tests/snapshots/answers.toml` holds for each step on the sample log the
//! versions in its fingerprint, a hash of what it reads and a hash of what it answers. Hashed is the content of the delta
//! (each row of each of its files, and its notes), not the bytes of its Parquet files, which another version of the Parquet
//! library writes differently.
//!
//! The export is not among them: a run writes its dataset anew each time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::all_examples;
use super::sample::{Sample, sample};
use crate::columns::from_ingest;
use crate::engine::contract::Contract;
use crate::engine::corpus::Corpus;
use crate::engine::fingerprint::{Fingerprint, sha256_of};
use crate::engine::frame::FrameFile;
use crate::engine::raw::read_lines;
use crate::engine::runner::Source as _;
use crate::engine::stage::Stage;
use crate::engine::vocabulary::{ColumnSpec, TableId};
use crate::fixture;
use crate::stages::{KINDS, Kind, kind};

/// With the value 1 the file is written anew, where that is allowed.
const ACCEPT: &str = "TOOLSIEVE_ACCEPT_ANSWERS";

/// One step of the sample run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    kind: String,
    /// What its fingerprint calls a version.
    versions: Vec<String>,
    /// A hash of the cells, links and fates it may read.
    reads: String,
    /// A hash of what it answers.
    answers: String,
}

type Steps = BTreeMap<String, Step>;

/// What a hash is made of, part by part.
#[derive(Default)]
struct Hashed(Fingerprint);

impl Hashed {
    fn part(&mut self, part: &impl std::fmt::Debug) {
        self.0.part("", format!("{part:?}").as_bytes());
    }

    /// Cells of all rows, whatever their fate.
    fn cells(&mut self, corpus: &Corpus, columns: &[ColumnSpec]) {
        for id in TableId::ALL {
            let columns: Vec<ColumnSpec> =
                columns.iter().filter(|column| column.table == id).copied().collect();
            let table = corpus.table(id);
            for batch in 0..table.batches() {
                let cells = table.read_batch(batch, &columns).unwrap();
                for at in 0..table.batch(batch).len() {
                    for column in &columns {
                        self.part(&(column.name, cells.value(*column, at)));
                    }
                }
            }
        }
    }

    /// Ids, order, fates and links of all rows.
    fn rows(&mut self, corpus: &Corpus) {
        for id in TableId::ALL {
            let table = corpus.table(id);
            for (row, _) in (0..).zip(0..table.len()) {
                let fate = table.fate(row).map(|fate| (fate.action, fate.reason.code, fate.into));
                self.part(&(table.row_id(row), table.position(row), fate));
            }
        }
        self.part(&(&corpus.origin, &corpus.list));
    }

    /// 32 hex digits are enough to see a change.
    fn digits(self) -> String {
        self.0.finish()[..32].to_owned()
    }
}

fn reads_of(contract: &Contract, corpus: &Corpus) -> String {
    let mut hashed = Hashed::default();
    hashed.rows(corpus);
    hashed.cells(corpus, &[&contract.reads[..], &contract.reads_if_there].concat());
    hashed.digits()
}

/// What it answered: all that its step of the run holds, row by row, and its notes.
fn answers_of(sample: &Sample, stage: usize) -> String {
    let mut hashed = Hashed::default();
    let entries = std::fs::read_dir(sample.step(stage)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    files.sort();
    for path in files {
        hashed.part(&path.file_name());
        let rows = FrameFile::open(&path).unwrap().read_all().unwrap();
        for row in 0..rows.height() {
            hashed.part(&Value::Object(rows.row_json(row)).to_string());
        }
    }
    for (name, note) in &sample.outcome.stages[stage].notes {
        hashed.part(&(name, note.to_string()));
    }
    hashed.digits()
}

fn versions_of(stage: &dyn Stage) -> Vec<String> {
    let mut fingerprint = Fingerprint::default();
    stage.fingerprint(&mut fingerprint).unwrap();
    fingerprint.versions().to_vec()
}

fn ingest_step(sample: &Sample) -> Step {
    let mut fingerprint = Fingerprint::default();
    sample.ingest.fingerprint(&mut fingerprint).unwrap();
    let mut reads = Hashed::default();
    for input in &sample.ingest.inputs {
        reads.part(&sha256_of(input).unwrap());
    }
    let mut answers = Hashed::default();
    let corpus = sample.before(0);
    answers.rows(&corpus);
    answers.cells(&corpus, &from_ingest());
    for line in read_lines(sample.folder()).unwrap() {
        answers.part(&(line.file, line.line, line.record, line.n_lines, line.fate, line.reason, line.detail));
    }
    let versions = fingerprint.versions().to_vec();
    Step { kind: "ingest".to_owned(), versions, reads: reads.digits(), answers: answers.digits() }
}

/// A kind that the recipe leaves out, on some rows: what it answers is in its fates and in the cells it writes.
fn judged_step(kind: &Kind, stage: &dyn Stage, mut corpus: Corpus) -> Step {
    let contract = stage.contract();
    let reads = reads_of(&contract, &corpus);
    fixture::step(stage, &mut corpus).unwrap();
    let mut answers = Hashed::default();
    answers.rows(&corpus);
    answers.cells(&corpus, &contract.writes);
    Step { kind: kind.name.to_owned(), versions: versions_of(stage), reads, answers: answers.digits() }
}

/// Every step of the sample run; then the kinds that the recipe leaves out, on what is left at its end or on examples.
fn steps() -> Steps {
    let sample = sample(None);
    let mut steps = Steps::from([("00-ingest".to_owned(), ingest_step(&sample))]);
    for (at, instance) in sample.stages.iter().enumerate() {
        let step = Step {
            kind: instance.kind.to_owned(),
            versions: versions_of(&*instance.stage),
            reads: reads_of(&instance.stage.contract(), &sample.before(at)),
            answers: answers_of(&sample, at),
        };
        steps.insert(format!("{:02}-{}", at + 1, instance.id), step);
    }
    let draws = kind("sample").unwrap();
    let drawn = draws.with_settings("size = 40, strata = [\"category\", \"language\"]");
    steps.insert(draws.name.to_owned(), judged_step(draws, &*drawn, sample.outcome.corpus));
    let overlap = kind("drop-baseline-overlap").unwrap();
    let examples = fixture::corpus(&all_examples(overlap));
    steps.insert(overlap.name.to_owned(), judged_step(overlap, &*(overlap.for_examples)(), examples));
    let named: BTreeSet<&str> = steps.values().map(|step| step.kind.as_str()).collect();
    assert!(KINDS.iter().all(|kind| named.contains(kind.name)), "a kind is missing: {named:?}");
    steps
}

/// What is to be done about a step; nothing where it is as it was.
#[derive(Debug, PartialEq, Eq)]
enum Todo {
    /// Something that may change did.
    Accept(String),
    /// The answers changed, and nothing shows it to a run that is resumed.
    Raise(String),
}

fn compare(id: &str, stored: Option<&Step>, found: Option<&Step>) -> Option<Todo> {
    let (Some(stored), Some(found)) = (stored, found) else {
        let what = if stored.is_none() { "is new" } else { "is no longer a step" };
        return Some(Todo::Accept(format!("{id} {what}")));
    };
    if stored == found {
        return None;
    }
    let has_changed = [
        (stored.kind != found.kind, "its kind"),
        (stored.versions != found.versions, "its version"),
        (stored.reads != found.reads, "what it reads"),
        (stored.answers != found.answers, "what it answers"),
    ];
    let is_explained = has_changed[..3].iter().any(|(has_changed, _)| *has_changed);
    let changed: Vec<&str> = has_changed.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
    let what = format!("{id}: changed: {}", changed.join(", "));
    Some(if is_explained { Todo::Accept(what) } else { Todo::Raise(what) })
}

fn compare_all(stored: &Steps, found: &Steps) -> Vec<Todo> {
    let ids: BTreeSet<&String> = stored.keys().chain(found.keys()).collect();
    ids.into_iter().filter_map(|id| compare(id, stored.get(id), found.get(id))).collect()
}

#[test]
fn changed_answers_come_with_a_raised_version() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/answers.toml");
    let stored: Steps = match std::fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).unwrap(),
        Err(_) => Steps::new(),
    };
    let found = steps();
    let todo = compare_all(&stored, &found);
    let raise: Vec<&Todo> = todo.iter().filter(|todo| matches!(todo, Todo::Raise(_))).collect();
    assert!(
        raise.is_empty(),
        "answers changed and the version did not: {raise:#?}\nraise the version in the `fingerprint` of the stage (or the one of the module it calls, such as `docs::fix::VERSION`), or restore the answers; runs that are resumed would keep the old ones"
    );
    if std::env::var_os(ACCEPT).is_some_and(|value| value == "1") {
        let head = "# What each step answers on the sample log: see src/stages/laws/answers.rs. Written by that test.\n\n";
        std::fs::write(&path, format!("{head}{}", toml::to_string(&found).unwrap())).unwrap();
    } else {
        assert!(
            todo.is_empty(),
            "{todo:#?}\nif these changes are wanted, `{ACCEPT}=1 cargo test --lib changed_answers` writes {} anew",
            path.display()
        );
    }
}

#[test]
fn only_a_change_of_answers_that_nothing_explains_is_refused() {
    let stored = Step {
        kind: "split".to_owned(),
        versions: vec!["version 4".to_owned()],
        reads: "a".to_owned(),
        answers: "b".to_owned(),
    };
    let judged = |changed: &Step| compare("16-split", Some(&stored), Some(changed));
    assert_eq!(judged(&stored), None);
    let answers = Step { answers: "c".to_owned(), ..stored.clone() };
    assert_eq!(judged(&answers), Some(Todo::Raise("16-split: changed: what it answers".to_owned())));
    let raised = Step { versions: vec!["version 5".to_owned()], ..answers.clone() };
    assert_eq!(
        judged(&raised),
        Some(Todo::Accept("16-split: changed: its version, what it answers".to_owned()))
    );
    let reads = Step { reads: "d".to_owned(), ..answers };
    assert!(matches!(judged(&reads), Some(Todo::Accept(_))));
    assert!(matches!(judged(&Step { reads: "d".to_owned(), ..stored.clone() }), Some(Todo::Accept(_))));
    assert!(matches!(compare("x", None, Some(&stored)), Some(Todo::Accept(_))));
    assert!(matches!(compare("x", Some(&stored), None), Some(Todo::Accept(_))));
}
