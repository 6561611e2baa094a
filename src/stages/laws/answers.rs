//! Fails if the results of a stage change and its version does not.
//!
//! A resumed run reuses the steps whose fingerprint is the same, so code with other results under the same version
//! would mix old and new results. `tests/snapshots/answers.toml` holds for each step on the sample log the versions
//! in its fingerprint, a hash of its input and a hash of its results. The hash of the results covers the content of
//! the delta (each row of each of its files, and its notes), not the bytes of the Parquet files, because another
//! version of the Parquet library may write other bytes.
//!
//! The export is not included: every run writes its dataset again.

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
use crate::engine::stage::Stage;
use crate::engine::vocabulary::{ColumnSpec, TableId};
use crate::fixture;
use crate::stages::{KINDS, StageKind, kind};

/// The environment variable that, set to 1, makes the test write the file again.
const ACCEPT: &str = "CALLSIEVE_ACCEPT_ANSWERS";

/// One step of the sample run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    kind: String,
    /// The versions in its fingerprint.
    versions: Vec<String>,
    /// A hash of the cells, links and fates it may read.
    reads: String,
    /// A hash of its results.
    answers: String,
}

type Steps = BTreeMap<String, Step>;

/// A hash over several parts.
#[derive(Default)]
struct ContentHash(Fingerprint);

impl ContentHash {
    fn add_part(&mut self, part: &impl std::fmt::Debug) {
        self.0.add_part("", format!("{part:?}").as_bytes());
    }

    /// Adds the cells of all rows, with any fate.
    fn cells(&mut self, corpus: &Corpus, columns: &[ColumnSpec]) {
        for id in TableId::ALL {
            let columns: Vec<ColumnSpec> =
                columns.iter().filter(|column| column.table == id).copied().collect();
            let table = corpus.table(id);
            for batch in 0..table.batches() {
                let cells = table.read_batch(batch, &columns).unwrap();
                for at in 0..table.batch(batch).len() {
                    for column in &columns {
                        self.add_part(&(column.name, cells.value(*column, at)));
                    }
                }
            }
        }
    }

    /// Adds ids, order, fates and links of all rows.
    fn rows(&mut self, corpus: &Corpus) {
        for id in TableId::ALL {
            let table = corpus.table(id);
            for (row, _) in (0..).zip(0..table.len()) {
                let fate = table.fate(row).map(|fate| (fate.action, fate.reason.code, fate.into));
                self.add_part(&(table.row_id(row), table.position(row), fate));
            }
        }
        self.add_part(&(&corpus.origin, &corpus.list));
    }

    /// Returns 32 hex digits, which are enough to notice a change.
    fn digits(self) -> String {
        self.0.finish()[..32].to_owned()
    }
}

fn reads_of(contract: &Contract, corpus: &Corpus) -> String {
    let mut hashed = ContentHash::default();
    hashed.rows(corpus);
    hashed.cells(corpus, &[&contract.reads[..], &contract.reads_if_there].concat());
    hashed.digits()
}

/// Hashes the results of a stage: all rows in the files of its step, and its notes.
fn answers_of(sample: &Sample, stage: usize) -> String {
    let mut hashed = ContentHash::default();
    let entries = std::fs::read_dir(sample.step(stage)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    files.sort();
    for path in files {
        hashed.add_part(&path.file_name());
        let rows = FrameFile::open(&path).unwrap().read_all().unwrap();
        for row in 0..rows.height() {
            hashed.add_part(&Value::Object(rows.row_json(row)).to_string());
        }
    }
    for (name, note) in &sample.outcome.stages[stage].notes {
        hashed.add_part(&(name, note.to_string()));
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
    sample.source.source.fingerprint(&mut fingerprint).unwrap();
    let mut reads = ContentHash::default();
    for input in sample.source.source.files() {
        reads.add_part(&sha256_of(input).unwrap());
    }
    let mut answers = ContentHash::default();
    let corpus = sample.before(0);
    answers.rows(&corpus);
    answers.cells(&corpus, &from_ingest());
    for line in read_lines(sample.folder()).unwrap() {
        answers.add_part(&(
            line.file,
            line.line,
            line.record,
            line.n_lines,
            line.fate,
            line.reason,
            line.detail,
        ));
    }
    let versions = fingerprint.versions().to_vec();
    Step { kind: "ingest".to_owned(), versions, reads: reads.digits(), answers: answers.digits() }
}

/// Runs a kind that is not part of the recipe on some rows; its results are its fates and the cells it writes.
fn judged_step(kind: &StageKind, stage: &dyn Stage, mut corpus: Corpus) -> Step {
    let contract = stage.contract();
    let reads = reads_of(&contract, &corpus);
    fixture::step(stage, &mut corpus).unwrap();
    let mut answers = ContentHash::default();
    answers.rows(&corpus);
    answers.cells(&corpus, &contract.writes);
    Step { kind: kind.name.to_owned(), versions: versions_of(stage), reads, answers: answers.digits() }
}

/// Returns every step of the sample run, then the kinds that are not part of the recipe, run on the rows that remain at
/// its end or on examples.
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
    let sampling = kind("sample").unwrap();
    let stage = sampling.with_settings("size = 40, strata = [\"category\", \"language\"]");
    steps.insert(sampling.name.to_owned(), judged_step(sampling, &*stage, sample.outcome.corpus));
    let overlap = kind("drop-baseline-overlap").unwrap();
    let examples = fixture::corpus(&all_examples(overlap));
    steps.insert(overlap.name.to_owned(), judged_step(overlap, &*(overlap.for_examples)(), examples));
    for name in [
        "annotate",
        "check-instructions",
        "check-provenance",
        "check-solutions",
        "compress-results",
        "drop-benchmark-overlap",
        "drop-unneeded-calls",
        "enhance-prompts",
        "execute-calls",
        "hold-surplus",
        "judge-solutions",
        "translate-back",
        "word-instructions",
        "write-instructions",
    ] {
        let kind = kind(name).unwrap();
        let examples = fixture::corpus(&all_examples(kind));
        steps.insert(kind.name.to_owned(), judged_step(kind, &*(kind.for_examples)(), examples));
    }
    let named: BTreeSet<&str> = steps.values().map(|step| step.kind.as_str()).collect();
    assert!(KINDS.iter().all(|kind| named.contains(kind.name)), "a kind is missing: {named:?}");
    steps
}

/// A change of a step, with its description.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// The file must be written again.
    Accept(String),
    /// The results changed but the fingerprint did not, so the version must be raised.
    Raise(String),
}

