//! Tests of embedders in whole runs, and against reference vectors.

#[cfg(feature = "models")]
mod minilm;

use std::path::Path;
use std::process::Output;

use crate::support::{callsieve, shown};
use serde_json::{Value, json};

const QUERIES: [&str; 3] =
    ["Open the noon gate, please!", "unlock the midday door", "How tall is the tower?"];

/// Returns a run of the one stage that merges by vectors, on requests of one doc list.
fn run(folder: &Path, out: &str, queries: &[&str], embedder: &str, more: &[(&str, &str)]) -> Output {
    let docs = r#"[{"name": "open", "description": "Opens a door or a gate."}]"#;
    let log: String =
        queries.iter().map(|query| format!("{}\n", json!({"query": query, "functions": docs}))).collect();
    std::fs::write(folder.join("log.jsonl"), log).unwrap();
    let pipeline = format!(
        "[ingest]\ninputs = ['{}']\n[[stages]]\nkind = 'merge-near-queries'\nrouge_l = 'off'\nembedder = '{embedder}'\n",
        folder.join("log.jsonl").display()
    );
    std::fs::write(folder.join("pipeline.toml"), pipeline).unwrap();
    let mut command = callsieve();
    command.env("CALLSIEVE_CACHE", folder.join("cache")).envs(more.iter().copied());
    command.arg("run").arg(folder.join("pipeline.toml")).args(["--quiet", "--out"]).arg(folder.join(out));
    command.output().unwrap()
}

fn report(run: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(run.join("report.json")).unwrap()).unwrap()
}

#[test]
fn vectors_from_a_file_merge_rows_without_common_words_and_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let merged = run(folder.path(), "out", &QUERIES, "file:tests/embedders/queries.parquet", &[]);
    assert!(merged.status.success(), "{}", shown(&merged));
    let report = report(&folder.path().join("out"));
    let note = &report["notes"]["merge-near-queries"]["embedder"];
    assert!(note["id"].as_str().unwrap().starts_with("file-parquet-"), "{report:#}");
    assert_eq!(note["vectors"], 3);
    let fate = &report["fates"][0];
    assert_eq!(
        (&fate["reason"], &fate["description"]),
        (
            &json!("query/similar"),
            &json!("Another request has a query with a similar embedding (queries.parquet).")
        ),
        "{report:#}"
    );
    let line = "similar queries merged (wording or embedding: queries.parquet)";
    assert_eq!(report["funnel"][1]["description"], line);
    let missing = run(
        folder.path(),
        "other",
        &["Is the tide low?", "Is the tide high?"],
        "file:tests/embedders/queries.parquet",
        &[],
    );
    assert_eq!(missing.status.code(), Some(3), "{}", shown(&missing));
    assert!(shown(&missing).contains("no vector for 2 of 2 texts"), "{}", shown(&missing));
}

#[test]
fn a_server_without_redaction_is_refused_before_the_first_row() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        run(folder.path(), "out", &QUERIES, "endpoint:m", &[("OPENAI_BASE_URL", "http://127.0.0.1:9")]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    assert!(shown(&refused).contains("redact"), "{}", shown(&refused));
}
