//! Several runs at the same time over one cache of replies: each request is paid for once, whoever is killed or cancelled.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::judging::{Bench, PIPELINE, judged, query, reply};
use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{assert_same_bytes, shown, stable_bytes};
use serde_json::json;

const RUNS: [&str; 3] = ["one", "two", "three"];

fn start(bench: &Bench, server: &Server, out: &str, more: &[&str]) -> Child {
    let arguments = [&["run", "judged.toml", "log.jsonl", "--out", out][..], more].concat();
    let mut command = bench.command(&server.url, &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The queries of all requests that a server got.
fn queries(server: &Server) -> Vec<String> {
    server.requests().iter().map(query).collect()
}

/// A reply that no other is equal to: `number` is in its reason.
fn numbered(request: &ReceivedRequest, number: usize) -> Reply {
    let query = query(request);
    // The first reply to some requests says that a function fits, a later one that none does.
    let (criterion, verdict) = if number.is_multiple_of(2) {
        ("function-fits", "relevant")
    } else {
        ("no-function-fits", "irrelevant")
    };
    let reason = format!("Number {number}.");
    reply(&json!({"reason": reason, "quote": query, "criterion": criterion, "verdict": verdict}).to_string())
}

#[test]
fn three_runs_at_once_pay_for_every_request_once_and_have_the_same_bytes() {
    let bench = Bench::new(159);
    // The card of a dataset must not depend on who got an answer first.
    let export = ["fix-docs", "draft-answers", "split"]
        .map(|kind| format!("[[stages]]\nkind = \"{kind}\"\n"))
        .concat();
    std::fs::write(bench.path("judged.toml"), format!("{PIPELINE}\n{export}\n[export]\n")).unwrap();
    let server = Server::start(|request, number| {
        std::thread::sleep(Duration::from_millis(10));
        // Some cannot be used.
        if query(request).ends_with('7') {
            reply(&format!("Hm {number}."))
        } else {
            numbered(request, number)
        }
    });
    let runs = RUNS.map(|out| start(&bench, &server, out, &["--concurrency", "4"]));
    for (out, run) in RUNS.iter().zip(runs) {
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{out}: {}", shown(&output));
    }
    let queries = queries(&server);
    assert_eq!((queries.len(), queries.iter().collect::<BTreeSet<_>>().len()), (159, 159));
    let paid: u64 = RUNS.iter().map(|out| bench.usage(out)["arrived"].as_u64().unwrap()).sum();
    let cached: u64 = RUNS.iter().map(|out| bench.usage(out)["cached"].as_u64().unwrap()).sum();
    assert_eq!((paid, cached), (159, 2 * 159));
    let bytes = stable_bytes(&bench.path("one"));
    let card = String::from_utf8(bytes[Path::new("dataset/README.md")].clone()).unwrap();
    assert!(card.contains("judge-queries asked gpt-4.1-mini about 159 rows"), "{card}");
    assert_same_bytes(&bytes, &stable_bytes(&bench.path("two")));
    assert_same_bytes(&bytes, &stable_bytes(&bench.path("three")));
}

/// A server that keeps the first request waiting.
fn busy_with_the_first() -> Server {
    Server::start(|request, number| {
        if number == 0 {
            std::thread::sleep(Duration::from_mins(10));
        }
        judged(request)
    })
}

#[test]
fn what_a_killed_run_has_claimed_is_sent_by_the_run_that_waits_for_it() {
    let (bench, server) = (Bench::new(6), busy_with_the_first());
    let mut first = start(&bench, &server, "one", &["--concurrency", "1"]);
    wait_for("the first request", || server.requests().len() == 1);
    let second = start(&bench, &server, "two", &["--concurrency", "1"]);
    wait_for("all other requests", || server.requests().len() == 6);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(server.requests().len(), 6, "the claim of a live process is waited for");
    first.kill().unwrap();
    first.wait().unwrap();
    let output = second.wait_with_output().unwrap();
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("waiting for 1 answer that another process asked for"), "{text}");
    let queries = queries(&server);
    assert_eq!((queries.len(), queries[0] == queries[6]), (7, true), "{queries:?}");
    // The killed run goes on without a request.
    assert_eq!(bench.run(&server, "one", &[]), Some(0));
    assert_eq!(server.requests().len(), 7);
    assert_same_bytes(&stable_bytes(&bench.path("one")), &stable_bytes(&bench.path("two")));
}

#[test]
fn a_run_that_is_killed_alone_leaves_no_claim_that_the_next_one_heeds() {
    let (bench, server) = (Bench::new(6), busy_with_the_first());
    let mut first = start(&bench, &server, "one", &["--concurrency", "6"]);
    wait_for("all requests", || server.requests().len() == 6);
    first.kill().unwrap();
    first.wait().unwrap();
    let start = Instant::now();
    assert_eq!(bench.run(&server, "one", &[]), Some(0));
    assert!(start.elapsed() < Duration::from_secs(30) && server.requests().len() >= 7);
}

#[test]
fn a_run_that_waits_for_another_one_can_be_stopped() {
    let (bench, server) = (Bench::new(1), busy_with_the_first());
    let mut first = start(&bench, &server, "one", &[]);
    wait_for("the first request", || server.requests().len() == 1);
    let second = start(&bench, &server, "two", &[]);
    std::thread::sleep(Duration::from_millis(2500));
    let began = Instant::now();
    // Tests that a shell starts in the background ignore SIGINT.
    assert!(Command::new("kill").args(["-TERM", &second.id().to_string()]).status().unwrap().success());
    let output = second.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", shown(&output));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn what_fails_for_one_run_is_asked_by_the_other() {
    let bench = Bench::new(4);
    let server = Server::start(|request, number| {
        if number == 0 {
            std::thread::sleep(Duration::from_millis(1500));
            return Reply::new(400, r#"{"error": {"message": "not this time"}}"#);
        }
        judged(request)
    });
    let first = start(&bench, &server, "one", &["--concurrency", "1"]);
    wait_for("the first request", || !server.requests().is_empty());
    assert_eq!(bench.run(&server, "two", &[]), Some(0));
    assert_eq!(bench.usage("two")["failed"], 0);
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!((server.requests().len(), &bench.usage("one")["failed"]), (5, &json!(1)));
}
