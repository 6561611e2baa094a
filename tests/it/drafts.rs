//! Drafts and corrections of language models: what nobody asked for, names of one model, and a flag that contradicts its text.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::judging::{Bench, PIPELINE, judged, query, reply_of};
use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::shown;

const DRAFTING: &str = r#"
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

/// Requests to ring a bell that may be loud or soft.
fn bench(queries: &[&str]) -> Bench {
    let bench = Bench::new(0);
    let function = json!({"name": "ring_bell", "description": "Rings a bell of the tower.", "parameters": {"type": "dict",
        "required": ["bell"], "properties": {"bell": {"type": "integer", "description": "Its number."},
        "loudness": {"type": "string", "description": "How loud.", "enum": ["loud", "soft"]}}}});
    let line = |query: &&str| format!("{}\n", json!({"query": query, "functions": [function]}));
    fs::write(bench.path("log.jsonl"), queries.iter().map(line).collect::<String>()).unwrap();
    fs::write(bench.path("judged.toml"), format!("{PIPELINE}{DRAFTING}")).unwrap();
    bench
}

fn model(request: &ReceivedRequest) -> String {
    request.json()["model"].as_str().unwrap().to_owned()
}

/// A draft with the bell that the query ends in, and this loudness.
fn draft(request: &ReceivedRequest, served_by: &str, loudness: Option<&str>) -> Reply {
    let bell: u64 = query(request).rsplit(' ').next().unwrap().parse().unwrap();
    let mut arguments = json!({"bell": bell});
    if let Some(loudness) = loudness {
        arguments["loudness"] = json!(loudness);
    }
    let call = json!({"name": "ring_bell", "arguments": arguments.to_string()});
    reply_of(served_by, &json!({"reason": "So.", "calls": [call]}).to_string())
}

fn held(bench: &Bench) -> BTreeMap<String, Value> {
    let held = bench.call("", &["held", "out", "--format", "jsonl"]);
    let rows = String::from_utf8(held.stdout).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["question"].as_str().unwrap().to_owned(), row)).collect()
}

#[test]
fn optional_values_that_nobody_asked_for_are_left_out_or_held() {
    let bench = bench(&["Ring bell 3", "Ring a soft bell 4", "Ring the old bell 5"]);
    let server = Server::start(|request, _| match (model(request).as_str(), query(request).as_str()) {
        ("gpt-4.1-mini", _) => judged(request),
        // Both fill it in where nobody asked for it.
        (model, "Ring bell 3") => draft(request, model, Some("loud")),
        (model, "Ring a soft bell 4") => draft(request, model, Some("soft")),
        ("first", _) => draft(request, "first", Some("loud")),
        (model, _) => draft(request, model, None),
    });
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    let held = held(&bench);
    let unasked = &held["Ring bell 3"];
    assert_eq!(unasked["reason"], "answer/value-not-asked-for", "{held:?}");
    let detail: Value = serde_json::from_str(unasked["detail"].as_str().unwrap()).unwrap();
    assert_eq!(detail["not_asked_for"], json!(["ring_bell.loudness"]));
    assert_eq!([&detail["drafts"][0]["model"], &detail["drafts"][1]["model"]], ["first", "second"]);
    // The page of a held row names the models.
    let why = shown(&bench.call("", &["why", "out", "log.jsonl:1"]));
    assert!(why.contains("first") && why.contains("second") && why.contains("loudness"), "{why}");
    let answers =
        fs::read_to_string(bench.path("out/dataset/unverified/possible_answer/BFCL_v4_live_simple.json"))
            .unwrap();
    let answers: Vec<Value> = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["ground_truth"][0].clone())
        .collect();
    assert_eq!(answers[0], json!({"ring_bell": {"bell": [4], "loudness": ["soft"]}}), "{answers:?}");
    assert_eq!(answers[1], json!({"ring_bell": {"bell": [5], "loudness": ["", null]}}), "{answers:?}");
    // Who drafted an answer, where its values come from, and what was left out.
    let why = shown(&bench.call("", &["why", "out", "log.jsonl:3"]));
    let expected = "drafted   by first, second; bell from conversation; left out, as nobody asked for it: ring_bell.loudness";
    assert!(
        why.split_whitespace().collect::<Vec<_>>().join(" ").contains(&expected.replace("   ", " ")),
        "{why}"
    );
    let unverified = shown(&bench.call("", &["held", "out", "--unverified", "--format", "jsonl"]));
    assert!(unverified.contains(r#"\"asked\":[\"first\",\"second\"]"#), "{unverified}");
}

#[test]
fn two_names_of_one_model_are_not_two_voters() {
    let bench = bench(&["Ring bell 3"]);
    let server = Server::start(|request, _| match model(request).as_str() {
        "gpt-4.1-mini" => judged(request),
        "third" => draft(request, "other-2026", None),
        _ => draft(request, "one-2026", None),
    });
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    let held = held(&bench);
    assert_eq!(held["Ring bell 3"]["reason"], "answer/one-model", "{held:?}");
    let why = shown(&bench.call("", &["why", "out", "log.jsonl:1"]));
    assert!(["first", "second", "one-2026"].iter().all(|name| why.contains(name)), "{why}");
    // With a third name there are two models.
    let third = ["--set", r#"draft-answers.models=["first", "second", "third"]"#];
    assert_eq!(bench.run(&server, "out", &third), Some(0));
    assert_eq!(bench.report("out")["entries"]["tier"]["agreed"], 1);
    let why = shown(&bench.call("", &["why", "out", "log.jsonl:1"]));
    assert!(
        why.contains("by first, second, third, which are the models one-2026, other-2026; bell"),
        "{why}"
    );
}

#[test]
fn the_text_of_a_correction_decides_and_not_its_flag() {
    let bench = bench(&["Ring teh bell 3", "Ring bell 4"]);
    let stage = "\n[[stages]]\nkind = \"enhance-prompts\"\nmodel = \"editor\"\n";
    fs::write(bench.path("judged.toml"), format!("{PIPELINE}{stage}")).unwrap();
    let server = Server::start(|request, _| {
        if model(request) != "editor" {
            return judged(request);
        }
        let text = query(request).replace("teh", "the");
        reply_of("editor", &json!({"reason": "So.", "is_changed": false, "text": text}).to_string())
    });
    let output = bench.call(&server.url, &["run", "judged.toml", "log.jsonl", "--out", "out"]);
    let text = shown(&output);
    let warning =
        "warning: 1 reply of editor has another text and says that nothing is changed; the text counts";
    assert!(text.contains(warning), "{text}");
    let diff = shown(&bench.call("", &["diff", "out", "--reason", "prompt/enhanced"]));
    assert!(diff.contains("Ring the bell 3") && !diff.contains("bell 4"), "{diff}");
}
