//! Tests of small logs with faults that people reported, against the right decision for each row.
//!
//! The files are in the data folder (`callsieve_testkit::data`).

use std::collections::BTreeMap;
use std::path::Path;

use callsieve_testkit::data;
use serde_json::Value;

use crate::support::{output, shown};

/// What became of a row: its reason, or its tier and its category.
type Fates = BTreeMap<String, String>;

/// Runs a log, and returns the fate of each row by its own id; `None` without the data.
fn fates(log: &str) -> Option<Fates> {
    let log = data::path(&format!("faults/{log}"))?;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let (log, run) = (log.to_str().unwrap().to_owned(), out.to_str().unwrap().to_owned());
    let ran = output(&["run", &log, "--out", &run, "--quiet"]);
    assert!(out.join("rows.parquet").is_file(), "{}", shown(&ran));
    let rows = ids(Path::new(&log));
    Some(rows.into_iter().map(|id| (id.clone(), fate(&run, &id))).collect())
}

/// The ids of a log.
fn ids(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect()
}

fn fate(run: &str, id: &str) -> String {
    let why = output(&["why", run, &format!("external:{id}"), "--json"]);
    assert!(why.status.success(), "{}", shown(&why));
    let why: Value = serde_json::from_slice(&why.stdout).unwrap();
    let request = &why["requests"][0];
    if let Some(reason) = request["fate"]["reason"].as_str() {
        return reason.to_owned();
    }
    let kept = |key: &str| request["kept"][key].as_str().unwrap_or("-").to_owned();
    format!("{} {}", kept("tier"), kept("category"))
}

#[test]
fn calls_that_a_server_leaked_into_the_text_are_read_or_held() {
    let Some(fates) = fates("01-leaked-calls/log.jsonl") else { return };
    for (id, fate) in &fates {
        let is_right = ["recorded simple", "split/unreadable-answer"].contains(&fate.as_str());
        assert!(is_right, "{id}: {fate}");
    }
    assert_eq!(fates.len(), 8);
}

#[test]
fn docs_that_differ_in_a_date_keep_their_requests() {
    let Some(fates) = fates("10-docs-differ-in-a-date/log.jsonl") else { return };
    for id in ["d17-FRA", "d22-FRA", "d22-MUC"] {
        assert_eq!(fates[id], "outcome simple", "{id}");
    }
}

#[test]
fn a_failed_result_and_a_corrected_call_are_never_scored() {
    let Some(fates) = fates("11-failed-results/log.jsonl") else { return };
    for (id, fate) in &fates {
        if id.starts_with("json-ok") {
            assert!(id.ends_with("-2") || fate == "outcome simple", "{id}: {fate}");
        } else {
            assert!(!fate.starts_with("outcome"), "{id}: {fate}");
        }
        let is_first = id.ends_with("-1");
        if is_first && (id.starts_with("cor-") || id.starts_with("apo-")) {
            assert_eq!(fate, "answer/refuted", "{id}");
        }
    }
}

#[test]
fn attempted_calls_and_failed_requests_among_abstentions_are_counted() {
    let Some(bench) = data::path("faults/05-evaluate-irrelevance/bench") else { return };
    let results = bench.with_file_name("results.jsonl");
    let scored =
        output(&["evaluate", "--dataset", bench.to_str().unwrap(), "--results", results.to_str().unwrap()]);
    let text = shown(&scored);
    assert!(text.contains("4 correct abstentions are a call that cannot be decoded"), "{text}");
    assert!(text.contains("1 correct abstention is the error of a failed request"), "{text}");
}

#[test]
fn a_secret_with_marks_is_replaced_after_any_word() {
    let Some(folder) = data::path("faults/02-secrets-with-punctuation") else { return };
    for number in 1..=8 {
        let log = folder.join(format!("{number}.jsonl"));
        let out = tempfile::tempdir().unwrap();
        let run = out.path().join("run");
        let ran = output(&["run", log.to_str().unwrap(), "--out", run.to_str().unwrap(), "--quiet"]);
        assert!(run.join("report.json").is_file(), "{}", shown(&ran));
        let report: Value = serde_json::from_slice(&std::fs::read(run.join("report.json")).unwrap()).unwrap();
        let kinds: Vec<&String> = report["redacted"].as_object().unwrap().keys().collect();
        assert!(
            kinds
                .iter()
                .any(|kind| ["key", "token", "privacy/key", "privacy/token"].contains(&kind.as_str())),
            "{number}: {kinds:?}"
        );
    }
}

