//! Tests that reading stops soon after the user asks for it, for all inputs.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::gzip;
use crate::source::Ingest;
use callsieve_engine::context::{Context, Quiet};
use callsieve_engine::fixture::assert_stops_wherever_it_is_asked_to;
use callsieve_engine::folder::RunFolder;
use callsieve_engine::frame::{Values, write_frame};
use callsieve_engine::runner;

const N_ROWS: usize = 300;

fn rows() -> Vec<Value> {
    let row = |at| json!({"query": format!("How many herons nest in marsh {at}?"), "functions": r#"[{"name": "herons"}]"#});
    (0..N_ROWS).map(row).collect()
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// Reads these files until it is stopped; checks for cancellation at least `n` times.
fn assert_stops(files: &[(&str, Vec<u8>)], settings: &Ingest, n_asked: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, content) in files {
        std::fs::write(path(name), content).unwrap();
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    assert_paths_stop(&names.join(", "), names.iter().map(|name| path(name)).collect(), settings, n_asked);
}

fn assert_paths_stop(name: &str, inputs: Vec<PathBuf>, settings: &Ingest, n_asked: usize) {
    let ingest = Ingest { inputs, ..settings.clone() };
    // On one thread it checks equally often each time.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_stops_wherever_it_is_asked_to(name, n_asked as u64, |cancel| {
        let out = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&out.path().join("run"))?;
        let cx = Context::new(1, cancel, &Quiet);
        pool.install(|| runner::run(&folder, &ingest, &[], &cx).map(drop))
    });
}

#[test]
fn reading_text_files_stops_at_any_line() {
    let rows = rows();
    let pretty: String = rows.iter().map(|row| format!("{row:#}\n")).collect();
    let table = |delimiter: &str| -> String {
        let line = |at| {
            format!("How many herons nest in marsh {at}?{delimiter}\"[{{\"\"name\"\": \"\"herons\"\"}}]\"\n")
        };
        format!("query{delimiter}functions\n{}", (0..N_ROWS).map(line).collect::<String>())
    };
    for (name, content) in [
        ("log.jsonl", lines(&rows).into_bytes()),
        ("array.json", json!(rows).to_string().into_bytes()),
        ("pretty.json", pretty.into_bytes()),
        ("log.csv", table(",").into_bytes()),
        ("log.tsv", table("\t").into_bytes()),
        ("log.jsonl.gz", gzip(&lines(&rows))),
        ("log.jsonl.zst", zstd::encode_all(lines(&rows).as_bytes(), 1).unwrap()),
    ] {
        assert_stops(&[(name, content)], &Ingest::default(), N_ROWS);
    }
}

#[test]
fn reading_stops_inside_a_line_that_is_too_long() {
    const N_MIB: usize = 12;
    let long = vec![b'x'; N_MIB << 20];
    let row = lines(&rows()[..1]);
    let after = |first: &[u8]| [first, &long].concat();
    let settings = Ingest { max_line_bytes: 1000, ..Ingest::default() };
    for (name, content) in [
        ("log.jsonl", after(row.as_bytes())),
        ("log.csv", after(b"query,functions\nRing.,\"[{\"\"name\"\": \"\"ring\"\"}]\"\n\"")),
        ("log.jsonl.zst", zstd::encode_all(&after(row.as_bytes())[..], 1).unwrap()),
        // What follows a damaged member is only hashed.
        ("log.jsonl.gz", after(&[gzip(&row), vec![0x1f, 0x8b, 0]].concat())),
    ] {
        assert_stops(&[(name, content)], &settings, N_MIB);
    }
}

#[test]
fn reading_a_parquet_table_stops_at_any_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.parquet");
    let queries: Vec<String> = (0..N_ROWS).map(|at| format!("How many herons nest in marsh {at}?")).collect();
    let queries = Values::Text(queries.iter().map(|query| Some(query.as_str())).collect());
    let docs = Values::Text(vec![Some(r#"[{"name": "herons"}]"#); N_ROWS]);
    write_frame(&path, vec![("query", queries), ("functions", docs)]).unwrap();
    assert_paths_stop("log.parquet", vec![path], &Ingest::default(), 2 * N_ROWS);
}

#[test]
fn sampling_and_joining_answers_stops_at_any_row() {
    let sampled = Ingest { sample_rows: Some(100), ..Ingest::default() };
    assert_stops(&[("log.jsonl", lines(&rows()).into_bytes())], &sampled, N_ROWS + 100);
    let tool = json!({"type": "function", "function": {"name": "tide", "parameters": {}}});
    let request = |at: usize| {
        let messages = json!([{"role": "user", "content": format!("When is high tide in harbour {at}?")}]);
        json!({"custom_id": at.to_string(), "method": "POST", "url": "/v1/chat/completions",
            "body": {"model": "m", "messages": messages, "tools": [tool]}})
    };
    let answer = |at: usize| {
        let message = json!({"role": "assistant", "content": format!("In harbour {at} at noon.")});
        json!({"id": format!("answer-{at}"), "custom_id": at.to_string(), "error": null,
            "response": {"status_code": 200, "body": {"choices": [{"finish_reason": "stop", "message": message}]}}})
    };
    let of = |line: &dyn Fn(usize) -> Value| lines(&(0..N_ROWS).map(line).collect::<Vec<_>>()).into_bytes();
    assert_stops(&[("in.jsonl", of(&request)), ("out.jsonl", of(&answer))], &Ingest::default(), 3 * N_ROWS);
}
