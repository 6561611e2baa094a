//! Tests of redaction on the program: only the raw tables of a run hold personal values.

use std::path::Path;

use crate::support::{assert_same_bytes, callsieve, shown, stable_bytes, text_of};
use callsieve::pipeline::Pipeline;
use callsieve::stages::Registry;
use serde_json::{Value, json};

/// The personal values of the log below.
const PLANTED: [&str; 5] =
    ["mira.keller@quillpost.net", "415-555-2671", "4539148803436467", "tomas@fernmail.org", "81.143.22.97"];

fn write_log(path: &Path) {
    let function = |mail: &str| {
        json!({"type": "function", "function": {"name": "send", "description": format!("Sends mail. Ask {mail}."),
        "parameters": {"type": "object", "required": ["to"], "properties": {"to": {"type": "string", "description": "Address."},
            "card": {"type": "integer", "description": "Card to charge."}}}}})
    };
    let row = |id: &str, user: &str, query: &str, arguments: &Value, mail: &str| {
        json!({"id": id, "ts": 1_900_000_000, "user": user, "request": {"messages": [{"role": "user", "content": query}],
            "tools": [function(mail)]}, "response": {"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "send", "arguments": arguments.to_string()}}]},
            "finish_reason": "tool_calls"}]}})
    };
    let rows = [
        row(
            "one",
            "mira.keller@quillpost.net",
            "Write to mira.keller@quillpost.net and charge 4539148803436467",
            &json!({"to": "mira.keller@quillpost.net", "card": 4_539_148_803_436_467_u64}),
            "tomas@fernmail.org",
        ),
        row(
            "two",
            "u2",
            "Text 415-555-2671 that 81.143.22.97 is down, user1@example.com knows",
            &json!({"to": "user1@example.com"}),
            "user3@example.com",
        ),
    ];
    let keyed_by_address = json!({"mira.keller@quillpost.net": 1});
    let lines: Vec<String> = rows.iter().chain([&keyed_by_address]).map(ToString::to_string).collect();
    std::fs::write(path, lines.join("\n")).unwrap();
}

/// Returns a pipeline with redaction and the stages that a dataset needs.
fn pipeline() -> String {
    let kinds = [
        "redact",
        "redact-docs",
        "collapse-conversations",
        "parse-docs",
        "fix-docs",
        "draft-answers",
        "split",
    ];
    kinds.map(|kind| format!("[[stages]]\nkind = \"{kind}\"\n")).concat() + "[export]\n"
}

fn run(folder: &Path, threads: &str) -> std::path::PathBuf {
    run_with(folder, threads, &pipeline())
}

fn run_with(folder: &Path, threads: &str, text: &str) -> std::path::PathBuf {
    let (log, pipeline, out) =
        (folder.join("log.jsonl"), folder.join("p.toml"), folder.join(format!("out{threads}")));
    write_log(&log);
    std::fs::write(&pipeline, text).unwrap();
    let mut command = callsieve();
    command
        .arg("run")
        .arg(&pipeline)
        .args(["--quiet", "--threads", threads, "--input"])
        .arg(&log)
        .arg("--out")
        .arg(&out);
    let output = command.output().unwrap();
    assert!(out.join("report.json").exists(), "{}", shown(&output));
    out
}

#[test]
fn only_the_raw_tables_of_a_redacted_run_hold_personal_values() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(folder.path(), "2");
    let texts = text_of(&out);
    for (name, text) in &texts {
        for planted in PLANTED {
            assert!(!text.contains(planted), "{planted} in {name}");
        }
    }
    let has = |file: &str, wanted: &str| {
        texts.iter().any(|(name, text)| name.starts_with(file) && text.contains(wanted))
    };
    assert!(has("dataset", "user4@example.com"), "the placeholder of the query is in the dataset");
    assert!(has("ingest/lines.parquet", "[email]"), "what a line is told by is masked");
    assert!(has("ledger.parquet", "privacy/card"));
}

