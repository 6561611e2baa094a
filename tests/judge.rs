//! Runs whose judge is a language model, against a scripted server: nothing lost, nothing paid twice, no key in any file.

// A test that cannot set itself up may fail where it stands.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[allow(dead_code, reason = "the unit tests of the client use all of it")]
#[path = "../src/llm/server.rs"]
mod server;
mod support;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use server::{ReceivedRequest, Reply, Server};
use support::{assert_same_bytes, shown, stable_bytes, toolsieve};
use tempfile::TempDir;

const KEY: &str = "sk-not-a-real-key-83046";

const PIPELINE: &str = r#"
name = "judged"
max_fault_share = 0.5

[[stages]]
kind = "redact"

[[stages]]
kind = "redact-docs"

[[stages]]
kind = "collapse-conversations"

[[stages]]
kind = "parse-docs"

[[stages]]
kind = "judge-queries"
judge = "llm"
model = "gpt-4.1-mini"
"#;

/// A log of requests to ring bells, a pipeline that judges them, and a cache of its own.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(n_requests: usize) -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        let function = json!({"name": "ring_bell", "description": "Rings a bell of the tower.", "parameters": {"type": "dict",
            "required": ["bell"], "properties": {"bell": {"type": "integer", "description": "Its number."}}}});
        let log = (0..n_requests).fold(String::new(), |mut log, n| {
            let text = if n % 3 == 0 { format!("Sing song {n}") } else { format!("Ring bell {n}") };
            writeln!(log, "{}", json!({"query": text, "functions": [function]})).unwrap();
            log
        });
        fs::write(this.path("log.jsonl"), log).unwrap();
        fs::write(this.path("judged.toml"), PIPELINE).unwrap();
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, server: &str, arguments: &[&str]) -> Command {
        let mut command = toolsieve();
        command.current_dir(self.folder.path()).env("OPENAI_BASE_URL", server).env("OPENAI_API_KEY", KEY);
        command.env("TOOLSIEVE_CACHE", self.path("caches")).args(arguments);
        command
    }

    fn call(&self, server: &str, arguments: &[&str]) -> Output {
        let output = self.command(server, arguments).output().unwrap();
        assert!(!shown(&output).contains(KEY), "{}", shown(&output));
        output
    }

    /// Runs into a folder, and returns the exit code.
    fn run(&self, server: &Server, out: &str, more: &[&str]) -> Option<i32> {
        let mut arguments = vec!["run", "judged.toml", "log.jsonl", "--out", out];
        arguments.extend(more);
        let output = self.call(&server.url, &arguments);
        let code = output.status.code();
        assert!(code == Some(0) || code == Some(1) || code == Some(3), "{}", shown(&output));
        code
    }

    fn report(&self, out: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(out).join("report.json")).unwrap()).unwrap()
    }

    fn usage(&self, out: &str) -> Value {
        self.report(out)["language_models"]["judge-queries"].clone()
    }

    /// Asserts that no file below the folder has the key.
    fn assert_no_key(&self) {
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    assert!(memchr_like(&bytes, KEY.as_bytes()).is_none(), "{}", path.display());
                }
            }
        }
    }
}

fn memchr_like(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The query of a request.
fn query(request: &ReceivedRequest) -> String {
    let body = request.json();
    let text = body["messages"][1]["content"].as_str().unwrap();
    text.lines().find_map(|line| line.strip_prefix("[user] ")).unwrap().to_owned()
}

/// Judges as a careful person would.
fn judged(request: &ReceivedRequest) -> Reply {
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let query = query(request);
    let (criterion, verdict) = if query.starts_with("Ring") {
        ("function-fits", "relevant")
    } else {
        ("no-function-fits", "irrelevant")
    };
    reply(&json!({"reason": "So.", "quote": query, "criterion": criterion, "verdict": verdict}).to_string())
}

fn reply(text: &str) -> Reply {
    let body = json!({"model": "gpt-4.1-mini", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    Reply::new(200, body.to_string())
}

/// Counts by query the replies that were sent whole.
#[derive(Clone, Default)]
struct Paid(Arc<Mutex<HashMap<String, usize>>>);

impl Paid {
    fn judged(&self, request: &ReceivedRequest) -> Reply {
        *self.0.lock().unwrap().entry(query(request)).or_default() += 1;
        judged(request)
    }

    fn counts(&self) -> BTreeMap<usize, usize> {
        let mut counts = BTreeMap::new();
        self.0.lock().unwrap().values().for_each(|n| *counts.entry(*n).or_default() += 1);
        counts
    }
}

/// A number from 0 to 99 that only the text decides.
fn chance(text: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text) % 100
}

fn clean_run(bench: &Bench, out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let server = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&server, out, &["--concurrency", "1"]), Some(0));
    stable_bytes(&bench.path(out))
}