fn compare(id: &str, stored: Option<&Step>, found: Option<&Step>) -> Option<Change> {
    let (Some(stored), Some(found)) = (stored, found) else {
        let what = if stored.is_none() { "is new" } else { "is no longer a step" };
        return Some(Change::Accept(format!("{id} {what}")));
    };
    if stored == found {
        return None;
    }
    let has_changed = [
        (stored.kind != found.kind, "kind"),
        (stored.versions != found.versions, "version"),
        (stored.reads != found.reads, "input"),
        (stored.answers != found.answers, "results"),
    ];
    let is_explained = has_changed[..3].iter().any(|(has_changed, _)| *has_changed);
    let changed: Vec<&str> = has_changed.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
    let what = format!("{id}: changed: {}", changed.join(", "));
    Some(if is_explained { Change::Accept(what) } else { Change::Raise(what) })
}

fn compare_all(stored: &Steps, found: &Steps) -> Vec<Change> {
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
    let changes = compare_all(&stored, &found);
    let unexplained: Vec<&Change> =
        changes.iter().filter(|change| matches!(change, Change::Raise(_))).collect();
    assert!(
        unexplained.is_empty(),
        "results changed but the version did not: {unexplained:#?}\nraise the version in the `fingerprint` of the stage (or of the module it calls, such as `docs::fix::VERSION`), or restore the results; resumed runs would reuse the old ones"
    );
    if std::env::var_os(ACCEPT).is_some_and(|value| value == "1") {
        let head = "# Hashes of the results of each step on the sample log. Written by src/stages/laws/answers.rs.\n\n";
        std::fs::write(&path, format!("{head}{}", toml::to_string(&found).unwrap())).unwrap();
    } else {
        assert!(
            changes.is_empty(),
            "{changes:#?}\nif these changes are wanted, `{ACCEPT}=1 cargo test --lib changed_answers` writes {} again",
            path.display()
        );
    }
}

#[test]
fn only_unexplained_changes_of_results_are_refused() {
    let stored = Step {
        kind: "split".to_owned(),
        versions: vec!["version 4".to_owned()],
        reads: "a".to_owned(),
        answers: "b".to_owned(),
    };
    let judged = |changed: &Step| compare("16-split", Some(&stored), Some(changed));
    assert_eq!(judged(&stored), None);
    let answers = Step { answers: "c".to_owned(), ..stored.clone() };
    assert_eq!(judged(&answers), Some(Change::Raise("16-split: changed: results".to_owned())));
    let raised = Step { versions: vec!["version 5".to_owned()], ..answers.clone() };
    assert_eq!(judged(&raised), Some(Change::Accept("16-split: changed: version, results".to_owned())));
    let reads = Step { reads: "d".to_owned(), ..answers };
    assert!(matches!(judged(&reads), Some(Change::Accept(_))));
    assert!(matches!(judged(&Step { reads: "d".to_owned(), ..stored.clone() }), Some(Change::Accept(_))));
    assert!(matches!(compare("x", None, Some(&stored)), Some(Change::Accept(_))));
    assert!(matches!(compare("x", Some(&stored), None), Some(Change::Accept(_))));
}
