//! Tests of determinism: the same bytes with any number of threads and parts, and the same dataset with any size of
//! batches, on a log with work for every stage of the live recipe.
//!
//! The tests run the program. The section Determinism of docs/engine.md lists what must be the same. The blocks of joins
//! are longer than this log; they have their own tests in `similarity`.

mod log;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::{assert_same_bytes, callsieve, output, shown};
use callsieve::engine::frame::FrameFile;
use serde_json::Value;

/// Number of rows of a batch, small enough for several batches of each table.
const BATCH_ROWS: &str = "40";

/// The log and its other files, in a folder.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for (name, content) in [
            ("log.jsonl", log::log()),
            ("decisions.jsonl", log::decisions()),
            ("set.jsonl", log::public_set()),
        ] {
            std::fs::write(home.path(name), content).unwrap();
        }
        let (sets, set) = (home.path("sets"), home.path("set.jsonl"));
        let added =
            output(&["sets", "add", "--dir", sets.to_str().unwrap(), "anyscale", set.to_str().unwrap()]);
        assert!(added.status.success(), "{}", shown(&added));
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the live recipe into a folder on `threads` threads. Returns the output.
    fn run(&self, out: &str, threads: &str, more: &[&str]) -> String {
        let mut command = callsieve();
        command.args(["run", "--threads", threads, "--input"]).arg(self.path("log.jsonl"));
        command.arg("--decisions").arg(self.path("decisions.jsonl")).arg("--out").arg(self.path(out));
        command.args(more);
        command.env("POLARS_MAX_THREADS", threads).env("CALLSIEVE_SETS", self.path("sets"));
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{}", shown(&ended));
        shown(&ended)
    }

    fn json(&self, name: &str) -> Value {
        json(&self.path(name))
    }

    /// Returns the cells of a table of a run, one map per row.
    fn table(&self, name: &str) -> Vec<Value> {
        let frame = FrameFile::open(&self.path(name)).unwrap().read_all().unwrap();
        (0..frame.height()).map(|row| Value::Object(frame.row_json(row))).collect()
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Returns every file of a run by its name, without times, command lines and the folder's name.
fn files(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![run.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(run).unwrap().to_owned();
            let is_dataset = name.starts_with("dataset");
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") && !is_dataset {
                files.insert(name, without_times(&path, run).into_bytes());
            } else if path.extension().is_some_and(|extension| extension == "html") && !is_dataset {
                // Commands on the page name the folder by its last part.
                let mut page = std::fs::read_to_string(&path).unwrap();
                for (command, end) in [("why", ' '), ("held", ' '), ("review", '<')] {
                    let named = format!("{command} {}{end}", run.file_name().unwrap().to_str().unwrap());
                    page = page.replace(&named, &format!("{command} RUN{end}"));
                }
                files.insert(name, page.into_bytes());
            } else if name != Path::new(".lock") {
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Returns the text of `run.json`, `report.json` or a manifest, without its times, command line and the checksums over
/// these.
fn without_times(path: &Path, run: &Path) -> String {
    let mut value = json(path);
    if let Some(sums) = value.get_mut("files").and_then(Value::as_object_mut) {
        sums.retain(|name, _| !name.starts_with("report."));
    }
    for key in ["seconds", "memory", "timing", "command", "checksum"] {
        value.as_object_mut().unwrap().shift_remove(key);
    }
    value.to_string().replace(run.to_str().unwrap(), "RUN")
}

/// Returns the dataset and the history of each row, which do not depend on batches.
fn outcome(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_outcome = |name: &Path| {
        name.starts_with("dataset")
            || ["ledger.parquet", "links.parquet", "entries.parquet", "report.json"]
                .map(Path::new)
                .contains(&name)
    };
    files(run).into_iter().filter(|(name, _)| is_outcome(name)).collect()
}

#[test]
fn a_log_of_all_kinds_has_the_same_bytes_on_one_two_and_eight_threads_and_in_parts() {
    let home = Home::new();
    home.run("1", "1", &["--batch-rows", BATCH_ROWS]);
    assert_has_everything(&home, "1");
    let expected = files(&home.path("1"));
    for (out, threads, more) in [("2", "2", &[][..]), ("8", "8", &["--parts", "3"])] {
        home.run(out, threads, &[&["--batch-rows", BATCH_ROWS], more].concat());
        assert_same_bytes(&expected, &files(&home.path(out)));
    }

    home.run("default", "2", &[]);
    assert_eq!(batches(&home, "default"), [1, 1]);
    assert_same_bytes(&outcome(&home.path("1")), &outcome(&home.path("default")));

    // The inputs keep their batches, and the steps are reused.
    let printed = home.run("2", "2", &[]);
    assert!(printed.contains("reused    20 finished steps"), "{printed}");
    assert_same_bytes(&expected, &files(&home.path("2")));
}

/// Returns how many batches of requests and of doc lists a run has.
fn batches(home: &Home, run: &str) -> [usize; 2] {
    let ingest = home.json(&format!("{run}/ingest/manifest.json"));
    ["request_batches", "list_batches"].map(|key| ingest[key].as_array().unwrap().len())
}

/// Asserts that each tested part of the run changed some rows, but not all.
fn assert_has_everything(home: &Home, run: &str) {
    assert!(batches(home, run).iter().all(|&n| n >= 3), "{:?}", batches(home, run));
    let ingest = home.json(&format!("{run}/ingest/manifest.json"));
    assert!(ingest["counts"]["unreadable"].as_u64() > Some(0), "{}", ingest["counts"]);

    let mut idle: BTreeSet<String> = BTreeSet::new();
    let mut busy: BTreeSet<String> = BTreeSet::new();
    for step in std::fs::read_dir(home.path(run).join("stages")).unwrap() {
        let manifest = json(&step.unwrap().path().join("manifest.json"));
        let fates = manifest["fates"].as_array().unwrap();
        let decides = fates.iter().any(|fate| fate["cascaded"] == false);
        let edits = manifest["edits"].as_object().is_some_and(|edits| !edits.is_empty());
        let kind = manifest["kind"].as_str().unwrap().to_owned();
        if decides || edits {
            busy.insert(kind)
        } else {
            idle.insert(kind)
        };
        assert!(manifest["after"]["requests"].as_u64() > Some(0), "{manifest}");
    }
    // `verify-answers` checks what `draft-answers` wrote, and finds nothing unless that has a fault. `flag-answers` writes cells
    // only. The logs have no load test.
    assert_eq!(
        idle.difference(&busy).collect::<Vec<_>>(),
        ["cap-templates", "flag-answers", "verify-answers"],
        "nothing to do for these kinds"
    );
    assert_eq!(busy.len(), 15, "{busy:?}");

    let ledger = home.table(&format!("{run}/ledger.parquet"));
    let reasons: BTreeSet<&str> = ledger.iter().filter_map(|event| event["reason"].as_str()).collect();
    let expected = [
        "conversation/continues",
        "docs/duplicate",
        "docs/near-duplicate",
        "query/duplicate",
        "overlap/public-function",
    ];
    for reason in expected.into_iter().chain(log::DECISIONS) {
        assert!(reasons.contains(reason), "{reason} is not among {reasons:?}");
    }
    let links = home.table(&format!("{run}/links.parquet"));
    let objects: BTreeSet<&str> = links.iter().filter_map(|link| link["object"].as_str()).collect();
    assert_eq!(objects, BTreeSet::from(["function", "query"]));

    let report = home.json(&format!("{run}/report.json"));
    let not_applied = report["notes"]["split"]["decisions_not_applied"].as_array().unwrap();
    assert!(!not_applied.is_empty() && not_applied.len() < 20, "{not_applied:?}");
    assert!(report["redacted"].as_object().unwrap().len() >= 2, "{}", report["redacted"]);
    let tiers = &report["entries"]["tier"];
    for tier in ["human", "outcome", "recorded"] {
        assert!(tiers[tier].as_u64() > Some(0), "{tier}: {tiers}");
    }
}