#[test]
fn two_thousand_rows_with_injected_failures_lose_nothing_and_pay_for_nothing_twice() {
    let bench = Bench::new(2000);
    let (paid, tries) = (Paid::default(), Arc::new(Mutex::new(HashMap::<String, usize>::new())));
    let counted = paid.clone();
    // Every fifth request fails at first, each in one of several ways.
    let server = Server::start(move |request, _| {
        let query = query(request);
        let n = {
            let mut tries = tries.lock().unwrap();
            let n = tries.entry(query.clone()).or_default();
            *n += 1;
            *n
        };
        let kind = chance(&query);
        if n > 1 || kind >= 20 {
            return counted.judged(request);
        }
        match kind % 6 {
            0 => Reply::new(503, "<html>busy</html>"),
            1 => Reply::new(408, ""),
            2 => Reply::new(429, r#"{"detail": "slow down"}"#).header("retry-after-ms", 1),
            3 => Reply::new(200, judged_text(&query)).cut(40),
            4 => Reply::new(502, r#"{"error": {"message": "no upstream"}}"#),
            _ => Reply::new(200, "x").cut(0),
        }
    });
    assert_eq!(bench.run(&server, "out", &["--concurrency", "16"]), Some(0));
    assert_eq!(paid.counts(), BTreeMap::from([(1, 2000)]));
    let usage = bench.usage("out");
    assert_eq!(
        (&usage["arrived"], &usage["failed"], &usage["rows"]),
        (&json!(2000), &json!(0), &json!(2000))
    );
    let report = bench.report("out");
    assert_eq!(report["requests"]["kept"], 2000, "{}", report["requests"]);
    // The same bytes as without failures, one after the other; the second run into the folder sends nothing.
    let before = stable_bytes(&bench.path("out"));
    let n_sent = server.requests().len();
    assert_eq!(bench.run(&server, "other", &[]), Some(0));
    assert_eq!(server.requests().len(), n_sent);
    assert_eq!(bench.usage("other")["cached"], 2000);
    assert_same_bytes(&before, &stable_bytes(&bench.path("other")));
    bench.assert_no_key();
}

fn judged_text(query: &str) -> String {
    json!({"choices": [{"message": {"content": query}}]}).to_string()
}

#[test]
fn the_dataset_does_not_depend_on_the_order_in_which_answers_arrive() {
    let bench = Bench::new(60);
    let expected = clean_run(&bench, "one");
    fs::remove_dir_all(bench.path("caches")).unwrap();
    let server = Server::start(|request, _| {
        std::thread::sleep(Duration::from_millis(chance(&query(request))));
        judged(request)
    });
    assert_eq!(bench.run(&server, "two", &["--concurrency", "20"]), Some(0));
    assert_same_bytes(&expected, &stable_bytes(&bench.path("two")));
}

#[test]
fn a_killed_run_asks_only_for_what_is_missing() {
    const AT_ONCE: usize = 4;
    let bench = Bench::new(120);
    let paid = Paid::default();
    let counted = paid.clone();
    let server = Server::start(move |request, _| {
        std::thread::sleep(Duration::from_millis(5));
        counted.judged(request)
    });
    let arguments = ["run", "judged.toml", "log.jsonl", "--out", "out", "--concurrency", "4", "--quiet"];
    let mut n_killed = 0;
    for nth in 0..20 {
        let mut child = bench
            .command(&server.url, &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Between the start of the program and the last answer.
        std::thread::sleep(Duration::from_millis(20 + nth * 17));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            n_killed += 1;
        }
        child.wait().unwrap();
    }
    assert!(n_killed >= 3, "{n_killed}");
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    let n_replies: usize = paid.counts().into_iter().map(|(n, queries)| n * queries).sum();
    // What was under way when the program was killed is asked again.
    assert!((120..=120 + n_killed * AT_ONCE).contains(&n_replies), "{n_replies} replies, {n_killed} kills");
    let bytes = stable_bytes(&bench.path("out"));
    fs::remove_dir_all(bench.path("caches")).unwrap();
    assert_same_bytes(&clean_run(&bench, "clean"), &bytes);
}

#[test]
fn rows_without_an_answer_are_held_with_a_fault_and_asked_again_by_the_next_run() {
    let bench = Bench::new(30);
    let server = Server::start(|request, _| {
        if query(request).ends_with('7') {
            Reply::new(400, r#"{"error": {"message": "context_length_exceeded"}}"#)
        } else {
            judged(request)
        }
    });
    assert_eq!(
        bench.run(&server, "out", &["--set", "max_fault_share=0.05"]),
        Some(1),
        "the gate counts them"
    );
    let usage = bench.usage("out");
    assert_eq!((&usage["arrived"], &usage["failed"]), (&json!(27), &json!(3)), "{usage}");
    let held = bench.call(&server.url, &["held", "out", "--format", "jsonl"]);
    let text = shown(&held);
    let held: Vec<Value> = String::from_utf8(held.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(held.len(), 3, "{text}");
    assert!(held.iter().all(|row| row["reason"] == "relevance/no-judgement"), "{held:?}");
    let n_sent = server.requests().len();
    // The server is well again: only the three are sent, and all is as if nothing had failed.
    let well = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&well, "out", &["--set", "max_fault_share=0.05"]), Some(0));
    assert_eq!((server.requests().len(), well.requests().len()), (n_sent, 3));
    let bytes = stable_bytes(&bench.path("out"));
    fs::remove_dir_all(bench.path("caches")).unwrap();
    assert_same_bytes(&clean_run(&bench, "clean"), &bytes);
}

#[test]
fn a_limit_of_cost_holds_to_the_token() {
    let bench = Bench::new(50);
    let server = Server::start(|request, _| judged(request));
    // 1,000 tokens for 1 USD each million, and 100 of output for 10: 0.002 USD an answer. At most 400 of output: 0.005.
    let prices = "source = \"test\"\nas_of = \"2026-01-01\"\n[models]\n\"gpt-4.1-mini\" = { input = 1.0, output = 10.0 }\n";
    fs::write(bench.path("prices.toml"), prices).unwrap();
    let limit = 0.05;
    let arguments = ["--prices", "prices.toml", "--max-cost", "0.05", "--set", "max_fault_share=1"];
    assert_eq!(bench.run(&server, "out", &arguments), Some(0));
    let usage = bench.usage("out");
    let cost = usage["cost"].as_f64().unwrap();
    let n = server.requests().len();
    assert!(cost <= limit && cost > 0.6 * limit && n > 15, "{usage}");
    assert!((cost - f64::from(u32::try_from(n).unwrap()) * 0.002).abs() < 1e-9, "{usage}");
    assert_eq!(usage["not_sent"], 50 - n, "{usage}");
    // The rest, without a limit.
    assert_eq!(bench.run(&server, "out", &["--prices", "prices.toml"]), Some(0));
    assert_eq!(server.requests().len(), 50);
}

/// A reply that a person would judge like [`judged`], changed by a quirk.
fn quirky(request: &ReceivedRequest, change: impl Fn(&mut Value)) -> Reply {
    let query = query(request);
    let (criterion, verdict) = if query.starts_with("Ring") {
        ("function-fits", "relevant")
    } else {
        ("no-function-fits", "irrelevant")
    };
    let text =
        json!({"reason": "So.", "quote": query, "criterion": criterion, "verdict": verdict}).to_string();
    let mut body = json!({"id": "c", "object": "chat.completion", "created": 1_700_000_000, "model": "gpt-4.1-mini",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}});
    change(&mut body);
    Reply::new(200, body.to_string())
}

type Quirk = fn(&mut Value);

#[test]
fn every_quirk_of_a_reply_is_read() {
    let quirks: [(&str, Quirk); 14] = [
        ("another service_tier", |body| body["service_tier"] = json!("on_demand")),
        ("an empty finish_reason", |body| body["choices"][0]["finish_reason"] = json!("")),
        ("another finish_reason", |body| body["choices"][0]["finish_reason"] = json!("eos")),
        ("no finish_reason", |body| body["choices"][0]["finish_reason"] = Value::Null),
        ("no id", |body| _ = body.as_object_mut().unwrap().shift_remove("id")),
        ("a fraction as the time", |body| body["created"] = json!(1_700_000_000.5)),
        ("no tokens of output", |body| body["usage"]["completion_tokens"] = Value::Null),
        ("no usage", |body| _ = body.as_object_mut().unwrap().shift_remove("usage")),
        ("usage in other words", |body| body["usage"] = json!({"input_tokens": 10, "output_tokens": 5})),
        ("reasoning beside the answer", |body| {
            body["choices"][0]["message"]["reasoning_content"] = json!("Hm.")
        }),
        ("a call without a type", |body| {
            body["choices"][0]["message"]["tool_calls"] =
                json!([{"function": {"name": "f", "arguments": {"x": 1}}}]);
        }),
        ("content in parts", |body| {
            let text = body["choices"][0]["message"]["content"].clone();
            body["choices"][0]["message"]["content"] = json!([{"type": "text", "text": text}]);
        }),
        ("words around the answer", |body| {
            let text = body["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
            body["choices"][0]["message"]["content"] = json!(format!("Sure:\n```json\n{text}\n```\nDone."));
        }),
        ("no model", |body| _ = body.as_object_mut().unwrap().shift_remove("model")),
    ];
    let bench = Bench::new(2);
    for (name, change) in quirks {
        let server = Server::start(move |request, _| quirky(request, change));
        assert_eq!(bench.run(&server, "out", &["--fresh"]), Some(0), "{name}");
        let usage = bench.usage("out");
        assert_eq!((&usage["arrived"], &usage["unusable"]), (&json!(2), &json!(0)), "{name}: {usage}");
        assert_eq!(server.requests().len(), 2, "{name}");
        fs::remove_dir_all(bench.path("caches")).unwrap();
    }
}

#[test]
fn every_failure_that_can_pass_is_retried_and_others_are_not() {
    let in_past = "Thu, 29 Feb 2024 05:34:00 GMT";
    let once: [(&str, fn() -> Reply); 13] = [
        ("429 of OpenAI", || {
            Reply::new(
                429,
                r#"{"error": {"message": "Rate limit", "type": "requests", "code": "rate_limit_exceeded"}}"#,
            )
        }),
        ("429 as text", || Reply::new(429, "Too Many Requests")),
        ("429 with detail", || Reply::new(429, r#"{"detail": "slow down"}"#)),
        ("429 with a number as code", || Reply::new(429, r#"{"error": {"message": "slow", "code": 429}}"#)),
        ("503 as a page", || Reply::new(503, "<html><h1>503</h1></html>")),
        ("529", || {
            Reply::new(
                529,
                r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
            )
        }),
        ("408", || Reply::new(408, "")),
        ("409", || Reply::new(409, "")),
        ("425", || Reply::new(425, "")),
        ("504", || Reply::new(504, "upstream request timeout")),
        ("a reply that is cut", || {
            Reply::new(200, r#"{"choices": [{"message": {"content": "abc"}}]}"#).cut(20)
        }),
        ("no reply at all", || Reply::new(200, "x").cut(0)),
        ("an error with status 200", || {
            Reply::new(200, r#"{"error": {"message": "no upstream", "code": 502}}"#)
        }),
    ];
    let bench = Bench::new(1);
    for (name, failure) in once {
        let server = Server::start(move |request, number| match number {
            0 => failure().header("retry-after", in_past),
            _ => judged(request),
        });
        assert_eq!(bench.run(&server, "out", &["--fresh"]), Some(0), "{name}");
        assert_eq!((server.requests().len(), &bench.usage("out")["arrived"]), (2, &json!(1)), "{name}");
        fs::remove_dir_all(bench.path("caches")).unwrap();
    }
    let never: [(&str, fn() -> Reply, i32); 5] = [
        (
            "no credit",
            || {
                Reply::new(
                    429,
                    r#"{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}"#,
                )
            },
            3,
        ),
        ("a wrong key", || Reply::new(401, "<html>401</html>"), 3),
        ("a page of another site", || Reply::new(200, "<html>Welcome</html>"), 1),
        (
            "too long",
            || Reply::new(400, r#"{"error": {"code": "context_length_exceeded", "message": "long"}}"#),
            1,
        ),
        ("an error with status 200 and no code", || Reply::new(200, r#"{"error": "overloaded"}"#), 1),
    ];
    for (name, failure, code) in never {
        let server = Server::start(move |_, _| failure());
        assert_eq!(
            bench.run(&server, "out", &["--fresh", "--set", "max_fault_share=0.1"]),
            Some(code),
            "{name}"
        );
        assert_eq!(server.requests().len(), 1, "{name}");
    }
}

#[test]
fn a_model_with_reasoning_gets_room_to_think_and_its_own_name_of_the_limit() {
    let bench = Bench::new(3);
    let server = Server::start(|request, _| {
        let body = request.json();
        assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none(), "{body}");
        assert_eq!(body["max_completion_tokens"], 4400);
        judged(request)
    });
    assert_eq!(bench.run(&server, "out", &["--set", "judge-queries.model=o4-mini"]), Some(0));
    assert_eq!(server.requests().len(), 3);
    let usage = bench.usage("out");
    assert_eq!(usage["estimated_output_tokens"], 3 * (80 + 500), "{usage}");
    assert!(usage["estimated_batch_cost"].as_f64().unwrap() < usage["estimated_cost"].as_f64().unwrap());
}

/// A server with limits of requests and of tokens for a window of time, which it reports in its headers. It counts requests
/// above a limit, and refuses them.
struct Limited {
    requests: f64,
    tokens: f64,
    window: Duration,
    /// Refills all the time, and not all at once.
    is_steady: bool,
    state: Mutex<LimitedState>,
}

struct LimitedState {
    left: [f64; 2],
    since: std::time::Instant,
    served: usize,
    refused: usize,
}

impl Limited {
    fn new(requests: f64, tokens: f64, window: Duration, is_steady: bool) -> Arc<Self> {
        let since = std::time::Instant::now();
        let state = LimitedState { left: [requests, tokens], since, served: 0, refused: 0 };
        Arc::new(Self { requests, tokens, window, is_steady, state: Mutex::new(state) })
    }

    fn answer(&self, request: &ReceivedRequest) -> Reply {
        // As OpenAI counts: what the request may take at most.
        let used = [1.0, (request.body.len() / 4) as f64 + 400.0];
        let mut state = self.state.lock().unwrap();
        let (limits, window) = ([self.requests, self.tokens], self.window.as_secs_f64());
        let passed = state.since.elapsed().as_secs_f64();
        if self.is_steady || passed >= window {
            for (left, limit) in state.left.iter_mut().zip(limits) {
                *left = if self.is_steady { (*left + passed / window * limit).min(limit) } else { limit };
            }
            state.since = std::time::Instant::now();
        }
        let fits = state.left.iter().zip(used).all(|(left, used)| *left >= used);
        if fits {
            state.left.iter_mut().zip(used).for_each(|(left, used)| *left -= used);
            state.served += 1;
        } else {
            state.refused += 1;
        }
        let left = state.left;
        let reset = |at: usize| {
            if self.is_steady {
                (limits[at] - left[at]) / limits[at] * window
            } else {
                window - state.since.elapsed().as_secs_f64()
            }
        };
        let reply =
            if fits { judged(request) } else { Reply::new(429, "slow down").header("retry-after-ms", 50) };
        reply
            .header("x-ratelimit-limit-requests", limits[0])
            .header("x-ratelimit-remaining-requests", left[0].floor())
            .header("x-ratelimit-reset-requests", format!("{:.0}ms", reset(0) * 1000.0))
            .header("x-ratelimit-limit-tokens", limits[1])
            .header("x-ratelimit-remaining-tokens", left[1].floor())
            .header("x-ratelimit-reset-tokens", format!("{:.0}ms", reset(1) * 1000.0))
    }
}

#[test]
fn limits_of_requests_and_tokens_are_kept_without_a_refusal() {
    let second = Duration::from_millis(1000);
    // A request takes about 1,000 tokens, so requests are scarce first, then tokens.
    for (requests, tokens, is_steady) in
        [(20.0, 1e6, false), (20.0, 1e6, true), (1e6, 20_000.0, false), (1e6, 20_000.0, true)]
    {
        let bench = Bench::new(60);
        let limited = Limited::new(requests, tokens, second, is_steady);
        let of_server = Arc::clone(&limited);
        let server = Server::start(move |request, _| of_server.answer(request));
        assert_eq!(bench.run(&server, "out", &["--concurrency", "8"]), Some(0));
        let case = format!("{requests} requests, {tokens} tokens, steady: {is_steady}");
        let (served, refused) = {
            let state = limited.state.lock().unwrap();
            (state.served, state.refused)
        };
        assert_eq!((served, refused), (60, 0), "{case}");
    }
}

#[test]
fn a_refused_key_stops_the_run_and_a_missing_one_is_found_before_it_begins() {
    let bench = Bench::new(10);
    let server = Server::start(|_, _| {
        Reply::new(401, format!(r#"{{"error": {{"message": "bad key {KEY}", "code": 401}}}}"#))
    });
    assert_eq!(bench.run(&server, "out", &["--concurrency", "1"]), Some(3));
    assert_eq!(server.requests().len(), 1);
    bench.assert_no_key();
    let arguments = ["run", "judged.toml", "log.jsonl", "--out", "none"];
    let mut command = bench.command("", &arguments);
    let output = command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").output().unwrap();
    let text = shown(&output);
    assert!(output.status.code() == Some(2) && text.contains("OPENAI_API_KEY is not set\nhint: "), "{text}");
    assert!(!bench.path("none").exists());
    // The price of the model is not known.
    let more = ["--set", "judge-queries.model=nobody-knows-it", "--max-cost", "1"];
    let output = bench.call(&server.url, &[&arguments[..], &more].concat());
    assert!(
        output.status.code() == Some(2) && shown(&output).contains("--prices FILE"),
        "{}",
        shown(&output)
    );
}

#[test]
fn a_server_that_refuses_a_part_of_the_request_gets_it_without() {
    let bench = Bench::new(20);
    let refusals = [
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ("response_format", "json_schema is not supported"),
        ("temperature", "Unsupported value: 'temperature' does not support 0"),
    ];
    let server = Server::start(move |request, _| {
        let body = request.json();
        match refusals.iter().find(|(key, _)| body.get(*key).is_some()) {
            Some((_, message)) => Reply::new(400, json!({"error": {"message": message}}).to_string()),
            None => judged(request),
        }
    });
    assert_eq!(bench.run(&server, "out", &["--concurrency", "1"]), Some(0));
    assert_eq!(server.requests().len(), 20 + refusals.len());
    // The request that the cache knows is the one that was meant.
    let other = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&other, "again", &[]), Some(0));
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn the_judge_is_measured_against_labels() {
    let bench = Bench::new(30);
    clean_run(&bench, "out");
    let rows = fs::read_to_string(bench.path("log.jsonl")).unwrap();
    // As the model judges, but for two of twenty rings.
    let labels = rows.lines().enumerate().fold(String::new(), |mut labels, (n, _)| {
        let label = if n % 3 == 0 || n == 1 || n == 2 { "irrelevant" } else { "relevant" };
        writeln!(labels, "{}", json!({"id": format!("log.jsonl-{n}"), "label": label})).unwrap();
        labels
    });
    fs::write(bench.path("labels.jsonl"), labels).unwrap();
    let arguments = ["calibrate", "--run", "out", "--labels", "labels.jsonl", "--agreement"];
    let output = bench.call("", &arguments);
    assert!(
        output.status.code() == Some(2) && shown(&output).contains("none of the 30 labels"),
        "{}",
        shown(&output)
    );
    let log = rows.lines().enumerate().fold(String::new(), |mut log, (n, line)| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["id"] = json!(format!("log.jsonl-{n}"));
        writeln!(log, "{row}").unwrap();
        log
    });
    fs::write(bench.path("log.jsonl"), log).unwrap();
    fs::remove_dir_all(bench.path("out")).unwrap();
    clean_run(&bench, "out");
    let text = shown(&bench.call("", &arguments));
    let row = text
        .lines()
        .find(|line| line.starts_with("judged by gpt-4.1-mini"))
        .unwrap_or_else(|| panic!("{text}"));
    // 18 of 20 that are judged relevant, 10 of 10 irrelevant; kappa is (28/30 - 16/30) / (14/30) with 18 and 20 relevant.
    for expected in ["30", "100.0 %", "93.3 %", "90.0 %", "0.857"] {
        assert!(row.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn a_batch_gives_the_same_dataset_as_the_server() {
    let bench = Bench::new(40);
    let expected = clean_run(&bench, "asked");
    fs::remove_dir_all(bench.path("caches")).unwrap();
    let export = ["batch", "export", "judged.toml", "log.jsonl"];
    let output = bench.command("", &export).env_remove("OPENAI_API_KEY").output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let requests = String::from_utf8(output.stdout).unwrap();
    assert_eq!(requests.lines().count(), 40);
    let mut answers: Vec<String> = requests
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = line["body"]["messages"][1]["content"].as_str().unwrap();
            let query = text.lines().find_map(|line| line.strip_prefix("[user] ")).unwrap();
            let (criterion, verdict) = if query.starts_with("Ring") {
                ("function-fits", "relevant")
            } else {
                ("no-function-fits", "irrelevant")
            };
            let text = json!({"reason": "So.", "quote": query, "criterion": criterion, "verdict": verdict}).to_string();
            json!({"custom_id": line["custom_id"], "response": {"status_code": 200, "body": {"model": "gpt-4.1-mini",
                "choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}}})
            .to_string()
        })
        .collect();
    // In another order, in two files, one line of them a failure.
    answers.reverse();
    fs::write(bench.path("a.jsonl"), answers[..10].join("\n")).unwrap();
    let last: Value = serde_json::from_str(&answers[39]).unwrap();
    let failed = json!({"custom_id": last["custom_id"], "response": null, "error": {"message": "expired"}})
        .to_string();
    fs::write(bench.path("b.jsonl"), answers[10..39].join("\n") + "\n" + &failed).unwrap();
    let imported = bench.call("", &["batch", "import", "a.jsonl", "b.jsonl"]);
    assert!(shown(&imported).contains("39 answers into the cache, 1 failed"), "{}", shown(&imported));
    let run = ["run", "judged.toml", "log.jsonl", "--out", "cached", "--cache-only"];
    assert!(bench.call("", &run).status.success());
    assert_eq!(bench.usage("cached")["not_sent"], 1);
    fs::write(bench.path("c.jsonl"), &answers[39]).unwrap();
    assert!(bench.call("", &["batch", "import", "c.jsonl"]).status.success());
    assert!(bench.call("", &run).status.success());
    assert_same_bytes(&expected, &stable_bytes(&bench.path("cached")));
}

/// A batch service: files, batches, and what the test does with them.
#[derive(Clone, Default)]
struct BatchService(Arc<Mutex<Served>>);

#[derive(Default)]
struct Served {
    /// Content by number: `file-N`.
    files: Vec<String>,
    /// Batches by number: `batch_N`.
    batches: Vec<Value>,
    /// The next request for a batch is accepted, and its response gets lost.
    loses_response: bool,
    /// Requests that were paid for, by id.
    paid: HashMap<String, usize>,
}

impl BatchService {
    fn start(&self) -> Server {
        let this = self.clone();
        Server::start(move |request, _| this.answer(request))
    }

    fn served(&self) -> std::sync::MutexGuard<'_, Served> {
        self.0.lock().unwrap()
    }

    fn answer(&self, request: &ReceivedRequest) -> Reply {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        let mut served = self.served();
        let parts: Vec<&str> = request.path.split(['/', '?']).filter(|part| !part.is_empty()).collect();
        match (request.body.is_empty(), &parts[..]) {
            (false, ["files"]) => {
                assert!(
                    request.header("content-type").unwrap().starts_with("multipart/form-data; boundary=")
                );
                let content: String =
                    request.body.split_inclusive('\n').filter(|line| line.starts_with('{')).collect();
                assert!(request.body.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{}", request.body);
                served.files.push(content);
                Reply::new(
                    200,
                    json!({"id": format!("file-{}", served.files.len() - 1), "object": "file"}).to_string(),
                )
            }
            (false, ["batches"]) => {
                let body = request.json();
                assert_eq!(
                    (&body["endpoint"], &body["completion_window"]),
                    (&json!("/v1/chat/completions"), &json!("24h"))
                );
                let batch = json!({"id": format!("batch_{}", served.batches.len()), "object": "batch", "status": "validating",
                    "input_file_id": body["input_file_id"], "metadata": body["metadata"], "errors": null, "output_file_id": null});
                let file = number(&body["input_file_id"]);
                for line in served.files[file].clone().lines() {
                    let line: Value = serde_json::from_str(line).unwrap();
                    *served.paid.entry(line["custom_id"].as_str().unwrap().to_owned()).or_default() += 1;
                }
                served.batches.push(batch.clone());
                if std::mem::take(&mut served.loses_response) {
                    return Reply::new(200, batch.to_string()).cut(10);
                }
                Reply::new(200, batch.to_string())
            }
            (true, ["batches", id]) if id.starts_with("batch_") => {
                match served.batches.get(number(&json!(id))) {
                    Some(batch) => Reply::new(200, batch.to_string()),
                    None => Reply::new(404, r#"{"error": {"message": "no such batch"}}"#),
                }
            }
            (true, ["batches", ..]) => {
                let data: Vec<&Value> = served.batches.iter().rev().collect();
                Reply::new(200, json!({"object": "list", "data": data, "has_more": false}).to_string())
            }
            (true, ["files", id, "content"]) => Reply::new(200, served.files[number(&json!(id))].clone()),
            other => panic!("{other:?}: {}", request.path),
        }
    }

    /// Ends a batch: answers those of its requests that the test names, reports others as failed, and leaves out the rest.
    fn end(&self, batch: usize, status: &str, outcome: impl Fn(usize) -> Option<bool>) {
        let mut served = self.served();
        let file = number(&served.batches[batch]["input_file_id"]);
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        for (at, line) in served.files[file].lines().enumerate() {
            let line: Value = serde_json::from_str(line).unwrap();
            match outcome(at) {
                Some(true) => output.push(answered(&line)),
                Some(false) => errors.push(
                    json!({"custom_id": line["custom_id"], "response": {"status_code": 400, "body": {"error": {"message": "too long"}}}})
                        .to_string(),
                ),
                None => {}
            }
        }
        output.reverse();
        for (lines, key) in [(output, "output_file_id"), (errors, "error_file_id")] {
            if !lines.is_empty() {
                served.files.push(lines.join("\n") + "\n");
                served.batches[batch][key] = json!(format!("file-{}", served.files.len() - 1));
            }
        }
        served.batches[batch]["status"] = json!(status);
    }
}

/// The number at the end of an id.
fn number(id: &Value) -> usize {
    id.as_str().unwrap().rsplit(['-', '_']).next().unwrap().parse().unwrap()
}

/// The answer to a line of a batch file, under another name of the model.
fn answered(line: &Value) -> String {
    let text = line["body"]["messages"][1]["content"].as_str().unwrap();
    let query = text.lines().find_map(|line| line.strip_prefix("[user] ")).unwrap();
    let (criterion, verdict) = if query.starts_with("Ring") {
        ("function-fits", "relevant")
    } else {
        ("no-function-fits", "irrelevant")
    };
    let text =
        json!({"reason": "So.", "quote": query, "criterion": criterion, "verdict": verdict}).to_string();
    json!({"id": "batch_req_1", "custom_id": line["custom_id"], "error": null, "response": {"status_code": 200, "request_id": "r",
        "body": {"model": "gpt-4.1-mini-2025-04-14", "choices": [{"message": {"content": text}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9}}}})
    .to_string()
}

const SUBMIT: [&str; 4] = ["batch", "submit", "judged.toml", "log.jsonl"];

#[test]
fn a_submitted_batch_is_polled_and_gives_the_same_dataset_as_the_server() {
    let bench = Bench::new(40);
    let expected = clean_run(&bench, "asked");
    fs::remove_dir_all(bench.path("caches")).unwrap();
    let service = BatchService::default();
    let server = service.start();
    let call = |arguments: &[&str], code: i32| {
        let output = bench.call(&server.url, arguments);
        assert_eq!(output.status.code(), Some(code), "{}", shown(&output));
        shown(&output)
    };
    // 40 requests in batches of 15.
    let text = call(&[&SUBMIT[..], &["--max-requests", "15"]].concat(), 0);
    assert!(text.contains("batch_2: 10 requests to gpt-4.1-mini") && text.contains("cost at most"), "{text}");
    // Once more: nothing is sent twice, and a run does not ask what is under way.
    let text = call(&SUBMIT, 0);
    assert!(text.contains("40 requests in batches under way before"), "{text}");
    assert_eq!(bench.run(&server, "early", &["--set", "max_fault_share=1"]), Some(0));
    assert_eq!(bench.usage("early")["not_sent"], 40);
    let text = call(&["batch", "poll"], 0);
    assert!(text.contains("batch_0: 15 requests to gpt-4.1-mini: validating, 0 answered"), "{text}");

    // The first is answered, the second has failures and runs out, the third is refused.
    service.end(0, "completed", |_| Some(true));
    service.end(1, "expired", |at| (at < 9).then_some(at > 1));
    {
        let mut served = service.served();
        served.batches[2]["status"] = json!("failed");
        served.batches[2]["errors"] = json!({"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit", "line": null}]});
    }
    let text = call(&["batch", "poll"], 1);
    for expected in [
        "batch_0: 15 requests to gpt-4.1-mini: completed, 15 answers into the cache\n",
        "batch_1: 15 requests to gpt-4.1-mini: expired, 7 answers into the cache, 2 failed, 6 without an answer",
        "batch_1: the request failed: too long",
        "batch_2: 10 requests to gpt-4.1-mini: failed, 0 answers into the cache, 10 without an answer",
        "batch_2: Enqueued token limit",
        "hint: `toolsieve batch submit` sends requests without an answer again",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(call(&["batch", "poll"], 0).contains("no batches are under way"));
    // The rest in one batch, waited for.
    let waiting = service.clone();
    let ends = std::thread::spawn(move || {
        while waiting.served().batches.len() < 4 {
            std::thread::sleep(Duration::from_millis(20));
        }
        waiting.end(3, "completed", |_| Some(true));
    });
    let text = call(&[&SUBMIT[..], &["--wait", "--interval", "1"]].concat(), 0);
    ends.join().unwrap();
    assert!(text.contains("batch_3: 18 requests to gpt-4.1-mini: completed, 18 answers"), "{text}");
    let run = ["run", "judged.toml", "log.jsonl", "--out", "cached"];
    assert!(bench.call(&server.url, &run).status.success());
    assert_same_bytes(&expected, &stable_bytes(&bench.path("cached")));
    let stats = shown(&bench.call("", &["cache", "stats", "--json"]));
    assert!(stats.contains(r#""gpt-4.1-mini":{"replies":40"#) && !stats.contains("2025-04-14"), "{stats}");
    bench.assert_no_key();
}

#[test]
fn a_submission_that_is_interrupted_pays_for_no_request_twice() {
    let bench = Bench::new(30);
    let service = BatchService::default();
    let server = service.start();
    let submit = |n: usize| {
        let output = bench.call(&server.url, &[&SUBMIT[..], &["--max-requests", "10"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        let served = service.served();
        assert_eq!((served.paid.len(), served.batches.len()), (30, n), "{}", shown(&output));
        assert!(served.paid.values().all(|n| *n == 1), "{:?}", served.paid);
        shown(&output)
    };
    // The server accepted a batch, and its response got lost.
    service.served().loses_response = true;
    let text = submit(3);
    assert!(text.contains("batch_0: 10 requests"), "{text}");
    // It was killed after that, and before it noted the batch: as if the records had no batch yet.
    fs::remove_dir_all(bench.path("caches")).unwrap();
    *service.served() = Served::default();
    for kill_after in 0..12 {
        let mut child = bench
            .command(&server.url, &[&SUBMIT[..], &["--max-requests", "10"]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let n_files = |service: &BatchService| {
            let served = service.served();
            served.files.len() + served.batches.len()
        };
        let before = n_files(&service);
        while n_files(&service) < before + 1 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(kill_after));
        let _ = child.kill();
        child.wait().unwrap();
    }
    let output = bench.call(&server.url, &[&SUBMIT[..], &["--max-requests", "10"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let served = service.served();
    assert_eq!(served.paid.len(), 30);
    assert!(served.paid.values().all(|n| *n == 1), "{:?}", served.paid);
}

#[test]
fn a_batch_service_that_refuses_or_loses_batches_is_reported_with_a_way_on() {
    let bench = Bench::new(20);
    let none = Server::start(|_, _| Reply::new(404, "<html>not here</html>"));
    let output = bench.call(&none.url, &SUBMIT);
    let text = shown(&output);
    assert!(
        output.status.code() == Some(2) && text.contains("hint: the server may have no batch service"),
        "{text}"
    );
    let mut command = bench.command("", &SUBMIT);
    let output = command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").output().unwrap();
    assert!(
        output.status.code() == Some(2) && shown(&output).contains("OPENAI_API_KEY is not set"),
        "{}",
        shown(&output)
    );

    let service = BatchService::default();
    let server = service.start();
    // 400 tokens of output for 0.8 USD and about 900 of input for 0.2 USD each million.
    let output = bench.call(&server.url, &[&SUBMIT[..], &["--max-cost", "0.004"]].concat());
    let text = shown(&output);
    let n: usize = text.split("batch_0: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((6..12).contains(&n), "{text}");
    assert!(text.contains(&format!("{} requests left out", 20 - n)), "{text}");
    // Another server, and one that lost it.
    let other = Server::start(|_, _| Reply::new(404, r#"{"error": {"message": "no such batch"}}"#));
    let text = shown(&bench.call(&other.url, &["batch", "poll"]));
    assert!(text.contains(&format!("1 batch is under way on {}", server.url)), "{text}");
    service.served().batches.clear();
    let output = bench.call(&server.url, &["batch", "poll"]);
    let text = shown(&output);
    assert!(output.status.code() == Some(1) && text.contains("--forget batch_0 gives it up"), "{text}");
    assert_eq!(bench.call(&server.url, &["batch", "poll", "--forget", "batch_0"]).status.code(), Some(0));
    let text = shown(&bench.call(&server.url, &["batch", "poll"]));
    assert!(text.contains("no batches are under way"), "{text}");
    let text = shown(&bench.call(&server.url, &["batch", "poll", "--forget", "batch_0"]));
    assert!(text.contains("no batch batch_0 is under way\nhint: "), "{text}");
}

#[cfg(unix)]
#[test]
fn a_stopped_wait_leaves_the_batches_running_and_reports_how_to_go_on() {
    let bench = Bench::new(10);
    let service = BatchService::default();
    let server = service.start();
    let child = bench
        .command(&server.url, &[&SUBMIT[..], &["--wait"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while service.served().batches.is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = shown(&output);
    assert!(output.status.code() == Some(130), "{text}");
    assert!(
        text.contains("interrupted")
            && text.contains("hint: batches that were created go on; `toolsieve batch poll`"),
        "{text}"
    );
    service.end(0, "completed", |_| Some(true));
    let text = shown(&bench.call(&server.url, &["batch", "poll"]));
    assert!(text.contains("10 answers into the cache"), "{text}");
}

#[test]
fn a_plan_shows_requests_and_cost_and_sends_nothing() {
    let bench = Bench::new(40);
    let server = Server::start(|request, _| judged(request));
    let plan = |more: &[&str]| {
        let arguments = [&["plan", "judged.toml", "log.jsonl", "--cost", "--json"], more].concat();
        let output = bench.call(&server.url, &arguments);
        assert!(output.status.success(), "{}", shown(&output));
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        plan["stages"][0]["usage"].clone()
    };
    let before = plan(&[]);
    assert_eq!(
        (&before["requests"], &before["cached"], &before["rows"]),
        (&json!(40), &json!(0), &json!(40))
    );
    assert!(before["estimated_cost"].as_f64().unwrap() > 0.001, "{before}");
    assert_eq!(server.requests().len(), 0);
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    assert_eq!(plan(&[])["cached"], 40);
    // The rules decide the songs.
    let then = ["--set", "judge-queries.judge=rules-then-llm"];
    let rows = plan(&then)["rows"].as_u64().unwrap();
    assert!(rows < 40, "{rows}");
    assert!(!is_any_scratch_left(bench.folder.path()));
}

fn is_any_scratch_left(folder: &Path) -> bool {
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    fs::read_dir(folder).unwrap().any(|entry| name(entry.unwrap()).contains("toolsieve-plan"))
}

#[test]
fn the_cache_is_counted_exported_and_pruned() {
    let bench = Bench::new(5);
    let none = bench.call("", &["cache", "stats"]);
    assert!(none.status.success() && shown(&none).contains("no replies are stored"), "{}", shown(&none));
    clean_run(&bench, "out");
    let stats = bench.call("", &["cache", "stats", "--json"]);
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!(stats["models"]["gpt-4.1-mini"]["replies"], 5);
    let exported = bench.call("", &["cache", "export"]);
    assert_eq!(String::from_utf8(exported.stdout).unwrap().lines().count(), 5);
    for (arguments, expected) in [
        (&["--model", "other"][..], "removed 0 replies"),
        (&["--older-than", "1"], "removed 0 replies"),
        (&["--all"], "removed 5 replies"),
    ] {
        let pruned = bench.call("", &[&["cache", "prune"], arguments].concat());
        assert!(shown(&pruned).contains(expected), "{}", shown(&pruned));
    }
    let refused = bench.call("", &["cache", "prune"]);
    assert!(refused.status.code() == Some(2) && shown(&refused).contains("hint: "), "{}", shown(&refused));
}

/// Drafts for a request of the bench: the second model errs, and both leave out what they are not sure of.
fn drafted(request: &ReceivedRequest) -> Reply {
    let query = query(request);
    let bell: u64 = query.rsplit(' ').next().unwrap().parse().unwrap();
    let errs = request.json()["model"] == "second" && bell % 5 == 1;
    let arguments = json!({"bell": bell + u64::from(errs)}).to_string();
    let calls =
        if bell % 7 == 1 { json!([]) } else { json!([{"name": "ring_bell", "arguments": arguments}]) };
    reply(&json!({"reason": "So.", "calls": calls}).to_string())
}

#[test]
fn two_models_draft_the_answers_that_the_log_lacks() {
    let bench = Bench::new(60);
    let stages = r#"
[[stages]]
kind = "fix-docs"

[[stages]]
kind = "draft-answers"
models = ["first", "second"]

[[stages]]
kind = "verify-answers"

[[stages]]
kind = "split"

[export]
"#;
    fs::write(bench.path("judged.toml"), format!("{PIPELINE}{stages}")).unwrap();
    let is_draft = |request: &ReceivedRequest| request.json()["model"] != "gpt-4.1-mini";
    let server = Server::start(move |request, _| {
        if is_draft(request) && query(request) == "Ring bell 20" {
            Reply::new(400, r#"{"error": {"message": "context_length_exceeded"}}"#)
        } else if is_draft(request) {
            drafted(request)
        } else {
            judged(request)
        }
    });
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    // 40 of 60 ring; both models are asked about each.
    assert_eq!(server.requests().iter().filter(|request| is_draft(request)).count(), 80);
    let rings = || (0..60_u64).filter(|n| n % 3 != 0 && *n != 20);
    let without = rings().filter(|n| n % 7 == 1).count();
    let differ = rings().filter(|n| n % 7 != 1 && n % 5 == 1).count();
    let held = bench.call("", &["held", "out", "--format", "jsonl"]);
    let reasons =
        String::from_utf8(held.stdout).unwrap().lines().fold(BTreeMap::new(), |mut reasons, line| {
            let row: Value = serde_json::from_str(line).unwrap();
            *reasons.entry(row["reason"].as_str().unwrap().to_owned()).or_insert(0) += 1;
            reasons
        });
    let expected =
        [("answer/drafts-differ", differ), ("answer/no-call-drafted", without), ("answer/no-draft", 1)];
    assert_eq!(reasons, expected.map(|(reason, n)| (reason.to_owned(), n)).into());
    // What they agree on is exported, and not among the scored entries.
    let answers =
        fs::read_to_string(bench.path("out/dataset/unverified/possible_answer/BFCL_v4_live_simple.json"))
            .unwrap();
    assert_eq!(answers.lines().count(), rings().count() - without - differ);
    for line in answers.lines() {
        let calls: Value = serde_json::from_str(line).unwrap();
        assert!(calls["ground_truth"][0]["ring_bell"]["bell"][0].is_u64(), "{line}");
    }
    assert!(!bench.path("out/dataset/possible_answer/BFCL_v4_live_simple.json").exists());
    let report = bench.report("out");
    assert_eq!(report["entries"]["tier"]["agreed"], answers.lines().count(), "{}", report["entries"]);
    let usage = &report["language_models"]["draft-answers"];
    assert_eq!((&usage["arrived"], &usage["failed"]), (&json!(78), &json!(2)), "{usage}");
    // The next run asks again about the failed ones alone.
    let well =
        Server::start(move |request, _| if is_draft(request) { drafted(request) } else { judged(request) });
    assert_eq!(bench.run(&well, "out", &[]), Some(0));
    assert_eq!(well.requests().len(), 2);
}

/// Corrects the message of a request of the bench; errs in every fifth.
fn corrected(request: &ReceivedRequest) -> Reply {
    let query = query(request);
    let bell: u64 = query.rsplit(' ').next().unwrap().parse().unwrap();
    let text = format!("Please ring bell {}.", bell + u64::from(bell % 5 == 1));
    reply(&json!({"reason": "So.", "is_changed": true, "text": text}).to_string())
}

#[test]
fn prompts_are_corrected_where_all_values_stay_and_only_if_that_is_allowed() {
    let bench = Bench::new(60);
    let stage = "\n[[stages]]\nkind = \"enhance-prompts\"\nmodel = \"editor\"\n";
    fs::write(bench.path("judged.toml"), format!("{PIPELINE}{stage}")).unwrap();
    let is_edit = |request: &ReceivedRequest| request.json()["model"] == "editor";
    let server =
        Server::start(move |request, _| if is_edit(request) { corrected(request) } else { judged(request) });
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    // Songs were judged irrelevant, and stay as they are.
    let rings = || (0..60_u64).filter(|n| n % 3 != 0);
    assert_eq!(server.requests().iter().filter(|request| is_edit(request)).count(), rings().count());
    let wrong = rings().filter(|n| n % 5 == 1).count();
    let edits = |out: &str, safety: &str| {
        let shown = shown(&bench.call("", &["diff", out, "--reason", "prompt/enhanced"]));
        assert!(shown.contains(safety), "{shown}");
        shown
    };
    let report = bench.report("out");
    let n_edits = |reason: &str| {
        let edits = report["edits"].as_array().unwrap();
        let edit = edits.iter().find(|edit| edit["reason"] == reason).unwrap();
        assert_eq!(edit["safety"], "suggest");
        edit["edits"].as_u64().unwrap()
    };
    assert_eq!(n_edits("prompt/value-changed"), wrong as u64);
    assert_eq!(n_edits("prompt/enhanced"), (rings().count() - wrong) as u64);
    let query_of = |out: &str, n: u64| {
        let why = shown(&bench.call("", &["why", out, &format!("log.jsonl:{}", n + 1)]));
        why.lines()
            .find_map(|line| line.trim().strip_prefix("user").map(|text| text.trim().to_owned()))
            .unwrap()
    };
    assert_eq!(query_of("out", 2), "Ring bell 2");
    edits("out", "suggest");
    // The same replies, applied.
    assert_eq!(bench.run(&server, "applied", &["--set", "enhance-prompts.allow_unsafe=true"]), Some(0));
    assert_eq!(bench.usage("applied")["cached"], 60);
    assert_eq!(server.requests().len(), 60 + rings().count());
    edits("applied", "unsafe");
    assert_eq!(
        (query_of("applied", 2), query_of("applied", 1)),
        ("Please ring bell 2.".into(), "Ring bell 1".into())
    );
    assert_eq!(bench.report("applied")["requests"]["kept"], 60);
}
