//! Tests of `callsieve pairs` on the program: which pairs it reports, in which order, and which it does not.

use std::collections::BTreeSet;

use crate::support::{output, shown};
use callsieve::docs::canonical;
use callsieve::engine::frame::{FrameFile, Values, write_frame};
use callsieve_testkit::data;
use serde_json::{Value, json};

/// Returns the output lines of a command that reads a file of these rows, and its messages.
fn told(rows: &str, args: &[&str]) -> (Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    std::fs::write(&path, rows).unwrap();
    run(&[&["pairs", path.to_str().unwrap()], args].concat())
}

fn run(args: &[&str]) -> (Vec<Value>, String) {
    let run = output(args);
    assert!(run.status.success(), "{}", shown(&run));
    let lines = String::from_utf8(run.stdout).unwrap();
    (
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        String::from_utf8(run.stderr).unwrap(),
    )
}

const BELLS: &str = r#"{"id": "one", "q": "ring the bell of the old church at noon"}
{"id": "two", "q": "where is the harbour"}
{"id": "three", "q": "Ring the bell of the old church, at noon!"}
{"id": 4, "q": "ring the bell of the old church at night"}
"#;

#[test]
fn pairs_come_in_the_order_of_rows_with_their_score() {
    let (pairs, said) = told(BELLS, &["--field", "q", "--id-field", "id"]);
    let tokenizer = "rouge-score-v1";
    assert_eq!(
        pairs,
        [
            json!({"a": "one", "b": "three", "score": 1.0, "tokenizer": tokenizer}),
            json!({"a": "one", "b": 4, "score": 0.888_888_888_888_888_8, "tokenizer": tokenizer}),
            json!({"a": "three", "b": 4, "score": 0.888_888_888_888_888_8, "tokenizer": tokenizer}),
        ]
    );
    assert!(said.contains("4 rows compared, 3 pairs above 0.8"), "{said}");
}

#[test]
fn clusters_name_the_row_that_stays() {
    let (rows, _) = told(BELLS, &["--field", "q", "--clusters", "-q"]);
    let leaders: Vec<&Value> = rows.iter().map(|row| &row["leader"]).collect();
    assert_eq!(leaders, [1, 2, 1, 1]);
    assert_eq!(rows[1], json!({"id": 2, "leader": 2}));
}

#[test]
fn two_files_are_compared_with_one_another_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("a.jsonl"), BELLS).unwrap();
    std::fs::write(path("b.csv"), "q,id\n\"ring the bell of the old church, at noon\",x\n").unwrap();
    let (pairs, _) =
        run(&["pairs", &path("a.jsonl"), &path("b.csv"), "--field", "q", "--id-field", "id", "-q"]);
    let ids: Vec<(&Value, &Value)> = pairs.iter().map(|pair| (&pair["a"], &pair["b"])).collect();
    assert_eq!(ids, [(&json!("one"), &json!("x")), (&json!("three"), &json!("x")), (&json!(4), &json!("x"))]);
}

#[test]
fn functions_with_their_keys_in_another_order_are_the_same() {
    let rows = r#"{"f": {"name": "ring", "description": "Rings the bell.", "parameters": {"a": 1, "b": 2}}}
{"f": {"parameters": {"b": 2, "a": 1}, "name": "ring", "description": "Rings the bell."}}
"#;
    let (pairs, _) = told(rows, &["--field", "f"]);
    assert_eq!(pairs[0]["score"], 1.0);
}

#[test]
fn each_pair_is_compared_by_the_tokenizer_it_needs() {
    let rows = "{\"q\": \"请在3号房间浇花\"}\n{\"q\": \"请在3号房间浇花\"}\n{\"q\": \"帮我预订3张电影票\"}\n";
    let (pairs, _) = told(rows, &["--field", "q"]);
    assert_eq!(pairs, [json!({"a": 1, "b": 2, "score": 1.0, "tokenizer": "unicode-v2"})]);
    let (pairs, _) = told(rows, &["--field", "q", "--tokenizer", "rouge-score-v1"]);
    assert_eq!(pairs.len(), 3, "by its number alone");
}

#[test]
fn a_tie_is_a_pair_by_the_floats_of_rouge_score_only() {
    let rows = "{\"q\": \"a b c d e\"}\n{\"q\": \"a b c d f\"}\n";
    assert_eq!(told(rows, &["--field", "q"]).0.len(), 0);
    assert_eq!(told(rows, &["--field", "q", "--comparison", "google-float"]).0.len(), 1);
}

#[test]
fn parquet_has_the_same_pairs_as_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let text = ["ring the bell now please", "ring the bell now", "boat"].map(Some).to_vec();
    write_frame(&path, vec![("q", Values::Text(text))]).unwrap();
    assert_eq!(FrameFile::open(&path).unwrap().height(), 3);
    let (pairs, _) = run(&["pairs", path.to_str().unwrap(), "--field", "q"]);
    assert_eq!((pairs.len(), &pairs[0]["a"], &pairs[0]["b"]), (1, &json!(1), &json!(2)));
}

