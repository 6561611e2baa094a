//! Tests of runs with an earlier dataset, which drop or keep its entries, and of the comparison of two runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{assert_same_bytes, output, run_sample, shown, stable_bytes};
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the question and answer files of a dataset, by their path in it.
fn bfcl_files(run: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let is_bfcl = |name: &Path| {
        let is_metadata = name.ends_with("croissant.json");
        name.starts_with("dataset") && name.extension().is_some_and(|end| end == "json") && !is_metadata
    };
    stable_bytes(run).into_iter().filter(|(name, _)| is_bfcl(name)).collect()
}

fn ids(run: &Path) -> Vec<String> {
    let questions = bfcl_files(run).into_iter().filter(|(name, _)| !text(name).contains("possible_answer"));
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    questions
        .flat_map(|(_, bytes)| String::from_utf8(bytes).unwrap().lines().map(id).collect::<Vec<_>>())
        .collect()
}

fn exported(run: &Path, key: &str) -> u64 {
    let report = json(&run.join("report.json"));
    report[key].as_object().unwrap().values().map(|entries| entries.as_u64().unwrap()).sum()
}

#[test]
fn no_id_comes_twice_in_a_dataset_and_all_have_the_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &["--set", "export.id_prefix=harbour"]);
    let ids = ids(&out);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    assert!(!ids.is_empty() && ids.iter().all(|id| id.contains("-harbour")), "{ids:?}");
    let refused = output(&["plan", "--set", "export.id_prefix=a-b"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("export: id_prefix must be at most"));
}

#[test]
fn rows_of_an_earlier_dataset_are_dropped_and_new_ones_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| folder.path().join(name);
    // The earlier log is a part of the later one.
    run_sample(&run("part"), &["--input", "raw/openai.jsonl.gz", "raw/anthropic.jsonl"]);
    run_sample(&run("all"), &[]);
    run_sample(&run("rest"), &["--baseline", text(&run("part"))]);
    let (part, all, rest) = (
        exported(&run("part"), "exported"),
        exported(&run("all"), "exported"),
        exported(&run("rest"), "exported"),
    );
    assert!(
        part > 0 && rest > 0 && rest < all && rest + part >= all,
        "{part} earlier, {rest} new, {all} in all"
    );
    let report = json(&run("rest").join("report.json"));
    let requests = &report["requests"];
    let dropped = requests["reasons"]["overlap/baseline"].as_u64().unwrap();
    assert!(dropped > 0);
    let sum: u64 =
        ["kept", "merged", "held", "dropped"].iter().map(|fate| requests[fate].as_u64().unwrap()).sum();
    assert_eq!(requests["rows"].as_u64(), Some(sum));
    // The same log again has nothing new.
    run_sample(&run("none"), &["--baseline", text(&run("all"))]);
    assert_eq!(exported(&run("none"), "exported"), 0);
}

