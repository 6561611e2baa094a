//! Functions of a collection that fit a request, through the command: ranking, measures, training pairs, errors.

use std::fs;

use crate::support::{callsieve, shown};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A collection of a harbour.
fn collection() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tool = |name: &str, description: &str, parameter: &str| {
        json!({"type": "function", "function": {"name": name, "description": description, "parameters": {"type": "object",
            "properties": {parameter: {"type": "string", "description": format!("The {parameter} that is meant.")}}, "required": [parameter]}}})
    };
    let tools = json!([
        tool("list_lamps", "Lists the lamps of a pier that burn at night.", "pier"),
        tool("ring_bell", "Rings the bell of a harbour tower.", "tower"),
        tool("find_berths", "Finds free berths for a boat in a harbour.", "boat"),
        tool("tide_times", "Tells the times of high and low tide.", "port"),
    ]);
    fs::write(folder.path().join("harbour.json"), tools.to_string()).unwrap();
    let done = callsieve()
        .current_dir(folder.path())
        .args(["collect", "harbour.json", "--out", "run", "-q"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> (Option<i32>, String) {
    let done = callsieve().current_dir(folder.path()).arg("retrieve").args(arguments).output().unwrap();
    (done.status.code(), shown(&done))
}

#[test]
fn the_functions_of_a_request_are_ranked_by_words_embeddings_and_both() {
    let folder = collection();
    for by in ["bm25", "embeddings", "both"] {
        let (code, text) =
            run(&folder, &["run", "Which berth is free for my boat?", "--by", by, "--json", "--top", "2"]);
        assert_eq!(code, Some(0), "{text}");
        let first: Value =
            serde_json::from_str(text.lines().find(|line| line.starts_with('{')).unwrap()).unwrap();
        assert_eq!(first["name"], "find_berths", "{by}: {text}");
    }
    let (code, text) = run(&folder, &["run", "Ring the bell"]);
    assert!(code == Some(0) && text.contains("ring_bell"), "{text}");
    let (code, text) = run(&folder, &["run", "Zebra"]);
    assert!(code == Some(0) && text.contains("none of 4 functions shares a word"), "{text}");
}

#[test]
fn a_ranking_is_measured_and_gives_training_pairs() {
    let folder = collection();
    let queries = [
        json!({"query": "Ring the bell of the harbour", "relevant": ["ring_bell"]}),
        json!({"query": "When is the tide high?", "relevant": ["tide_times", "moon_phase"]}),
        json!({"query": "Zebra", "relevant": ["list_lamps"]}),
    ];
    fs::write(folder.path().join("queries.jsonl"), queries.map(|query| format!("{query}\n")).concat())
        .unwrap();
    let (code, text) =
        run(&folder, &["run", "--evaluate", "queries.jsonl", "--pairs", "pairs.jsonl", "--json"]);
    assert_eq!(code, Some(0), "{text}");
    let measures: Value =
        serde_json::from_str(text.lines().find(|line| line.starts_with('{')).unwrap()).unwrap();
    assert_eq!(
        (&measures["queries"], &measures["functions"], &measures["missing_functions"]),
        (&json!(3), &json!(4), &json!(1))
    );
    // The last query scores nothing: four equal scores, of which one is right.
    let ndcg = measures["ndcg"]["1"].as_f64().unwrap();
    assert!((ndcg - (1.0 + 1.0 + 0.25) / 3.0).abs() < 1e-9, "{text}");
    let pairs = fs::read_to_string(folder.path().join("pairs.jsonl")).unwrap();
    let pairs: Vec<Value> = pairs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pairs.len(), 3);
    assert_eq!(
        (&pairs[0]["name"], &pairs[0]["negative_names"]),
        (&json!("ring_bell"), &json!(["find_berths", "list_lamps", "tide_times"]))
    );
}

#[test]
fn what_is_no_collection_or_no_query_is_refused_with_its_place() {
    let folder = collection();
    let (code, text) = run(&folder, &["nowhere", "Ring"]);
    assert!(
        code == Some(2) && text.contains("nowhere is not the folder of a finished collection"),
        "{code:?} {text}"
    );
    fs::write(
        folder.path().join("queries.jsonl"),
        "{\"query\": \"Ring\", \"relevant\": [\"ring_bell\"]}\n{\"query\": 7}\n",
    )
    .unwrap();
    let (code, text) = run(&folder, &["run", "--evaluate", "queries.jsonl"]);
    assert!(
        code == Some(2) && text.contains("queries.jsonl:2: expected a text under \"query\""),
        "{code:?} {text}"
    );
    let (code, _) = run(&folder, &["run"]);
    assert_eq!(code, Some(2));
}
