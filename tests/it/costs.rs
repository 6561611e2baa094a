//! What language models cost: the limit of a run folder, who paid for an answer, prices, and progress in a file.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::judging::{Bench, PIPELINE, judged};
use crate::server::{Reply, Server};
use crate::support::shown;

/// 1,000 tokens for 1 USD each million, and 100 of output for 10: 0.002 USD an answer. At most 400 of output: 0.005.
const PRICES: &str = "source = \"test\"\nas_of = \"2026-01-01\"\n[models]\n\"gpt-4.1-mini\" = { input = 1.0, output = 10.0 }\n";

fn bench(n_requests: usize) -> Bench {
    let bench = Bench::new(n_requests);
    fs::write(bench.path("prices.toml"), PRICES).unwrap();
    bench
}

#[test]
fn the_limit_of_cost_covers_all_runs_in_a_folder() {
    let bench = bench(50);
    let server = Server::start(|request, _| judged(request));
    let run = |out: &str, max_cost: &str, more: &[&str]| {
        let arguments = ["--prices", "prices.toml", "--max-cost", max_cost, "--set", "max_fault_share=1"];
        bench.run(&server, out, &[&arguments[..], more].concat())
    };
    assert_eq!(run("out", "0.05", &[]), Some(3));
    let n_first = server.requests().len();
    assert!((16..=25).contains(&n_first), "{n_first}");
    // The same limit allows nothing more, and what was paid is no saving.
    assert_eq!(run("out", "0.05", &[]), Some(3));
    let n_second = server.requests().len();
    assert!(n_second <= 25, "{n_first}, then {n_second}");
    assert_eq!(run("out", "0.05", &[]), Some(3));
    let usage = bench.usage("out");
    let paid = usage["paid_before"].as_f64().unwrap() + usage["cost"].as_f64().unwrap_or(0.0);
    assert!(paid <= 0.05 && paid > 0.03 && usage["saved_cost"].is_null(), "{usage}");
    // A higher limit pays for the rest only.
    assert_eq!(run("out", "0.11", &[]), Some(0));
    assert_eq!(server.requests().len(), 50);
    // A folder that begins again has paid nothing, and the cache saves what others paid.
    assert_eq!(run("out", "0.01", &["--fresh"]), Some(0));
    let usage = bench.usage("out");
    assert!(usage["paid_before"].is_null(), "{usage}");
    assert!((usage["saved_cost"].as_f64().unwrap() - 0.1).abs() < 1e-9, "{usage}");
    let report = shown(&bench.call("", &["report", "out"]));
    assert!(report.contains("0.1000 USD saved by the cache"), "{report}");
    bench.assert_no_key();
}

#[test]
fn a_model_of_earlier_runs_needs_a_price_as_well() {
    let bench = bench(6);
    let server = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&server, "out", &["--set", "judge-queries.model=other"]), Some(0));
    let arguments =
        ["run", "judged.toml", "log.jsonl", "--out", "out", "--prices", "prices.toml", "--max-cost", "1"];
    let output = bench.call(&server.url, &arguments);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(shown(&output).contains("asked other, and its price is unknown\nhint: "), "{}", shown(&output));
    let output = bench.call(&server.url, &[&arguments[..], &["--fresh"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
}

#[test]
fn two_stages_that_ask_the_same_save_it_once() {
    let bench = bench(12);
    let again = PIPELINE.split("[[stages]]").last().unwrap();
    let again = format!("{PIPELINE}\n[[stages]]\nid = \"judge-again\"{again}");
    let server = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&server, "out", &["--prices", "prices.toml"]), Some(0));
    fs::write(bench.path("judged.toml"), again).unwrap();
    assert_eq!(bench.run(&server, "twice", &["--prices", "prices.toml"]), Some(0));
    let models = bench.report("twice")["language_models"].clone();
    assert_eq!(models["judge-again"]["cached"], 12, "{models}");
    assert!((models["judge-queries"]["saved_cost"].as_f64().unwrap() - 0.024).abs() < 1e-9, "{models}");
    assert!(models["judge-again"]["saved_cost"].is_null(), "{models}");
}