#[test]
fn evidence_of_an_overlap_names_the_entry_and_the_measure() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str, queries: &[&str]| {
        let path = folder.path().join(name);
        let docs = r#"[{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["bell"], "properties": {"bell": {"type": "string", "description": "Which."}}}}]"#;
        let row = |query: &&str| {
            serde_json::json!({"query": query, "functions": docs, "response": "[ring(bell='noon')]"})
                .to_string()
                + "\n"
        };
        std::fs::write(&path, queries.iter().map(row).collect::<String>()).unwrap();
        path
    };
    let run = |name: &str, log: &Path, more: &[&str]| {
        let out = folder.path().join(name);
        let mut arguments = vec!["run", "--quiet", "--input", text(log), "--out", text(&out)];
        arguments.extend(more);
        let ran = output(&arguments);
        assert!(ran.status.success(), "{}", shown(&ran));
        out
    };
    let march =
        run("march", &log("march.jsonl", &["Ring the noon bell of the old town church, three times"]), &[]);
    let april = log(
        "april.jsonl",
        &[
            "Ring the noon bell of the old town church, three times!",
            "Please ring the noon bell of the old town church, three times",
            "When the ferry leaves, let the smallest bell sound at noon",
        ],
    );
    // Near queries would be merged with one another before.
    let sets = ["--set", "merge-near-queries.rouge_l=off", "--set", "merge-near-queries.cosine=off"];
    let out = run("april", &april, &[&["--baseline", text(&march)][..], &sets].concat());
    let ledger =
        callsieve::engine::frame::FrameFile::open(&out.join("ledger.parquet")).unwrap().read_all().unwrap();
    let cell = |name: &str, row| ledger.texts(name).unwrap().get(row).map(str::to_owned);
    let found: BTreeSet<(Option<String>, Option<String>)> = (0..ledger.height())
        .filter(|&row| cell("reason", row).as_deref() == Some("overlap/baseline"))
        .map(|row| (cell("metric", row), cell("evidence", row)))
        .collect();
    let entry = |by: &str| Some(format!(r#"{{"entry":"live_simple_0-ts0-u0","by":"{by}"}}"#));
    let expected =
        [(None, entry("query/duplicate")), (Some("rouge-l-f1".to_owned()), entry("query/near-duplicate"))];
    assert_eq!(found, BTreeSet::from(expected));
    assert_eq!(exported(&out, "exported"), 1);
}

#[test]
fn frozen_entries_stay_byte_for_byte_and_new_ones_follow() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| folder.path().join(name);
    run_sample(&run("part"), &["--input", "raw/openai.jsonl.gz", "raw/anthropic.jsonl"]);
    run_sample(
        &run("next"),
        &["--baseline", text(&run("part")), "--freeze", "--set", "export.id_prefix=next"],
    );
    let (earlier, later) = (bfcl_files(&run("part")), bfcl_files(&run("next")));
    for (name, bytes) in &earlier {
        let (_, now) = later.iter().find(|(other, _)| other == name).unwrap();
        assert!(now.starts_with(bytes), "{} does not begin as before", name.display());
    }
    assert!(
        later.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
            > earlier.iter().map(|(_, bytes)| bytes.len()).sum()
    );
    let (old, new) = (ids(&run("part")), ids(&run("next")));
    assert_eq!(new.iter().collect::<BTreeSet<_>>().len(), new.len());
    assert!(new.iter().all(|id| old.contains(id) != id.contains("-next")));
    assert_eq!(exported(&run("next"), "frozen"), old.len() as u64);
    assert_eq!(exported(&run("next"), "frozen") + exported(&run("next"), "exported"), new.len() as u64);
    // Frozen again with the same log, nothing is added and no byte changes; Parquet rows are only marked as frozen.
    for (from, to) in [("next", "again"), ("again", "thrice")] {
        run_sample(&run(to), &["--baseline", text(&run(from)), "--freeze", "--set", "export.id_prefix=next"]);
        assert_eq!(later, bfcl_files(&run(to)));
    }
    let dataset = |name: &str| {
        let mut files = stable_bytes(&run(name));
        // The card names the baseline, which differs.
        files.retain(|name, _| name.starts_with("dataset") && !name.ends_with("README.md"));
        files
    };
    assert_same_bytes(&dataset("again"), &dataset("thrice"));
}

#[test]
fn a_changed_setting_is_compared_with_its_consequences() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    run_sample(&before, &[]);
    run_sample(&after, &["--set", "merge-near-docs.threshold=0.6", "--set", "merge-near-queries.cosine=off"]);
    let compared = output(&["compare", text(&before), text(&after), "--examples", "1"]);
    let shown = shown(&compared).replace(text(folder.path()), "FOLDER");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("compare", shown);
    });
    let found = output(&["compare", text(&before), text(&after), "--json", "--exit-code"]);
    assert_eq!(found.status.code(), Some(1));
    let all: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(all["settings"][0]["key"], "merge-near-docs.threshold");
    // Every request is in one place, and every move lists all of its ids.
    let moves = all["requests"]["moves"].as_array().unwrap();
    let moved: u64 = moves.iter().map(|found| found["rows"].as_u64().unwrap()).sum();
    let named: BTreeSet<&str> = moves
        .iter()
        .flat_map(|found| found["ids"].as_array().unwrap())
        .map(|id| id.as_str().unwrap())
        .collect();
    assert_eq!(named.len() as u64, moved);
    let rows = json(&before.join("report.json"))["requests"]["rows"].as_u64().unwrap();
    assert_eq!(all["requests"]["same"].as_u64().unwrap() + moved, rows);
    let entries = &all["entries"];
    let n = |key: &str| entries[key].as_array().unwrap().len() as u64;
    let same = entries["same"].as_u64().unwrap();
    assert_eq!(same + n("changed") + n("gone"), exported(&before, "exported"));
    assert_eq!(same + n("changed") + n("new"), exported(&after, "exported"));
}