#[test]
fn vectors_find_pairs_and_clusters_of_rows() {
    let rows = "{\"q\": \"ring the noon bell of the harbour\"}\n{\"q\": \"the harbour: ring the bell of noon\"}\n{\"q\": \"!\"}\n{\"q\": \"sell boats\"}\n";
    let cosine = ["--field", "q", "--metric", "cosine", "--threshold", "0.7"];
    let (pairs, said) = told(rows, &cosine);
    assert_eq!((pairs.len(), &pairs[0]["a"], &pairs[0]["b"]), (1, &json!(1), &json!(2)));
    assert!(pairs[0]["score"].as_f64().unwrap() > 0.7 && pairs[0].get("tokenizer").is_none());
    assert!(said.contains("1 pair from 0.7 on by hashed-"), "{said}");
    if cfg!(feature = "ann") {
        let (by_graph, said) = told(rows, &[&cosine[..], &["--search", "approximate"]].concat());
        assert_eq!(by_graph, pairs);
        assert!(said.contains("approximate search: found 2 of 2 pairs in a sample"), "{said}");
    }
    let (rows, _) = told(rows, &[&cosine[..], &["--clusters"]].concat());
    let leaders: Vec<&Value> = rows.iter().map(|row| &row["leader"]).collect();
    assert_eq!(leaders, [1, 1, 3, 4]);
}

#[test]
fn vectors_from_a_file_belong_to_the_rows_of_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("a.jsonl"), "{\"q\": \"x\"}\n{\"q\": \"y\"}\n").unwrap();
    std::fs::write(path("b.jsonl"), "{\"q\": \"z\"}\n").unwrap();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend(u16::try_from(header.len() + 1).unwrap().to_le_bytes());
    npy.extend(format!("{header}\n").bytes());
    npy.extend([1.0_f32, 0.0, 0.0, 0.0, 2.0, 0.0].iter().flat_map(|value| value.to_le_bytes()));
    std::fs::write(path("v.npy"), npy).unwrap();
    let embedder = format!("file:{}", path("v.npy"));
    let arguments = [
        "pairs",
        &path("a.jsonl"),
        &path("b.jsonl"),
        "--field",
        "q",
        "--metric",
        "cosine",
        "--embedder",
        &embedder,
    ];
    let (pairs, said) = run(&arguments);
    assert_eq!(pairs, [json!({"a": 1, "b": 1, "score": 1.0})]);
    assert!(said.contains("row 2 is in no pair, because its vector is zero"), "{said}");
    std::fs::write(path("b.jsonl"), "{\"q\": \"z\"}\n{\"q\": \"z\"}\n").unwrap();
    let ran = output(&arguments);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("found 3 vectors, expected one for each of 4 rows"), "{said}");
}

#[test]
fn rows_that_cannot_be_compared_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    std::fs::write(&path, "{\"q\": \"a\"}\n{broken\n{\"other\": 1}\n").unwrap();
    let ran = output(&["pairs", path.to_str().unwrap(), "--field", "q"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("rows.jsonl:2: ingest/not-json"), "{said}");
    assert!(said.contains("1 row has no text at q: 3"), "{said}");
    let ran = output(&["pairs", path.to_str().unwrap(), "--field", "text"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("hint: the first row has q"), "{said}");
}

#[test]
fn the_bytes_are_the_same_on_any_number_of_threads() {
    let rows: String = (0..3_000)
        .map(|n| format!("{{\"q\": \"row {} of {} and {} more\"}}\n", n % 7, n % 11, n % 13))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    std::fs::write(&path, rows).unwrap();
    let on = |threads: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_callsieve"))
            .args(["pairs", path.to_str().unwrap(), "--field", "q"])
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap()
            .stdout
    };
    let one = on("1");
    assert!(one.len() > 10_000 && one == on("3"));
}

/// Returns the current official Live entries; `None` if they are not in the data folder.
fn official() -> Option<Vec<Value>> {
    let folder = data::path("bfcl-v4-live")?;
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    Some(lines.map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn near_pairs_of_the_official_entries_match_an_independent_count() {
    let Some(entries) = official() else { return };
    let functions = |entry: &Value| match &entry["function"] {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    let prompt = |entry: &Value| {
        let turn = entry["question"].as_array().unwrap().last().unwrap().as_array().unwrap();
        turn.iter().rfind(|message| message["role"] == "user").unwrap()["content"].clone()
    };
    let n_pairs = |rows: Vec<Value>, tokenizer: &str| {
        let lines: String = rows.iter().map(|row| json!({ "row": row }).to_string() + "\n").collect();
        told(&lines, &["--field", "row", "--tokenizer", tokenizer]).0.len()
    };
    let prompts: Vec<Value> = entries.iter().map(prompt).collect();
    assert_eq!(n_pairs(prompts.clone(), "rouge-score-v1"), 416);
    assert_eq!(n_pairs(prompts.clone(), "unicode-v2"), 421);
    assert_eq!(n_pairs(prompts, "auto"), 421);
    let mut seen = BTreeSet::new();
    let mut distinct = |value: &Value| seen.insert(canonical::value_text(value));
    let lists: Vec<Value> =
        entries.iter().map(|entry| Value::Array(functions(entry))).filter(|list| distinct(list)).collect();
    let docs: Vec<Value> = entries.iter().flat_map(functions).filter(|doc| distinct(doc)).collect();
    assert_eq!((lists.len(), docs.len()), (818, 1746));
    assert_eq!((n_pairs(lists, "rouge-score-v1"), n_pairs(docs, "rouge-score-v1")), (585, 1944));
}

#[cfg(not(feature = "ann"))]
#[test]
fn a_search_by_graph_is_refused_with_the_command_that_builds_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    std::fs::write(&path, BELLS).unwrap();
    let args = ["pairs", path.to_str().unwrap(), "--field", "q", "--metric", "cosine"];
    let refused = output(&[&args[..], &["--search", "approximate"]].concat());
    assert!(!refused.status.success() && refused.stdout.is_empty());
    let said = shown(&refused);
    assert!(said.contains("--search exact") && said.contains("--features ann"), "{said}");
}
