//! `callsieve evaluate --ask` against a scripted server: requests, resume, failures, keys, cost.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{callsieve, shown};
use serde_json::{Value, json};
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

    /// Returns the command that asks; tests add to it.
    fn command(&self, server: &str, model: &str) -> Command {
        let mut command = callsieve();
        command.current_dir(self.folder.path()).env("OPENAI_BASE_URL", server).env("OPENAI_API_KEY", KEY);
        command.args(["evaluate", "--dataset", "dataset", "--ask", model, "--save", "saved.jsonl", "--json"]);
        command
    }

    fn ask(&self, server: &Server, more: &[&str]) -> (String, Option<i32>) {
        self.run(self.command(&server.url, "gpt-4.1-mini").args(more))
    }

    fn run(&self, command: &mut Command) -> (String, Option<i32>) {
        let output = command.output().unwrap();
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
    assert!(
        text.contains("4 of 4 outputs are missing: the server refuses this key, model or address"),
        "{text}"
    );
    assert!(text.contains("HTTP status 401: bad key ***"), "{text}");
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
    assert_eq!((code, bench.saved().len()), (Some(3), 3), "{text}");
    assert!(text.contains("1 of 4 outputs are missing") && text.contains("live_simple_1-0-0: "), "{text}");
    assert!(!text.contains("schema_version"), "nothing is scored: {text}");
    let (text, code) = bench.ask(&server, &["--partial"]);
    assert_eq!((code, server.requests().len()), (Some(3), 5), "{text}");
    assert_eq!(scores(&text)["systems"][0]["correct"], 3);
    is_mended.store(true, std::sync::atomic::Ordering::Relaxed);
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!((code, server.requests().len()), (Some(0), 6), "{text}");
    assert_eq!(scores(&text)["systems"][0]["correct"], 4);
}

#[test]
fn a_file_of_other_requests_is_refused_and_stays() {
    let (bench, server) = (Bench::new(), Server::start(|request, _| right(request)));
    bench.ask(&server, &["--category", "live_simple"]);
    let before = fs::read(bench.path("saved.jsonl")).unwrap();
    for (more, expected) in [
        (
            &["--temperature", "0.7"][..],
            "to another request: of another temperature, --max-tokens, dataset or version",
        ),
        (&["--max-tokens", "9"], "to another request"),
        (&["--ask-mode", "fc"], "line 1 has an output of --ask-mode prompt, expected fc"),
        // Also where none of its entries is asked.
        (&["--temperature", "0.7", "--category", "live_irrelevance"], "to another request"),
    ] {
        let (text, code) = bench.ask(&server, more);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(expected) && text.contains("hint: give another file with --save"), "{text}");
    }
    let (text, code) = bench.run(&mut bench.command(&server.url, "gpt-5"));
    assert_eq!(code, Some(2));
    assert!(text.contains("has an output of the model \"gpt-4.1-mini\", expected \"gpt-5\""), "{text}");
    assert_eq!((fs::read(bench.path("saved.jsonl")).unwrap(), server.requests().len()), (before, 3));
    fs::write(bench.path("saved.jsonl"), "my only copy, in one line").unwrap();
    let (text, _) = bench.ask(&server, &[]);
    assert!(text.contains("line 1 is no output of a call with --ask"), "{text}");
    assert_eq!(fs::read_to_string(bench.path("saved.jsonl")).unwrap(), "my only copy, in one line");
}

#[test]
fn some_entries_can_be_asked_and_a_cost_is_not_passed() {
    let (bench, server) = (Bench::new(), Server::start(|request, _| right(request)));
    let (text, code) = bench.ask(&server, &["--category", "live_simple", "--limit", "2"]);
    assert_eq!((code, server.requests().len()), (Some(0), 2), "{text}");
    assert_eq!(scores(&text)["systems"][0]["n"], 2);
    // An output costs 0.00056 dollars, and two are in the file.
    for (max_cost, n_requests) in [("0.0011", 2), ("0.0018", 3), ("0.0018", 3)] {
        let (text, code) = bench.ask(&server, &["--max-cost", max_cost]);
        assert_eq!((code, server.requests().len()), (Some(3), n_requests), "{text}");
        assert!(
            text.contains("the next request may cost 0.000") && text.contains("and pass --max-cost"),
            "{text}"
        );
    }
    let (text, code) = bench.ask(&server, &["--max-cost", "1"]);
    assert_eq!((code, server.requests().len()), (Some(0), 4), "{text}");
    let (text, _) = bench.ask(&server, &["--category", "live_simple,rest"]);
    assert!(text.contains("hint: categories that can be asked: live_irrelevance, live_simple"), "{text}");
    let (text, code) = bench.run(bench.command(&server.url, "home-made").args(["--max-cost", "1"]));
    assert!(code == Some(2) && text.contains("hint: add it with --prices FILE"), "{text}");
}