#[test]
fn a_run_does_not_differ_from_itself_and_other_inputs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (all, part) = (folder.path().join("all"), folder.path().join("part"));
    run_sample(&all, &[]);
    run_sample(&part, &["--input", "raw/openai.jsonl.gz"]);
    let same = output(&["compare", text(&all), text(&all), "--exit-code"]);
    assert_eq!(same.status.code(), Some(0), "{}", shown(&same));
    let found: Value =
        serde_json::from_slice(&output(&["compare", text(&all), text(&part), "--json"]).stdout).unwrap();
    let gone: Vec<&str> =
        found["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap()).collect();
    assert_eq!(gone, ["raw/anthropic.jsonl", "raw/hosted.jsonl", "raw/pairs.csv"]);
    let moves = found["requests"]["moves"].as_array().unwrap();
    assert!(moves.iter().any(|found| found["after"]["fate"] == "absent"));
    assert!(moves.iter().all(|found| found["before"]["fate"] != "absent"));
}

#[test]
fn runs_that_cannot_be_compared_or_built_upon_have_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| folder.path().join(name);
    run_sample(&run("whole"), &[]);
    let copy = |name: &str, files: &[&str]| {
        std::fs::create_dir_all(run(name)).unwrap();
        for file in files {
            std::fs::copy(run("whole").join(file), run(name).join(file)).unwrap();
        }
        run(name)
    };
    let whole = run("whole");
    let unfinished = copy("unfinished", &[".lock"]);
    let foreign = copy("foreign", &["run.json", "report.json", "rows.parquet"]);
    std::fs::write(foreign.join("report.json"), "{\"steps\": []}").unwrap();
    let other_columns = copy("columns", &["run.json", "report.json"]);
    std::fs::copy(whole.join("lists.parquet"), other_columns.join("rows.parquet")).unwrap();
    let empty = copy("empty", &[]);
    let flat = copy("flat", &[]);
    let line =
        r#"{"id": "live_simple_0-0-0", "question": [{"role": "user", "content": "Ring."}], "function": []}"#;
    std::fs::write(flat.join("BFCL_v2_live_simple.json"), line).unwrap();
    let (out, nowhere) = (run("out"), run("nowhere"));
    let cases: &[(&str, &[&str])] = &[
        ("no such run", &["compare", text(&whole), text(&nowhere)]),
        ("not a run folder", &["compare", text(&empty), text(&whole)]),
        ("not finished", &["compare", text(&whole), text(&unfinished)]),
        ("another report", &["compare", text(&foreign), text(&whole)]),
        ("other columns", &["compare", text(&other_columns), text(&whole)]),
        ("no dataset", &["plan", "--baseline", text(&empty)]),
        ("freeze without a baseline", &["plan", "--freeze"]),
        ("its own folder", &["run", "--baseline", text(&whole), "--out", text(&whole)]),
        ("a mode that is none", &["plan", "--baseline", text(&whole), "--set", "baseline.mode=keep"]),
        (
            "a baseline of the second version",
            &["run", "--quiet", "--baseline", text(&flat), "--freeze", "--out", text(&out)],
        ),
    ];
    let mut all = String::new();
    for (what, arguments) in cases {
        all += &format!("== {what}\n{}\n", shown(&output(arguments)));
    }
    let mut all = all.replace(text(folder.path()), "FOLDER");
    // A report holds clock times, so its size varies.
    for (name, shown) in [("report.json", "REPORT"), ("rows.parquet", "ROWS")] {
        let size = std::fs::metadata(whole.join(name)).unwrap().len();
        all = all.replace(&format!("expected {size} bytes"), &format!("expected {shown} bytes"));
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("compare_errors", all);
    });
}