#[test]
fn names_come_from_a_file_of_which_no_line_is_in_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("names.txt");
    std::fs::write(&list, "is down\n\nOttoline Vane\n").unwrap();
    let names = format!("names = {:?}\n[[stages]]\n", list.to_str().unwrap());
    let text = pipeline().replacen("[[stages]]\n", "[first]", 1).replacen("[[stages]]\n", &names, 2);
    let text = text.replacen("[first]", "[[stages]]\n", 1);
    let out = run_with(folder.path(), "2", &text);
    let texts = text_of(&out);
    for (name, text) in &texts {
        assert!(!text.contains("is down") && !text.contains("Ottoline"), "a name in {name}");
    }
    assert!(texts.iter().any(|(_, text)| text.contains("192.0.2.1 Person 1, user1@example.com")));
}

#[test]
fn a_value_has_one_placeholder_in_messages_calls_facts_and_docs() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(folder.path(), "1");
    let why = |row: &str| {
        let output = callsieve().args(["why", "--full"]).arg(&out).arg(row).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // user1 and user3 are in the log, so the docs' address is user2 and the query's is user4.
    let one = why("one");
    for wanted in [
        "user4@example.com and charge 4000000000000010",
        "user user4@example.com",
        r#""card":4000000000000010"#,
        "Ask user2@example.com",
        "~ message 1 9..34: email → user4@example.com",
    ] {
        assert!(one.contains(wanted), "no {wanted} in\n{one}");
    }
    let two = why("two");
    assert!(two.contains("Text 555-555-0001 that 192.0.2.1 is down, user1@example.com knows"), "{two}");
    let output = callsieve().arg("diff").arg(&out).output().unwrap();
    let diff = String::from_utf8(output.stdout).unwrap();
    assert!(diff.contains("~ user 0..25: email → user4@example.com"), "{diff}");
    assert!(PLANTED.iter().all(|planted| !diff.contains(planted) && !one.contains(planted)), "{diff}");
}

#[test]
fn redaction_has_the_same_bytes_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    assert_same_bytes(&stable_bytes(&run(folder.path(), "1")), &stable_bytes(&run(folder.path(), "4")));
}

#[test]
fn redaction_stands_first_in_both_halves_with_the_same_settings() {
    let stage = |kind: &str| format!("[[stages]]\nkind = \"{kind}\"\n");
    let refused =
        |text: String| Pipeline::parse(&text, "p.toml", &[], &Registry::standard()).unwrap_err().to_string();
    let late = refused(stage("parse-docs") + &stage("redact"));
    assert!(late.contains("stage 2 redact comes after parse-docs"), "{late}");
    let alone = refused(stage("redact-docs"));
    assert!(alone.contains("stage 1 redact-docs comes before redact"), "{alone}");
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("names.txt");
    let with_names = || stage("redact") + &format!("names = {:?}\n", list.to_str().unwrap());
    std::fs::write(&list, "Mira Keller\n\nM\n").unwrap();
    let short = refused(with_names());
    assert!(short.contains("names.txt:3: a name must have 2 characters or more"), "{short}");
    std::fs::write(&list, "Mira Keller\n\n").unwrap();
    let differ = refused(with_names() + &stage("redact-docs"));
    assert!(differ.contains("redact and redact-docs have different settings"), "{differ}");
    let twice = refused(stage("redact") + "[[stages]]\nkind = \"redact\"\nid = \"again\"\n");
    assert!(twice.contains("stage 2 again is the second of kind redact"), "{twice}");
    let region = refused(stage("redact") + "default_region = \"Germany\"\n");
    assert!(region.contains("default_region must be two capitals"), "{region}");
    let nothing = refused(stage("redact") + "kinds = []\n");
    assert!(nothing.contains("kinds and names must not both be empty"), "{nothing}");
    let half = Pipeline::parse(&stage("redact"), "p.toml", &[], &Registry::standard()).unwrap();
    assert_eq!(half.warnings, ["doc lists are not redacted: put a stage of kind redact-docs after redact"]);
    let whole =
        Pipeline::parse(&(stage("redact") + &stage("redact-docs")), "p.toml", &[], &Registry::standard())
            .unwrap();
    assert_eq!(whole.warnings, Vec::<String>::new());
}
