//! Inputs on the Hugging Face hub: downloaded once, by the commit that the hub names. A server on this machine is the hub.

use std::path::Path;
use std::process::Output;

use callsieve_testkit::server::{Reply, Server};
use serde_json::json;

use crate::support::{callsieve, shown};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A hub with one dataset of two files of a log, and one that names a file outside of its folder.
fn hub() -> Server {
    let line = |query: &str| {
        let docs = r#"[{"name": "ring", "description": "Rings the bell of a tower."}]"#;
        format!("{}\n", json!({"query": query, "functions": docs}))
    };
    let files = [
        ("data/a%20b.jsonl", line("Ring the bell of the old tower.")),
        ("data/c.jsonl", line("Please ring at noon in the new tower.")),
    ];
    Server::start(move |request, _| {
        let path = request.path.split('?').next().unwrap_or_default();
        let listed = |names: &[&str]| {
            let siblings: Vec<_> = names.iter().map(|name| json!({"rfilename": name})).collect();
            Reply::new(200, json!({"sha": COMMIT, "siblings": siblings}).to_string())
        };
        match path {
            "/api/datasets/org/logs/revision/main" | "/api/datasets/org/logs/revision/v2" => {
                listed(&["README.md", "data/a b.jsonl", "data/c.jsonl"])
            }
            "/api/datasets/org/odd/revision/main" => listed(&["../../up.jsonl"]),
            path => match path.strip_prefix(&format!("/datasets/org/logs/resolve/{COMMIT}/")) {
                Some(name) => match files.iter().find(|(file, _)| *file == name) {
                    Some((_, text)) => Reply::new(200, text.clone()),
                    None => Reply::new(404, "Entry not found"),
                },
                None => Reply::new(404, "Repository not found"),
            },
        }
    })
}

fn call(folder: &Path, server: &Server, arguments: &[&str]) -> Output {
    let mut command = callsieve();
    command.current_dir(folder).env("CALLSIEVE_CACHE", folder.join("cache"));
    command.env("HF_ENDPOINT", &server.url).env("HF_TOKEN", "hf-x").args(arguments);
    command.output().unwrap()
}