/// The fixed functions of a file, by the id of their line.
fn fixed(docs: &str) -> Option<BTreeMap<String, Value>> {
    let docs = data::path(&format!("faults/{docs}"))?;
    let fixed = output(&["fix", docs.to_str().unwrap(), "--json"]);
    assert!(fixed.status.success(), "{}", shown(&fixed));
    let text = String::from_utf8(fixed.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let by_id: BTreeMap<String, Value> = ids(&docs)
        .into_iter()
        .zip(lines)
        .map(|(id, line)| (id, line["function"][0]["parameters"].clone()))
        .collect();
    Some(by_id)
}

/// The names of the parameters, and of those that are required; both sorted.
fn names(parameters: &Value) -> (Vec<String>, Vec<String>) {
    let mut names: Vec<String> = parameters["properties"].as_object().unwrap().keys().cloned().collect();
    let required = parameters["required"].as_array().into_iter().flatten();
    let mut required: Vec<String> = required.map(|name| name.as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    required.sort_unstable();
    (names, required)
}

#[test]
fn parameters_with_names_of_words_of_a_schema_are_kept() {
    let Some(fixed) = fixed("03-parameter-called-properties/docs.jsonl") else { return };
    let of = |id: &str| {
        let (names, required) = names(&fixed[id]);
        (names.join(" "), required.join(" "))
    };
    assert_eq!(of("flat"), ("limit properties".to_owned(), "properties".to_owned()));
    assert_eq!(of("flat-type"), ("properties type".to_owned(), "properties type".to_owned()));
    assert_eq!(of("flat-xlam"), ("limit properties".to_owned(), String::new()));
    assert_eq!(of("seal-tools"), ("limit properties".to_owned(), "properties".to_owned()));
}

#[test]
fn a_nullable_input_is_optional() {
    let Some(fixed) = fixed("07-nullable-inputs/docs.jsonl") else { return };
    let (names, required) = names(&fixed["smolagents"]);
    assert_eq!((names.join(" "), required.join(" ")), ("days port".to_owned(), "port".to_owned()));
}

#[test]
fn calls_that_an_observation_lists_are_read() {
    let Some(fates) = fates("13-vercel-langfuse/log.jsonl") else { return };
    for (id, fate) in fates.iter().filter(|(id, _)| *id != "text") {
        assert_eq!(fate, "recorded multiple", "{id}");
    }
}

#[test]
fn the_finish_reason_beside_empty_content_is_kept() {
    let Some(fates) = fates("08-gemini-empty-content/log.jsonl") else { return };
    for (id, fate) in &fates {
        let is_failed =
            ["split/request-failed", "split/truncated-answer", "relevance/unsure"].contains(&fate.as_str());
        assert!(is_failed, "{id}: {fate}");
    }
}

#[test]
fn rows_without_a_token_are_counted() {
    let Some(rows) = data::path("faults/09-pairs-without-tokens/rows.jsonl") else { return };
    let pairs = output(&["pairs", rows.to_str().unwrap(), "--field", "text", "--id-field", "id"]);
    assert!(shown(&pairs).contains("no token and are in no pair"), "{}", shown(&pairs));
}

/// The figures of a run on a file of the data, from its report; `None` without the data.
fn report_of(log: &str) -> Option<Value> {
    let log = data::path(&format!("faults/{log}"))?;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let ran = output(&["run", log.to_str().unwrap(), "--out", out.to_str().unwrap(), "--quiet"]);
    let report =
        std::fs::read_to_string(out.join("report.json")).unwrap_or_else(|_| panic!("{}", shown(&ran)));
    Some(serde_json::from_str(&report).unwrap())
}

#[test]
fn a_load_test_leaves_a_few_requests_of_each_template() {
    let Some(report) = report_of("12-load-test/log.jsonl") else { return };
    let found = &report["notes"]["cap-templates"]["templates"];
    assert_eq!((&found["of_machines"]["templates"], &found["dropped"]), (&4.into(), &18.into()), "{found}");
    assert_eq!(report["requests"]["kept"], 12);
    let look = output(&["inspect", data::path("faults/12-load-test/log.jsonl").unwrap().to_str().unwrap()]);
    let words = shown(&look).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("30 requests in the rhythm of a machine"), "{words}");
}

#[test]
fn spans_of_other_conventions_are_read_and_no_hint_takes_them_for_docs() {
    for name in ["vercel.jsonl", "vercel-otlp.jsonl", "pydantic-ai.jsonl"] {
        let Some(report) = report_of(&format!("06-spans-of-other-conventions/{name}")) else { return };
        assert!(report["ingest"]["records"].as_u64() > Some(0), "{name}: {}", report["ingest"]);
    }
    let log = data::path("faults/06-spans-of-other-conventions/vllm-server.log").unwrap();
    let look = shown(&output(&["inspect", log.to_str().unwrap()]));
    assert!(!look.contains("callsieve fix"), "{look}");
}
