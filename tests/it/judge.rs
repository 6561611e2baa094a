//! Runs whose judge is a language model, against a scripted server: nothing lost, nothing paid twice, no key in any file.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::judging::{Bench, KEY, PIPELINE, clean_run, judged, query, reply, reply_of};
use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{assert_same_bytes, shown, stable_bytes};
use serde_json::{Value, json};

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
fn an_unusable_answer_is_paid_for_again_only_on_request() {
    let bench = Bench::new(30);
    let is_spoilt = |request: &ReceivedRequest| query(request).ends_with('7');
    let server =
        Server::start(move |request, _| if is_spoilt(request) { reply("Hm.") } else { judged(request) });
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    assert_eq!((&bench.usage("out")["unusable"], server.requests().len()), (&json!(3), 30));
    assert!(server.requests().iter().all(|request| request.json()["seed"] == 0));
    // The report has the reasons.
    let reasons = bench.usage("out")["unusable_reasons"].clone();
    let why: Vec<&String> = reasons.as_object().unwrap().keys().collect();
    assert!(why.len() == 1 && reasons[why[0]] == 3, "{reasons}");
    let report = shown(&bench.call("", &["report", "out"]));
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains(&format!("Unusable: {} (3) (--retry-unusable asks again).", why[0])), "{report}");
    // From the cache alone all is as before.
    let before = stable_bytes(&bench.path("out"));
    assert_eq!(bench.run(&server, "cached", &["--cache-only"]), Some(0));
    assert_same_bytes(&before, &stable_bytes(&bench.path("cached")));
    // So it is for a run that may send; the report says how to ask again.
    let well = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&well, "kept", &[]), Some(0));
    assert_eq!((&bench.usage("kept")["unusable"], well.requests().len()), (&json!(3), 0));
    assert_same_bytes(&before, &stable_bytes(&bench.path("kept")));
    assert!(report.contains("--retry-unusable asks again"), "{report}");
    // A run that retries asks once more, also where the answer is no better.
    assert_eq!(bench.run(&server, "again", &["--retry-unusable"]), Some(0));
    assert_eq!((&bench.usage("again")["unusable"], server.requests().len()), (&json!(3), 33));
    assert_eq!(bench.run(&well, "well", &["--retry-unusable"]), Some(0));
    assert_eq!((&bench.usage("well")["unusable"], well.requests().len()), (&json!(0), 3));
    assert_eq!(bench.run(&well, "well-too", &["--retry-unusable"]), Some(0));
    assert_eq!(well.requests().len(), 3);
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
    assert_eq!(bench.run(&server, "out", &arguments), Some(3));
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
        ("seed", "[{\"type\": \"extra_forbidden\", \"loc\": [\"body\", \"seed\"]}]"),
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
    fs::read_dir(folder).unwrap().any(|entry| name(entry.unwrap()).contains("callsieve-plan"))
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
    reply_of(request.json()["model"].as_str().unwrap(), &json!({"reason": "So.", "calls": calls}).to_string())
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

#[test]
fn drafts_of_models_with_different_prices_stay_below_the_limit_of_cost() {
    let bench = Bench::new(60);
    let stages = "\n[[stages]]\nkind = \"fix-docs\"\n\n[[stages]]\nkind = \"draft-answers\"\nmodels = [\"first\", \"second\"]\n";
    let pipeline = PIPELINE.replace("max_fault_share = 0.5", "max_fault_share = 1");
    fs::write(bench.path("judged.toml"), format!("{pipeline}{stages}")).unwrap();
    // The judge costs nothing; an answer costs 0.0002 USD of the first model and 0.01 of the second.
    let prices = "source = \"test\"\nas_of = \"2026-01-01\"\n[models]\n\"gpt-4.1-mini\" = { input = 0.0, output = 0.0 }\n\
                  first = { input = 0.1, output = 1.0 }\n";
    fs::write(bench.path("prices.toml"), prices).unwrap();
    let is_of = |request: &ReceivedRequest, model: &str| request.json()["model"] == model;
    let server =
        Server::start(
            move |request, _| {
                if is_of(request, "gpt-4.1-mini") { judged(request) } else { drafted(request) }
            },
        );
    let arguments = ["run", "judged.toml", "log.jsonl", "--out", "out", "--prices", "prices.toml"];
    let arguments = [&arguments[..], &["--max-cost", "0.2"]].concat();
    let refused = bench.call(&server.url, &arguments);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    assert!(shown(&refused).contains("the price of second is unknown"), "{}", shown(&refused));
    fs::write(bench.path("prices.toml"), format!("{prices}second = {{ input = 5.0, output = 50.0 }}\n"))
        .unwrap();
    let run = bench.call(&server.url, &arguments);
    assert_eq!(run.status.code(), Some(3), "{}", shown(&run));
    assert!(shown(&run).contains("stopped by --max-cost 0.2: "), "{}", shown(&run));
    let sent = |model: &str| server.requests().iter().filter(|request| is_of(request, model)).count();
    let [first, second] = ["first", "second"].map(|model| f64::from(u32::try_from(sent(model)).unwrap()));
    let usage = &bench.report("out")["language_models"]["draft-answers"];
    let cost = usage["cost"].as_f64().unwrap();
    assert!((cost - first * 0.0002 - second * 0.01).abs() < 1e-9, "{usage}");
    assert!(cost <= 0.2 && second > 5.0 && usage["not_sent"].as_u64() > Some(20), "{usage}");
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
