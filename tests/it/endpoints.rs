//! Quirks, failures and limits of servers, in runs with a language model.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::judging::{Bench, judged, query};
use crate::server::{ReceivedRequest, Reply, Server};
use serde_json::{Value, json};

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
type Failure = fn() -> Reply;

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
            body["choices"][0]["message"]["reasoning_content"] = json!("Hm.");
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
    let once: [(&str, Failure); 13] = [
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
    let never: [(&str, Failure, i32); 5] = [
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
        let used = [1.0, f64::from(u32::try_from(request.body.len() / 4).unwrap()) + 400.0];
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
        // As servers do: a refused request may come again when all is refilled.
        let wait_ms = reset(0).max(reset(1)) * 1000.0 + 1.0;
        let refusal = || Reply::new(429, "slow down").header("retry-after-ms", format!("{wait_ms:.0}"));
        let reply = if fits { judged(request) } else { refusal() };
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
fn limits_of_requests_and_tokens_are_kept_with_hardly_a_refusal() {
    let second = Duration::from_secs(1);
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
        // Time is real here, so a busy machine may send some requests late; `llm::limits` has the exact cases with a clock of
        // its own.
        assert!(served == 60 && refused <= 6, "{case}: {served} served, {refused} refused");
    }
}
