//! Tests of `callsieve inspect` and `init` on logs of known and unknown formats, and of the drafted pipeline.

use std::path::Path;
use std::process::Output;

use crate::support::{callsieve, output, shown};
use serde_json::{Value, json};

const SAMPLE: [&str; 4] = ["raw/hosted.jsonl", "raw/openai.jsonl.gz", "raw/anthropic.jsonl", "raw/pairs.csv"];

/// Compares with a snapshot, without times and the folder of the test.
fn snapshot(name: &str, output: &Output, folder: &Path) {
    let text = shown(output).replace(folder.to_str().unwrap(), "FOLDER");
    let line = |line: &str| match line.split_once(" requests, ") {
        Some((run, rest)) if run.starts_with("a full run") => {
            format!("{run} requests, N s{}\n", rest.split_once(" s").unwrap().1)
        }
        _ => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Runs a command in a folder.
fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    callsieve().current_dir(folder).args(arguments).output().unwrap()
}

fn look(folder: &Path, arguments: &[&str]) -> Value {
    let output = run_in(folder, &[&["inspect", "--json"], arguments].concat());
    let mut look: Value = serde_json::from_slice(&output.stdout).unwrap();
    look["run"].as_object_mut().unwrap().remove("seconds");
    look
}

/// Rows whose columns have unknown names.
fn unknown_log(n_rows: usize) -> String {
    let docs = "[{'name': 'tide', 'description': 'Tells when the tide is high or low in a harbour.', 'parameters': \
                {'type': 'object', 'properties': {'harbour': {'type': 'string', 'description': 'Which harbour.'}}, \
                'required': ['harbour']}}]";
    let harbours = ["Ness", "Skorr", "Brae", "Lunna", "Voe"];
    let row = |n: usize| {
        let harbour = harbours[n % harbours.len()];
        let asked = format!("When is the {n}th high tide at the harbour of {harbour}, please?");
        json!({"no": n, "asked": asked, "offered": docs, "replied": format!("[tide(harbour='{harbour}')]")})
    };
    (0..n_rows).map(|n| row(n).to_string() + "\n").collect()
}

#[test]
fn the_sample_log_is_shown_as_text_and_as_json() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    snapshot("inspect_sample", &output(&[&["inspect"], &SAMPLE[..]].concat()), folder);
    let look = look(folder, &SAMPLE);
    let lines = &look["lines"];
    let sum =
        ["requests", "no_request", "unreadable"].map(|key| lines[key].as_u64().unwrap()).iter().sum::<u64>();
    assert_eq!((lines["looked_at"].as_u64(), lines["all"].as_u64()), (Some(sum), Some(sum)));
}

#[test]
fn the_same_seed_inspects_the_same_lines_within_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), unknown_log(900)).unwrap();
    let one = look(folder.path(), &["log.jsonl", "--rows", "50"]);
    assert_eq!(one, look(folder.path(), &["log.jsonl", "--rows", "50"]));
    assert_ne!(one, look(folder.path(), &["log.jsonl", "--rows", "50", "--seed", "2"]));
    assert_eq!((&one["lines"]["looked_at"], &one["lines"]["all"]), (&json!(50), &json!(900)));
}

#[test]
fn no_word_of_a_value_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "Write to Wilhelmina Vandersteen, wilma@harbour.example, +44 20 7946 0958";
    let rows = [
        json!({"prompt": secret, "function": secret, "user": "Wilhelmina", "session": "Vandersteen"}),
        json!({"prompt": secret, "function": "[{\"name\": \"Wilhelmina", "model": secret}),
        json!({"noted": secret, "wilma@harbour.example": secret, "Wilhelmina Vandersteen": [secret]}),
        json!({"messages": [{"role": "Wilhelmina Vandersteen", "content": secret}], "tools": [{"name": "f"}]}),
        json!(secret),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(folder.path().join("log.jsonl"), text + "{\"prompt\": \"" + secret).unwrap();
    for arguments in [
        &["inspect", "log.jsonl"][..],
        &["inspect", "--json", "log.jsonl"],
        &["init", "log.jsonl", "--out", "-"],
    ] {
        let told = shown(&run_in(folder.path(), arguments)).to_lowercase();
        for word in ["wilhelmina", "vandersteen", "wilma", "7946"] {
            assert!(!told.contains(word), "{word} in {told}");
        }
    }
}