#[test]
fn a_plan_names_the_price_of_every_model_that_is_asked() {
    let bench = bench(9);
    let drafts = "\n[[stages]]\nkind = \"fix-docs\"\n\n[[stages]]\nkind = \"draft-answers\"\nmodels = [\"gpt-4.1-mini\", \"second\"]\n";
    fs::write(bench.path("judged.toml"), format!("{PIPELINE}{drafts}")).unwrap();
    let plan = |more: &[&str]| {
        let arguments = ["plan", "judged.toml", "log.jsonl", "--cost", "--prices", "prices.toml"];
        let text = shown(&bench.call("", &[&arguments[..], more].concat()));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Nothing is judged yet, so no draft is asked for.
    let expected = "Prices, in USD for a million tokens: gpt-4.1-mini 1 in, 10 out (test, 2026-01-01).";
    assert!(plan(&[]).contains(expected), "{}", plan(&[]));
    let server = Server::start(|request, _| judged(request));
    let only_judge = ["--set", "draft-answers.models=[]"];
    assert_eq!(bench.run(&server, "out", &only_judge), Some(0));
    let expected =
        "Prices, in USD for a million tokens: gpt-4.1-mini 1 in, 10 out; second unknown (test, 2026-01-01).";
    assert!(plan(&[]).contains(expected), "{}", plan(&[]));
}

#[test]
fn a_step_that_takes_long_shows_its_progress_in_a_file() {
    let bench = bench(7);
    let server = Server::start(|request, _| {
        std::thread::sleep(Duration::from_secs(1));
        judged(request)
    });
    let arguments = ["run", "judged.toml", "log.jsonl", "--out", "out", "--concurrency", "1"];
    let output = bench.call(&server.url, &arguments);
    let text = shown(&output);
    let line = text.lines().find(|line| line.contains(" of 7 answers (")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.starts_with("judge-queries ") && line.ends_with(" %)"), "{line}");
    let finished = text.lines().rfind(|line| line.starts_with("judge-queries ")).unwrap();
    assert!(finished.contains("a model asked about 7 rows"), "{text}");
    let quiet = shown(&bench.call(&server.url, &[&arguments[..], &["--quiet", "--fresh"]].concat()));
    assert!(!quiet.contains("answers ("), "{quiet}");
}

#[test]
fn the_auc_names_the_requests_that_it_is_over() {
    let bench = bench(30);
    let server = Server::start(|request, _| judged(request));
    let rows = fs::read_to_string(bench.path("log.jsonl")).unwrap();
    let (mut log, mut labels) = (String::new(), String::new());
    for (n, line) in rows.lines().enumerate() {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["id"] = json!(format!("row-{n}"));
        log += &format!("{row}\n");
        // The rules judge the songs, two of which are labelled as relevant here.
        let label = if n % 3 == 0 && n > 3 { "irrelevant" } else { "relevant" };
        labels += &format!("{}\n", json!({"id": format!("row-{n}"), "label": label}));
    }
    fs::write(bench.path("log.jsonl"), log).unwrap();
    fs::write(bench.path("labels.jsonl"), labels).unwrap();
    assert_eq!(bench.run(&server, "out", &["--set", "judge-queries.judge=rules-then-llm"]), Some(0));
    let text =
        shown(&bench.call("", &["calibrate", "--run", "out", "--labels", "labels.jsonl", "--agreement"]));
    let n_by_rules = 30 - server.requests().len();
    let line =
        text.lines().find(|line| line.starts_with("AUC")).unwrap_or_else(|| panic!("{n_by_rules}: {text}"));
    let expected = format!(
        ", over {n_by_rules} of the 30 labelled requests, 2 relevant; the rules gave the others no probability"
    );
    assert!(line.ends_with(&expected), "{line}");
}

#[test]
fn a_reply_that_is_billed_and_has_no_answer_counts_for_the_limit() {
    let bench = bench(30);
    let empty =
        json!({"choices": [], "usage": {"prompt_tokens": 1000.0, "completion_tokens": 100}}).to_string();
    let server = Server::start(move |_, _| Reply::new(200, empty.clone()));
    let arguments = [
        "--prices",
        "prices.toml",
        "--max-cost",
        "0.012",
        "--concurrency",
        "1",
        "--set",
        "max_fault_share=1",
    ];
    let run = || {
        bench.call(
            &server.url,
            &[&["run", "judged.toml", "log.jsonl", "--out", "out"][..], &arguments].concat(),
        )
    };
    assert_eq!(run().status.code(), Some(3));
    let n_first = server.requests().len();
    assert!((2..=5).contains(&n_first), "{n_first}");
    assert_eq!(fs::read_to_string(bench.path("out/spent.jsonl")).unwrap().lines().count(), n_first);
    // 0.002 USD each, and a request may cost 0.005: at most two more are sent until the limit is reached.
    (0..3).for_each(|_| drop(run()));
    assert!(server.requests().len() <= 5, "{} requests", server.requests().len());
}

#[test]
fn a_damaged_file_of_what_was_paid_stops_a_run_with_a_limit() {
    let bench = bench(6);
    let server = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    let path = bench.path("out/spent.jsonl");
    let spent = fs::read_to_string(&path).unwrap();
    fs::write(&path, spent.replacen(":1000,", ":-1000,", 1)).unwrap();
    let arguments =
        ["run", "judged.toml", "log.jsonl", "--out", "out", "--prices", "prices.toml", "--max-cost", "1"];
    let output = bench.call(&server.url, &arguments);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(
        shown(&output).contains("spent.jsonl:1: found a line that is no paid reply"),
        "{}",
        shown(&output)
    );
    // Without a limit nothing depends on it.
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
}