#[test]
fn a_limit_of_cost_needs_tokens_and_scores_name_what_has_no_cost() {
    let reply = |request: &ReceivedRequest| {
        let content = format!("[tower.ring(bell={})]", bell(request));
        Reply::new(200, json!({"choices": [{"message": {"content": content}}]}).to_string())
    };
    let (bench, server) = (Bench::new(), Server::start(move |request, _| reply(request)));
    let (text, code) = bench.ask(&server, &["--max-cost", "1", "--concurrency", "1"]);
    assert_eq!((code, server.requests().len()), (Some(3), 1), "{text}");
    assert!(text.contains("the server reports no tokens, so --max-cost cannot be kept"), "{text}");
    // The next call knows it without another request.
    let (text, code) = bench.ask(&server, &["--max-cost", "1", "--concurrency", "1"]);
    assert_eq!((code, server.requests().len()), (Some(3), 1), "{text}");
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("warning: 3 outputs have no tokens, so the cost is higher"), "{text}");
    let cost = &scores(&text)["systems"][0]["cost"];
    assert_eq!((&cost["n"], &cost["without_tokens"]), (&json!(0), &json!(4)), "{cost}");

    let (bench, server) = (Bench::new(), Server::start(|request, _| right(request)));
    let (text, _) = bench.run(&mut bench.command(&server.url, "home-made"));
    assert_eq!(scores(&text)["systems"][0]["cost"]["without_price"], json!(["home-made"]), "{text}");
}

#[test]
fn a_server_that_wants_another_name_of_the_limit_gets_it_and_keeps_the_temperature() {
    let (bench, server) = (
        Bench::new(),
        Server::start(|request, _| {
            let body = request.json();
            assert_eq!(body["temperature"], 0.001);
            if body.get("max_tokens").is_some() {
                let message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
                return Reply::new(400, json!({"error": {"message": message}}).to_string());
            }
            assert_eq!(body["max_completion_tokens"], 50);
            right(request)
        }),
    );
    let (text, code) = bench.ask(&server, &["--max-tokens", "50", "--concurrency", "1"]);
    assert_eq!((code, server.requests().len()), (Some(0), 5), "{text}");
}

#[test]
fn settings_are_in_the_request_and_fields_of_the_reply_in_the_row() {
    let (bench, server) = (
        Bench::new(),
        Server::start(|request, _| {
            let content = format!("[tower.ring(bell={})]", bell(request));
            let body = json!({"model": "m", "choices": [{"finish_reason": "length", "message": {"content": content,
                "reasoning_content": "Hm."}}], "usage": {"prompt_tokens": 1000, "completion_tokens": 100,
                "prompt_tokens_details": {"cached_tokens": 600}}});
            Reply::new(200, body.to_string())
        }),
    );
    let more = ["--temperature", "default", "--max-tokens", "50", "--category", "live_simple"];
    let (text, code) = bench.ask(&server, &more);
    assert_eq!(code, Some(0), "{text}");
    let body = server.requests()[0].json();
    assert_eq!((body.get("temperature"), &body["max_tokens"]), (None, &json!(50)));
    let mut row = bench.saved().remove(0);
    assert!(row["latency"].as_f64().unwrap() > 0.0 && row["request"].as_str().unwrap().len() == 32, "{row}");
    let members = row.as_object_mut().unwrap();
    for key in ["id", "result", "latency", "request"] {
        members.remove(key);
    }
    assert_eq!(
        row,
        json!({"input_token_count": 1000, "output_token_count": 100, "cached_input_token_count": 600,
            "reasoning_content": "Hm.", "model": "gpt-4.1-mini", "function_calling": false, "finish_reason": "length"})
    );
    // 3 * (400 * 0.4 + 600 * 0.1 + 100 * 1.6) dollars for a million tokens.
    let usd = scores(&text)["systems"][0]["cost"]["usd"].as_f64().unwrap();
    assert!((usd - 0.00114).abs() < 1e-9, "{text}");
}