#[test]
fn a_dataset_of_the_hub_is_read_and_downloaded_once() {
    let (server, folder) = (hub(), tempfile::tempdir().unwrap());
    let run = |out: &str, input: &str| {
        let output = call(folder.path(), &server, &["run", input, "--out", out]);
        assert!(output.status.success(), "{}", shown(&output));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = run("one", "hf://datasets/org/logs");
    let line = format!("downloading hf://datasets/org/logs@{COMMIT}/data/a b.jsonl");
    assert!(told.contains(&line), "{told}");
    let report = std::fs::read_to_string(folder.path().join("one/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["ingest"]["records"], 2);
    // The commit is in the paths of the inputs, so a reader of the run knows which data it was.
    let file = std::fs::read_to_string(folder.path().join("one/run.json")).unwrap();
    assert!(file.contains(&format!("org--logs/{COMMIT}/data/c.jsonl")), "{file}");
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some("Bearer hf-x")));
    let n_files = || server.requests().iter().filter(|request| request.path.contains("/resolve/")).count();
    assert_eq!(n_files(), 2);
    let told = run("two", "hf://datasets/org/logs@v2/data/c.jsonl");
    assert!(!told.contains("downloading") && n_files() == 2, "{told}");
    // A commit never changes: nothing is asked.
    run("three", "hf://datasets/org/logs");
    let cache = folder.path().join("cache/datasets/org--logs");
    std::fs::copy(cache.join("main.json"), cache.join(format!("{COMMIT}.json"))).unwrap();
    let n_requests = server.requests().len();
    run("four", &format!("hf://datasets/org/logs@{COMMIT}/data"));
    assert_eq!(server.requests().len(), n_requests);
    let inspected = call(folder.path(), &server, &["inspect", "hf://datasets/org/logs/data"]);
    assert!(shown(&inspected).contains("2 requests"), "{}", shown(&inspected));
}

#[test]
fn what_the_hub_lacks_and_names_outside_the_folder_are_refused() {
    let (server, folder) = (hub(), tempfile::tempdir().unwrap());
    for (input, expected) in [
        (
            "hf://datasets/org/none",
            "has no such dataset or revision\nhint: check the name; a private dataset needs HF_TOKEN",
        ),
        ("hf://datasets/org/logs@v9", "has no such dataset or revision"),
        (
            "hf://datasets/org/logs/dat",
            "the dataset has 3 files, and none is a data file of this name\nhint: ",
        ),
        ("hf://datasets/org/odd/../../up.jsonl", "lists a file outside the dataset"),
        (
            "hf://org/logs",
            "this names no dataset of the hub\nhint: an input on the hub is hf://datasets/OWNER/NAME",
        ),
    ] {
        let output = call(folder.path(), &server, &["run", input, "--out", "out"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{input}: {text}");
        assert!(text.contains(&format!("input {input}: ")) && text.contains(expected), "{input}: {text}");
    }
    assert!(!folder.path().join("out").exists() && !folder.path().join("up.jsonl").exists());
}

#[test]
fn a_benchmark_on_the_hub_is_downloaded_with_its_answers() {
    const QUESTIONS: &str = "live/BFCL_v4_live_simple.json";
    let function = json!({"name": "ring", "description": "Rings the bell of a tower.", "parameters":
        {"type": "dict", "required": ["tower"], "properties": {"tower": {"type": "string"}, "times": {"type": "integer"}}}});
    let question = json!({"id": "live_simple_0-0-0", "function": [function],
        "question": [[{"role": "user", "content": "Ring the bell of the crooked tower at Lindholm eleven times tonight."}]]});
    let answer = json!({"id": "live_simple_0-0-0",
        "ground_truth": [{"ring": {"tower": ["the crooked tower at Lindholm"], "times": [11]}}]});
    let server = Server::start(move |request, _| {
        let path = request.path.split('?').next().unwrap_or_default();
        let resolved = format!("/datasets/org/bench/resolve/{COMMIT}/live/");
        match path.strip_prefix(&resolved) {
            Some("BFCL_v4_live_simple.json") => Reply::new(200, format!("{question}\n")),
            Some("possible_answer/BFCL_v4_live_simple.json") => Reply::new(200, format!("{answer}\n")),
            _ if path == "/api/datasets/org/bench/revision/main" => {
                let files = [QUESTIONS, "live/possible_answer/BFCL_v4_live_simple.json"];
                let siblings: Vec<_> = files.iter().map(|name| json!({"rfilename": name})).collect();
                Reply::new(200, json!({"sha": COMMIT, "siblings": siblings}).to_string())
            }
            _ => Reply::new(404, "Repository not found"),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    // Only the call is that of the benchmark.
    let call_of = json!({"function": {"name": "ring", "arguments": "{\"tower\": \"the crooked tower at Lindholm\", \"times\": 11}"}});
    let row = json!({"messages": [{"role": "user", "content": "Please make some noise over there."},
        {"role": "assistant", "content": null, "tool_calls": [call_of]}]});
    std::fs::write(folder.path().join("train.jsonl"), format!("{row}\n")).unwrap();
    for (out, bench) in [
        ("file", format!("hf://datasets/org/bench/{QUESTIONS}")),
        ("all", "hf://datasets/org/bench".to_owned()),
    ] {
        let output = call(
            folder.path(),
            &server,
            &["audit", "--train", "train.jsonl", "--bench", &bench, "--out", out],
        );
        assert!(output.status.success(), "{}", shown(&output));
        let report = std::fs::read(folder.path().join(out).join("audit.json")).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        assert_eq!(
            (&report["total"]["entries"], &report["rows"]["contaminated"]),
            (&json!(1), &json!(1)),
            "{report}"
        );
    }
    let n_files = server.requests().iter().filter(|request| request.path.contains("/resolve/")).count();
    assert_eq!(n_files, 2);
}
