//! Requests by assistant and time: the filters of `run`, `inspect` and `held`, and the figures about who sent a log.

use std::path::Path;
use std::process::Output;

use crate::support::{callsieve, shown};
use serde_json::{Value, json};

/// A log of three assistants: the kitchen sends most, each day from 1 to 3 March has some requests.
fn log() -> String {
    let docs = "[{'name': 'weigh_flour', 'description': 'Weighs flour in the bakery and returns grams.', 'parameters': \
                {'type': 'object', 'properties': {'shelf': {'type': 'string', 'description': 'Which shelf.'}}, \
                'required': ['shelf']}}]";
    let shelves = ["north", "south", "lower", "upper", "middle", "corner", "cellar"];
    let row = |n: usize| {
        let app = match n % 10 {
            0 => json!(["garden", "night-shift"]),
            1 => json!("<b>office</b>"),
            _ => json!("kitchen"),
        };
        let shelf = shelves[n % shelves.len()];
        json!({
            "id": format!("r{n}"), "query": format!("How much flour is on the {shelf} shelf of room {n}?"),
            "function": docs, "app": app, "user": format!("user-{}", n % 4),
            "ts": format!("2026-03-0{}T10:00:00Z", 1 + n % 3),
            // The function has no such parameter, so the answer is held.
            "response": format!("[weigh_flour(shelf='{shelf}', room={n})]"),
        })
    };
    (0..60).map(|n| row(n).to_string() + "\n").collect()
}

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    callsieve().current_dir(folder).args(arguments).output().unwrap()
}

fn ran(folder: &Path, arguments: &[&str]) -> String {
    let output = run_in(folder, arguments);
    assert!(output.status.success(), "{}", shown(&output));
    shown(&output)
}

fn report(folder: &Path, run: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(run).join("report.json")).unwrap()).unwrap()
}

#[test]
fn a_run_reads_the_requests_of_an_assistant_and_a_period() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("log.jsonl"), log()).unwrap();
    for (name, filter, expected) in [
        ("kitchen", &["--assistant", "kitchen"][..], 48),
        ("word", &["--assistant", "night-shift"], 6),
        ("two", &["--assistant", "garden", "--assistant", "<b>office</b>"], 12),
        ("day", &["--since", "2026-03-02", "--until", "2026-03-02"], 20),
        ("both", &["--assistant", "kitchen", "--since", "2026-03-02T10:00:01Z"], 16),
    ] {
        ran(at, &[&["run", "log.jsonl", "-q", "--out", name], filter].concat());
        let report = report(at, name);
        assert_eq!(report["ingest"]["records"], json!(expected), "{name}: {report}");
        assert_eq!(report["ingest"]["not_sampled"], json!(60 - expected), "{name}");
    }
    let none = run_in(at, &["run", "log.jsonl", "--out", "none", "--assistant", "attic"]);
    let told = shown(&none);
    assert_eq!(none.status.code(), Some(1), "{told}");
    assert!(told.contains("none of 60 requests is of the assistants and the period that are set"), "{told}");
    let wrong = run_in(at, &["run", "log.jsonl", "--out", "none", "--since", "spring"]);
    assert!(shown(&wrong).contains("since is \"spring\", expected a day or a time"), "{}", shown(&wrong));
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn figures_warn_of_an_assistant_with_most_requests_and_held_rows_can_be_filtered() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("log.jsonl"), log()).unwrap();
    let screen = ran(at, &["run", "log.jsonl", "--out", "run"]);
    let warning = "One of 3 assistants sent 80.0 % of the requests.";
    assert!(screen.split_whitespace().collect::<Vec<_>>().join(" ").contains(warning), "{screen}");
    let report = report(at, "run");
    let senders = &report["senders"];
    let names: Vec<&str> =
        senders["largest"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["kitchen", "<b>office</b>", "garden, night-shift"]);
    assert_eq!(senders["largest"][0]["requests"], json!(48));
    assert_eq!((&senders["users"], &senders["of_largest_user"]), (&json!(4), &json!(15)));
    let page = std::fs::read_to_string(at.join("run/report.html")).unwrap();
    assert!(page.contains("Requests by assistant") && page.contains(warning), "{page}");
    assert!(page.contains("&lt;b&gt;office&lt;/b&gt;") && !page.contains("<b>office</b>"));

    let held = |filter: &[&str]| {
        let listed = ran(at, &[&["held", "run", "--format", "jsonl"], filter].concat());
        listed.lines().filter(|line| line.starts_with('{')).count()
    };
    let all = held(&[]);
    let parts = [
        held(&["--assistant", "kitchen"]),
        held(&["--assistant", "garden"]),
        held(&["--assistant", "<b>office</b>"]),
    ];
    assert!(all > 10 && parts[0] > 0, "{all} {parts:?}");
    assert_eq!(parts.iter().sum::<usize>(), all);
    assert_eq!(held(&["--since", "2026-03-04"]), 0);
    let unknown = run_in(at, &["held", "run", "--assistant", "Kitchen"]);
    let text = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        unknown.status.code() == Some(2) && text.contains("no request is of the assistant Kitchen"),
        "{text}"
    );
    assert!(
        text.contains("the assistants of the log are <b>office</b>, garden, night-shift, kitchen"),
        "{text}"
    );

    let look = ran(at, &["inspect", "log.jsonl"]);
    assert!(look.contains("one of 3 assistants sent 80.0 %"), "{look}");
    let look: Value = serde_json::from_slice(
        &run_in(at, &["inspect", "--json", "log.jsonl", "--assistant", "garden", "--until", "2026-03-02"])
            .stdout,
    )
    .unwrap();
    assert_eq!((&look["lines"]["requests"], &look["lines"]["unwanted"]), (&json!(4), &json!(56)));
}