#[test]
fn a_server_that_repeats_the_key_does_not_get_it_into_a_file() {
    let (bench, server) = (
        Bench::new(),
        Server::start(|request, _| {
            let header = request.header("authorization").unwrap().to_owned();
            message(&json!({"content": format!("You sent {header}, bell {}", bell(request))}))
        }),
    );
    // `run` looks for the key in the file and in the messages.
    let (text, code) = bench.ask(&server, &["--verdicts", "v.jsonl"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(bench.saved()[0]["result"].as_str().unwrap().starts_with("You sent Bearer ***, bell"));
    assert!(!fs::read_to_string(bench.path("v.jsonl")).unwrap().contains(KEY));
}

#[test]
fn verdicts_do_not_replace_the_outputs_and_a_half_of_a_pair_loses_none() {
    let server = Server::start(|request, _| {
        let text =
            format!("{{\"choices\": [{{\"message\": {{\"content\": \"\\ud83d {}\"}}}}]}}", bell(request));
        Reply::new(200, text)
    });
    for (option, output) in [("--verdicts", "saved.jsonl"), ("--parquet", "./dataset/../saved.jsonl")] {
        let bench = Bench::new();
        let (text, code) = bench.ask(&server, &[option, output]);
        assert!(code == Some(2) && text.contains("this file is one of the inputs"), "{text}");
        assert_eq!(server.requests().len(), 0);
    }
    let bench = Bench::new();
    assert_eq!(bench.ask(&server, &[]).1, Some(0));
    assert!(bench.saved().iter().all(|row| row["result"].as_str().unwrap().starts_with("\u{fffd} ")));
}

#[test]
fn hopeless_servers_are_left_alone() {
    for (status, body, n_requests, expected) in [
        (404, "no such model", 1, "the server refuses this key, model or address"),
        (
            429,
            r#"{"error": {"code": "insufficient_quota"}}"#,
            1,
            "a limit of requests or the credit is used up",
        ),
        (
            400,
            r#"{"error": {"message": "Unsupported value: 'temperature'"}}"#,
            4,
            "hint: --temperature default",
        ),
        (200, r#"{"choices": [{}]}"#, 4, "the reply has no choice with a message"),
    ] {
        let (bench, server) = (Bench::new(), Server::start(move |_, _| Reply::new(status, body)));
        let (text, code) = bench.ask(&server, &["--concurrency", "1"]);
        assert_eq!(
            (code, server.requests().len()),
            (Some(if n_requests == 1 { 2 } else { 3 }), n_requests),
            "{text}"
        );
        assert!(text.contains(expected), "{text}");
        assert!(fs::read(bench.path("saved.jsonl")).unwrap().is_empty());
    }
}

#[test]
fn a_server_that_fails_again_and_again_is_not_asked_for_all() {
    let (bench, server) = (Bench::new(), Server::start(|_, _| Reply::new(501, "not today")));
    let question = fs::read_to_string(bench.path("dataset/BFCL_v4_live_irrelevance.json")).unwrap();
    let many: String = (0..30).map(|n| question.replace("_0-0-0", &format!("_{n}-0-0"))).collect();
    fs::write(bench.path("dataset/BFCL_v4_live_irrelevance.json"), many).unwrap();
    let (text, code) = bench.ask(&server, &["--concurrency", "1"]);
    assert_eq!((code, server.requests().len()), (Some(3), 5), "{text}");
    assert!(text.contains("33 of 33 outputs are missing: too many requests in a row failed"), "{text}");
    assert!(text.contains("and 2 more failed requests"), "{text}");
}

/// The server answers two requests and keeps the others waiting.
fn half_busy() -> Server {
    Server::start(|request, number| {
        if number >= 2 {
            std::thread::sleep(Duration::from_mins(10));
        }
        right(request)
    })
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_keeps_what_arrived_and_the_message_has_the_command_that_goes_on() {
    let (bench, server) = (Bench::new(), half_busy());
    let mut command = bench.command(&server.url, "gpt-4.1-mini");
    let child =
        command.args(["--concurrency", "1"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("two outputs and a third request", || server.requests().len() == 3);
    // Tests that a shell starts in the background ignore SIGINT.
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = shown(&output);
    assert_eq!((output.status.code(), bench.saved().len()), (Some(130), 2), "{text}");
    assert!(text.contains("2 of 4 outputs are missing: interrupted"), "{text}");
    assert!(text.contains("--save saved.jsonl --json --concurrency 1`; with --partial"), "{text}");
    let server = Server::start(|request, _| right(request));
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!((code, server.requests().len()), (Some(0), 2), "{text}");
}

#[cfg(unix)]
#[test]
fn a_killed_call_keeps_what_arrived_and_its_file_is_locked_until_then() {
    let (bench, server) = (Bench::new(), half_busy());
    let mut command = bench.command(&server.url, "gpt-4.1-mini");
    let mut child =
        command.args(["--concurrency", "1"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("two outputs and a third request", || server.requests().len() == 3);
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("another call writes its outputs to this file"), "{text}");
    child.kill().unwrap();
    child.wait().unwrap();
    let server = Server::start(|request, _| right(request));
    let (text, code) = bench.ask(&server, &[]);
    assert_eq!((code, server.requests().len()), (Some(0), 2), "{text}");
    assert_eq!(scores(&text)["systems"][0]["correct"], 4);
}

#[test]
fn as_many_requests_are_under_way_as_are_wanted() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let most = Arc::new(AtomicUsize::new(0));
    let (of_server, now) = (Arc::clone(&most), Arc::new(AtomicUsize::new(0)));
    let (bench, server) = (
        Bench::new(),
        Server::start(move |request, _| {
            of_server.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(300));
            now.fetch_sub(1, Ordering::SeqCst);
            right(request)
        }),
    );
    let question = fs::read_to_string(bench.path("dataset/BFCL_v4_live_irrelevance.json")).unwrap();
    let many: String = (0..30).map(|n| question.replace("_0-0-0", &format!("_{n}-0-0"))).collect();
    fs::write(bench.path("dataset/BFCL_v4_live_irrelevance.json"), many).unwrap();
    let (text, code) = bench.ask(&server, &["--concurrency", "12"]);
    assert_eq!((code, most.load(Ordering::SeqCst)), (Some(0), 12), "{text}");
}
