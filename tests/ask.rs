//! `toolsieve evaluate --ask` against a scripted server: requests, resume, failures, keys, cost.

// A test that cannot set itself up may fail where it stands.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[allow(dead_code, reason = "the unit tests of the client use all of it")]
#[path = "../src/llm/server.rs"]
mod server;
mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use server::{ReceivedRequest, Reply, Server};
use support::{shown, toolsieve};
use tempfile::TempDir;

const KEY: &str = "sk-not-a-real-key-52719";

/// A dataset of three entries that ring bell 0, 1 and 2, and one that fits no function.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        let function = json!({"name": "tower.ring", "description": "Rings a bell.", "parameters": {"type": "dict",
            "required": ["bell"], "properties": {"bell": {"type": "integer", "description": "Its number."}}}});
        let entry = |id: String, text: String| json!({"id": id, "question": [[{"role": "user", "content": text}]], "function": [function]});
        let rings: Vec<Value> =
            (0..3).map(|n| entry(format!("live_simple_{n}-0-0"), format!("Ring bell {n}."))).collect();
        let truths: Vec<Value> = (0..3)
            .map(|n| json!({"id": format!("live_simple_{n}-0-0"), "ground_truth": [{"tower.ring": {"bell": [n]}}]}))
            .collect();
        let none = entry("live_irrelevance_0-0-0".to_owned(), "How are you? Bell 9?".to_owned());
        fs::create_dir_all(this.path("dataset/possible_answer")).unwrap();
        for (name, rows) in [
            ("BFCL_v4_live_simple.json", &rings[..]),
            ("possible_answer/BFCL_v4_live_simple.json", &truths),
            ("BFCL_v4_live_irrelevance.json", &[none]),
        ] {
            let text = rows.iter().fold(String::new(), |mut text, row| {
                writeln!(text, "{row}").unwrap();
                text
            });
            fs::write(this.path(&format!("dataset/{name}")), text).unwrap();
        }
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ask(&self, server: &Server, more: &[&str]) -> (String, Option<i32>) {
        let output = toolsieve()
            .current_dir(self.folder.path())
            .env("OPENAI_BASE_URL", &server.url)
            .env("OPENAI_API_KEY", KEY)
            .args([
                "evaluate",
                "--dataset",
                "dataset",
                "--ask",
                "gpt-4.1-mini",
                "--save",
                "saved.jsonl",
                "--json",
            ])
            .args(more)
            .output()
            .unwrap();
        let text = shown(&output);
        assert!(!text.contains(KEY), "{text}");
        if let Ok(saved) = fs::read_to_string(self.path("saved.jsonl")) {
            assert!(!saved.contains(KEY), "{saved}");
        }
        (text, output.status.code())
    }

    fn saved(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("saved.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The last digit of the question.
fn bell(request: &ReceivedRequest) -> String {
    let body = request.json();
    let text = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    text.chars().rfind(char::is_ascii_digit).unwrap().to_string()
}

fn message(message: &Value) -> Reply {
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    Reply::new(200, body.to_string())
}

/// Rings the right bell, and none for the entry that fits no function.
fn right(request: &ReceivedRequest) -> Reply {
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let bell = bell(request);
    let text = if bell == "9" { "I am fine.".to_owned() } else { format!("[tower.ring(bell={bell})]") };
    message(&json!({"role": "assistant", "content": text}))
}

fn scores(text: &str) -> Value {
    let line =
        text.lines().find(|line| line.starts_with("{\"schema_version\"")).unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(line).unwrap()
}

#[test]
fn all_entries_are_asked_once_and_scored() {
    let (bench, server) = (Bench::new(), Server::start(|request, _| right(request)));
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!(code, Some(0), "{text}");
    let system = &scores(&text)["systems"][0];
    assert_eq!((&system["correct"], &system["n"]), (&json!(4), &json!(4)), "{text}");
    // 4 * (1000 * 0.4 + 100 * 1.6) dollars for a million tokens.
    assert!((system["cost"]["usd"].as_f64().unwrap() - 0.00224).abs() < 1e-9, "{system}");

    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].path.as_str()), (4, "/chat/completions"));
    let body = requests[0].json();
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are an expert in composing functions."), "{system}");
    assert!(
        system.contains("\"name\": \"tower.ring\",\n        \"description\": \"Rings a bell. Note that"),
        "{system}"
    );
    assert_eq!((&body["temperature"], &body["tools"]), (&json!(0.001), &Value::Null));

    let (text, code) = bench.ask(&server, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("0 outputs arrived, 4 were there before"), "{text}");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_model_with_function_calling_gets_tools_and_writes_underscores() {
    let (bench, server) = (
        Bench::new(),
        Server::start(|request, _| {
            assert_eq!(request.json()["tools"][0]["function"]["name"], "tower_ring");
            let (bell, call) = (
                bell(request),
                json!({"name": "tower_ring", "arguments": format!("{{\"bell\": {}}}", bell(request))}),
            );
            message(&if bell == "9" {
                json!({"role": "assistant", "content": "[tower_ring(bell=1)]"})
            } else {
                json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": call}]})
            })
        }),
    );
    let (text, code) = bench.ask(&server, &["--ask-mode", "fc"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(scores(&text)["systems"][0]["correct"], 4, "{text}");
}

#[test]
fn a_line_that_a_killed_call_left_is_asked_again() {
    let (bench, server) = (Bench::new(), Server::start(|request, _| right(request)));
    bench.ask(&server, &[]);
    let text = fs::read_to_string(bench.path("saved.jsonl")).unwrap();
    fs::write(bench.path("saved.jsonl"), &text[..text.len() - 20]).unwrap();
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 output arrived, 3 were there before"), "{text}");
    assert_eq!((server.requests().len(), bench.saved().len()), (5, 4));
}

#[test]
fn busy_and_broken_servers_are_asked_again() {
    let (bench, server) = (
        Bench::new(),
        Server::start(|request, number| match number {
            0 => Reply::new(429, r#"{"error": {"message": "slow down"}}"#).header("retry-after", 0),
            1 => Reply::new(503, "busy").header("retry-after", 0),
            2 => message(&json!({"role": "assistant", "content": "[]"})).cut(10),
            _ => right(request),
        }),
    );
    let (text, code) = bench.ask(&server, &["--concurrency", "1"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(
        (scores(&text)["systems"][0]["correct"].as_i64(), server.requests().len()),
        (Some(4), 7),
        "{text}"
    );
}

#[test]
fn a_refused_key_stops_at_once() {
    let (bench, server) = (
        Bench::new(),
        Server::start(|_, _| Reply::new(401, format!("{{\"error\": {{\"message\": \"bad key {KEY}\"}}}}"))),
    );
    let (text, code) = bench.ask(&server, &["--concurrency", "1"]);
    assert_eq!((code, server.requests().len()), (Some(2), 1), "{text}");
    assert!(text.contains("4 of 4 outputs are missing: the server refuses this key or model"), "{text}");
    assert!(text.contains("hint: check OPENAI_BASE_URL, OPENAI_API_KEY"), "{text}");
}

#[test]
fn a_failed_request_is_no_output_and_is_asked_by_the_next_call() {
    let is_mended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let of_server = std::sync::Arc::clone(&is_mended);
    let (bench, server) = (
        Bench::new(),
        Server::start(move |request, _| {
            let is_mended = of_server.load(std::sync::atomic::Ordering::Relaxed);
            if bell(request) == "1" && !is_mended {
                Reply::new(400, r#"{"error": "too long"}"#)
            } else {
                right(request)
            }
        }),
    );
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!((code, bench.saved().len()), (Some(2), 3), "{text}");
    assert!(text.contains("1 of 4 outputs are missing") && text.contains("live_simple_1-0-0: "), "{text}");
    is_mended.store(true, std::sync::atomic::Ordering::Relaxed);
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!((code, server.requests().len()), (Some(0), 5), "{text}");
    assert_eq!(scores(&text)["systems"][0]["correct"], 4);
}

#[test]
fn a_file_of_other_requests_is_refused() {
    let (bench, server) = (Bench::new(), Server::start(|request, _| right(request)));
    bench.ask(&server, &[]);
    let (text, code) = bench.ask(&server, &["--temperature", "0.7"]);
    assert_eq!((code, server.requests().len()), (Some(2), 4), "{text}");
    assert!(text.contains("to another request: of another model, mode, temperature or dataset"), "{text}");
    fs::write(bench.path("saved.jsonl"), "{\"id\": \"live_simple_0-0-0\", \"result\": \"[]\"}\n").unwrap();
    let (text, _) = bench.ask(&server, &[]);
    assert!(text.contains("line 1 is no output of a call with --ask"), "{text}");
}

#[test]
fn some_entries_can_be_asked_and_a_cost_is_not_passed() {
    let (bench, server) = (Bench::new(), Server::start(|request, _| right(request)));
    let (text, code) = bench.ask(&server, &["--category", "live_simple", "--limit", "2"]);
    assert_eq!((code, server.requests().len()), (Some(0), 2), "{text}");
    assert_eq!(scores(&text)["systems"][0]["n"], 2);
    let (text, code) = bench.ask(&server, &["--max-cost", "0.0001", "--concurrency", "1"]);
    assert_eq!((code, server.requests().len()), (Some(2), 3), "{text}");
    assert!(text.contains("the next requests may pass --max-cost 0.0001"), "{text}");
    let (text, _) = bench.ask(&server, &["--category", "rest"]);
    assert!(text.contains("hint: categories that can be asked: live_irrelevance, live_simple"), "{text}");
    let (text, _) = bench.ask(&server, &["--max-cost", "1", "--ask", "home-made"]);
    assert!(text.contains("the argument '--ask <MODEL>' cannot be used multiple times"), "{text}");
}
