//! Answers of a judge that cannot be used and name a criterion: they are measured on labels, and count only where they are right
//! often enough.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::judging::{Bench, query, reply};
use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::shown;

/// Answers without a quote. Of the songs, one in four is called a request.
fn without_quote(request: &ReceivedRequest) -> Reply {
    let query = query(request);
    let number: usize = query.rsplit(' ').next().unwrap().parse().unwrap();
    let is_right = query.starts_with("Ring") || !number.is_multiple_of(8);
    let criterion = if query.starts_with("Ring") { "function-fits" } else { "no-function-fits" };
    let named = if is_right { criterion } else { "missing-value" };
    reply(
        &json!({"reason": "So.", "quote": "nothing of the text", "criterion": named, "verdict": "?"})
            .to_string(),
    )
}

/// A log of 240 requests to 12 lists of functions, with labels: what rings is relevant; of the songs, a tenth is as well.
fn bench() -> Bench {
    let bench = Bench::new(1);
    let (mut log, mut labels) = (String::new(), String::new());
    for n in 0..240 {
        let function = json!({"name": format!("ring_bell_{}", n % 12), "description": "Rings a bell of the tower.",
            "parameters": {"type": "dict", "required": ["bell"], "properties": {"bell": {"type": "integer", "description": "Its number."}}}});
        let (text, is_relevant) = if n % 2 == 0 {
            (format!("Sing song {n}"), n % 20 == 0)
        } else {
            (format!("Ring bell {n}"), true)
        };
        writeln!(log, "{}", json!({"id": format!("r{n}"), "query": text, "functions": [function]})).unwrap();
        let label = if is_relevant { "relevant" } else { "irrelevant" };
        writeln!(labels, "{}", json!({"id": format!("r{n}"), "label": label})).unwrap();
    }
    fs::write(bench.path("log.jsonl"), log).unwrap();
    fs::write(bench.path("labels.jsonl"), labels).unwrap();
    let pipeline = fs::read_to_string(bench.path("judged.toml")).unwrap();
    fs::write(bench.path("judged.toml"), pipeline.replace("max_fault_share = 0.5", "max_fault_share = 1.0"))
        .unwrap();
    bench
}

#[test]
fn soft_votes_count_for_the_labels_that_were_right_in_both_folds() {
    let bench = bench();
    let server = Server::start(|request, _| without_quote(request));
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    // Without a measure none of them counts.
    assert_eq!(
        (&bench.usage("out")["unusable"], &bench.report("out")["requests"]["kept"]),
        (&json!(240), &json!(0))
    );
    let why = shown(&bench.call("", &["why", "out", "r1"]));
    assert!(why.contains("relevance/no-judgement"), "{why}");
    let calibrate =
        ["calibrate", "--run", "out", "--labels", "labels.jsonl", "--agreement", "--soft-votes", "soft.toml"];
    let table = shown(&bench.call("", &calibrate));
    let row = |label: &str| -> Vec<String> {
        let line = table.lines().find(|line| line.contains(&format!("gpt-4.1-mini: {label}")));
        let line = line.unwrap_or_else(|| panic!("{label}: {table}"));
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("relevant")[2..4], ["120", "120"]);
    assert_eq!(row("relevant").last().unwrap(), "yes");
    // A tenth of the songs is labelled otherwise.
    assert_eq!(row("irrelevant").last().unwrap(), "no");
    assert_eq!(row("low-quality").last().unwrap(), "no");
    // With it the rings are decided, from the answers in the cache, and nothing else.
    let soft = ["--set", "judge-queries.soft_votes=soft.toml"];
    assert_eq!(bench.run(&server, "soft", &soft), Some(0));
    assert_eq!(server.requests().len(), 240);
    assert_eq!(
        (&bench.usage("soft")["unusable"], &bench.report("soft")["requests"]["kept"]),
        (&json!(120), &json!(120))
    );
    let row: Value =
        serde_json::from_slice(&bench.call("", &["why", "soft", "r1", "--json"]).stdout).unwrap();
    let text = row.to_string();
    assert!(text.contains("\"soft\":\"function-fits\""), "{text}");
    // The same labels are measured again from a run in which some of them counted.
    let again: Vec<&str> = calibrate.iter().map(|word| if *word == "out" { "soft" } else { word }).collect();
    let measured = fs::read_to_string(bench.path("soft.toml")).unwrap();
    bench.call("", &again);
    let without_place = |text: &str| text.replace("of soft\"", "of out\"");
    assert_eq!(without_place(&fs::read_to_string(bench.path("soft.toml")).unwrap()), measured);
}

#[test]
fn a_measure_of_another_model_is_refused() {
    let bench = bench();
    let measured = "version = 1\nmodel = \"other\"\nmeasured_on = \"labels\"\n";
    fs::write(bench.path("soft.toml"), measured).unwrap();
    let soft = ["plan", "judged.toml", "log.jsonl", "--set", "judge-queries.soft_votes=soft.toml"];
    let output = bench.call("", &soft);
    let text = shown(&output);
    assert!(output.status.code() == Some(2), "{text}");
    assert!(text.contains("soft.toml: it is about the model \"other\", expected \"gpt-4.1-mini\""), "{text}");
    let rules = [&soft[..], &["--set", "judge-queries.judge=rules"]].concat();
    assert_eq!(bench.call("", &rules).status.code(), Some(2));
    let none = [
        "calibrate",
        "--run",
        "out",
        "--labels",
        "labels.jsonl",
        "--agreement",
        "--soft-votes",
        "other.toml",
    ];
    let server = Server::start(|request, _| crate::judging::judged(request));
    assert_eq!(bench.run(&server, "out", &[]), Some(0));
    let output = bench.call("", &none);
    assert!(shown(&output).contains("no soft vote on a labelled request"), "{}", shown(&output));
    assert!(!bench.path("other.toml").exists());
}