#[test]
fn columns_of_unknown_names_are_guessed_and_the_drafted_pipeline_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("harbour log.jsonl"), unknown_log(40)).unwrap();
    snapshot("inspect_guessed", &run_in(folder.path(), &["inspect", "harbour log.jsonl"]), folder.path());
    let written = run_in(folder.path(), &["init", "harbour log.jsonl"]);
    snapshot("init_guessed", &written, folder.path());
    let plan = run_in(folder.path(), &["plan", "pipelines/harbour-log.toml"]);
    assert!(plan.status.success(), "{}", shown(&plan));
    let run = run_in(folder.path(), &["run", "pipelines/harbour-log.toml"]);
    assert!(run.status.success(), "{}", shown(&run));
    assert!(String::from_utf8_lossy(&run.stdout).contains("lines     40 = 40 requests"), "{}", shown(&run));
}

#[test]
fn the_pipeline_of_the_sample_log_runs_and_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sample.toml");
    let (out, run) = (out.to_str().unwrap(), folder.path().join("run"));
    let init = [&["init", "--out", out], &SAMPLE[..]].concat();
    snapshot("init_sample", &output(&init), folder.path());
    snapshot("init_sample_file", &output(&[&["init", "--out", "-"], &SAMPLE[..]].concat()), folder.path());
    snapshot("init_again", &output(&init), folder.path());
    assert!(output(&[&init[..], &["--force"]].concat()).status.success());
    assert!(output(&["plan", out]).status.success());
    let run = output(&["run", out, "--quiet", "--out", run.to_str().unwrap()]);
    assert!(run.status.success(), "{}", shown(&run));
}

#[test]
fn bad_input_has_an_exit_code_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("garbage.bin"), b"\x00\xff\x13not {a log\n\x07").unwrap();
    std::fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    std::fs::write(
        folder.path().join("tools.json"),
        "[{\"name\": \"tide\", \"description\": \"Tells the tide.\"}]",
    )
    .unwrap();
    std::fs::write(folder.path().join("pairs.csv"), "prompt,function\nHi,[],3\n").unwrap();
    for (name, file) in [
        ("inspect_garbage", "garbage.bin"),
        ("inspect_empty", "empty.jsonl"),
        ("inspect_docs", "tools.json"),
        ("inspect_ragged", "pairs.csv"),
        ("inspect_missing", "nowhere.jsonl"),
        ("inspect_folder", "."),
    ] {
        snapshot(name, &run_in(folder.path(), &["inspect", file]), folder.path());
    }
    assert_eq!(run_in(folder.path(), &["init", "-"]).status.code(), Some(2));
}

#[test]
fn help_describes_what_is_inspected() {
    for command in ["inspect", "init"] {
        snapshot(&format!("{command}_help"), &output(&[command, "--help"]), Path::new("/nowhere"));
    }
}

#[test]
fn a_table_without_a_header_is_reported_and_its_first_row_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let row =
        "When does Ann sail?,\"[{'name': 'tide', 'description': 'Tells the tide.', 'parameters': {}}]\"\n";
    std::fs::write(folder.path().join("log.csv"), row.repeat(3)).unwrap();
    let output = run_in(folder.path(), &["inspect", "log.csv"]);
    let text = shown(&output);
    assert!(text.contains("hint: a table has no header"), "{text}");
    assert!(!text.contains("Ann") && !text.contains("tide"), "{text}");
    let output = run_in(folder.path(), &["init", "log.csv", "--out", "-"]);
    assert!(!shown(&output).contains("Ann"), "{}", shown(&output));
}
