//! Tests of runs on damaged, empty, endless or unusual inputs: the run reports and counts all of them, and fails the
//! gate if something is missing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::support::{callsieve, shown};
use serde_json::{Value, json};

/// Returns a log of `n` requests.
fn log(n_rows: usize) -> String {
    let row = |n: usize| {
        let docs = format!(r#"[{{"name": "tide_{n}", "description": "Tells the tide of harbour {n}."}}]"#);
        json!({"query": format!("When is high tide in harbour {n}?"), "functions": docs}).to_string() + "\n"
    };
    (0..n_rows).map(row).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Reads a file. Returns the outcome and the run folder.
fn run(folder: &Path, input: &Path, more: &[&str]) -> (Output, PathBuf) {
    let out = folder.join("run");
    let mut command = callsieve();
    command.args(["run", "pipelines/parse-only.toml", "--quiet", "--fresh", "--input"]).arg(input);
    (command.arg("--out").arg(&out).args(more).output().unwrap(), out)
}

fn ingest(run: &Path) -> Value {
    serde_json::from_slice::<Value>(&std::fs::read(run.join("report.json")).unwrap()).unwrap()["ingest"]
        .clone()
}

/// Reads a file of this name. Returns the outcome, the messages and the counts.
fn ended(name: &str, content: &[u8], more: &[&str]) -> (i32, String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join(name);
    std::fs::write(&input, content).unwrap();
    let (output, out) = run(folder.path(), &input, more);
    let shown = shown(&output).replace(&folder.path().display().to_string(), "FOLDER");
    (output.status.code().unwrap(), shown, ingest(&out))
}

fn parquet(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet").join(name).with_extension("parquet")
}

#[test]
fn a_file_that_ends_too_early_fails_the_gate_by_name() {
    let text = log(3000);
    let zipped = gzip(&text);
    let framed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let array = format!("[{}]", text.trim_end().replace('\n', ",\n"));
    for (name, content) in [
        ("log.jsonl.gz", &zipped[..zipped.len() * 2 / 3]),
        ("log.jsonl.zst", &framed[..framed.len() * 2 / 3]),
        ("log.json", &array.as_bytes()[..array.len() * 2 / 3]),
    ] {
        let (code, shown, counts) = ended(name, content, &[]);
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains(&format!("gate failed: FOLDER/{name} was not read to its end: ")), "{shown}");
        assert!(counts["records"].as_u64().unwrap() > 500 && counts["unreadable"] == 1, "{counts}");
        let (code, shown, _) = ended(name, content, &["--set", "max_fault_share=1"]);
        assert_eq!(code, 0, "who takes any share of faults takes this: {shown}");
    }
}

#[test]
fn a_resumed_run_fails_the_gate_for_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("log.jsonl.gz");
    let zipped = gzip(&log(3000));
    std::fs::write(&input, &zipped[..zipped.len() / 2]).unwrap();
    let (first, out) = run(folder.path(), &input, &[]);
    let again = callsieve()
        .args(["run", "pipelines/parse-only.toml", "--quiet", "--input"])
        .arg(&input)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!((first.status.code(), again.status.code()), (Some(1), Some(1)));
    assert!(shown(&again).contains("was not read to its end"), "{}", shown(&again));
}

#[test]
fn no_possibly_wrong_line_of_a_corrupt_file_is_kept() {
    let (one, mut other) = (gzip(&log(200)), gzip(&log(3000)));
    let place = other.len() - 6;
    other[place] ^= 1;
    let (code, shown, counts) = ended("log.jsonl.gz", &[one, other].concat(), &[]);
    assert_eq!((code, &counts["records"], &counts["unreadable"]), (1, &json!(200), &json!(1)), "{shown}");
    assert!(shown.contains("bytes are sound"), "{shown}");
}

#[test]
fn an_input_without_a_line_fails_the_gate_and_shows_no_table_of_zeros() {
    let empty = std::fs::read(parquet("empty")).unwrap();
    for (name, content) in [
        ("log.jsonl", &b""[..]),
        ("log.csv", b"query,functions\n"),
        ("log.csv", b"\r\r\r"),
        ("log.json", b"[]"),
        ("log.jsonl.gz", &gzip("")),
        ("log.parquet", &empty),
    ] {
        let (code, shown, _) = ended(name, content, &[]);
        assert_eq!(code, 1, "{name}: {shown}");
        assert!(
            shown.contains("the inputs are empty\nhint: ") && shown.contains("gate failed: no request"),
            "{shown}"
        );
        assert!(!shown.contains("after this step"), "{shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read_once_and_two_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = ["one", "two.jsonl", "table.csv"].map(|name| folder.path().join(name));
    for pipe in &pipes {
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    for pipe in &pipes[..2] {
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, log(500))
        });
        let (output, out) = run(folder.path(), pipe, &[]);
        assert!(output.status.success(), "{}", shown(&output));
        assert_eq!(ingest(&out)["records"], 500);
        writer.join().unwrap().unwrap();
    }
    // They have no writer, so opening one would never return.
    let (output, _) = run(folder.path(), &pipes[0], &["--input", pipes[1].to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(shown(&output).contains("are both pipes"), "{}", shown(&output));
    let (output, _) = run(folder.path(), &pipes[2], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(shown(&output).contains("pipes are read as JSON only"), "{}", shown(&output));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_that_waits_for_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = callsieve();
    command.args(["run", "--quiet", "--input"]).arg(&pipe).arg("--out").arg(folder.path().join("run"));
    let run = command.stderr(Stdio::piped()).spawn().unwrap();
    // It waits for a writer after it has locked its folder.
    while !folder.path().join("run/stdin.partial").exists() {
        std::thread::yield_now();
    }
    let id = run.id().to_string();
    // Tests that a shell starts in the background ignore SIGINT.
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", shown(&ended));
    assert!(shown(&ended).contains("error: interrupted"), "{}", shown(&ended));
    assert!(!folder.path().join("run/stdin.partial").exists());
}

#[cfg(unix)]
#[test]
fn a_signal_while_standard_input_is_copied_leaves_no_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut command = callsieve();
    command.args(["run", "--quiet", "-", "--out"]).arg(&out);
    let mut run = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // More than a pipe holds, so that a part is in the copy; the end never comes.
    let mut stdin = run.stdin.take().unwrap();
    stdin.write_all(log(1000).as_bytes()).unwrap();
    assert!(out.join("stdin.partial").metadata().unwrap().len() > 0);
    let id = run.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", shown(&ended));
    assert!(shown(&ended).contains("error: interrupted"), "{}", shown(&ended));
    assert!(!out.join("stdin.partial").exists() && !out.join("stdin").exists());
    drop(stdin);
}

#[test]
fn a_table_with_carriage_returns_alone_is_read_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..40)
        .map(|n| format!("When is high tide\nin harbour {n}?,\"[{{\"\"name\"\": \"\"tide_{n}\"\"}}]\"\r"))
        .map(|row| row.replacen("When", "\"When", 1).replacen("?,", "?\",", 1))
        .collect();
    let table = format!("QUERY,Functions\r{rows}");
    let (code, shown_run, counts) = ended("log.csv", table.as_bytes(), &[]);
    assert_eq!((code, &counts["records"], &counts["lines"]), (0, &json!(40), &json!(40)), "{shown_run}");
    let input = folder.path().join("log.csv");
    std::fs::write(&input, &table).unwrap();
    let look = callsieve().arg("inspect").arg(&input).output().unwrap();
    assert!(shown(&look).contains("40 sampled: 40 requests"), "{}", shown(&look));
}

#[test]
fn an_input_with_bytes_and_no_row_is_named_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let [log_file, header] = ["log.jsonl", "table.csv"].map(|name| folder.path().join(name));
    std::fs::write(&log_file, log(5)).unwrap();
    std::fs::write(&header, "query,functions\r").unwrap();
    let (output, _) = run(folder.path(), &log_file, &["--input", header.to_str().unwrap()]);
    assert!(output.status.success(), "{}", shown(&output));
    let expected = format!("1 input has bytes and no row: {}\nhint: `callsieve inspect ", header.display());
    assert!(shown(&output).contains(&expected), "{}", shown(&output));
    std::fs::write(&header, "").unwrap();
    let (output, _) = run(folder.path(), &log_file, &["--input", header.to_str().unwrap()]);
    assert!(!shown(&output).contains("no row"), "{}", shown(&output));
}

#[test]
fn millions_of_blank_lines_are_a_few_entries_and_why_explains_each() {
    let n_blank = 2_000_000;
    let text = format!("{}{}", "\n".repeat(n_blank), log(2));
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("log.jsonl.zst");
    std::fs::write(&input, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let (output, out) = run(folder.path(), &input, &[]);
    assert!(output.status.success(), "{}", shown(&output));
    let counts = ingest(&out);
    assert_eq!((&counts["lines"], &counts["no_request"]), (&json!(n_blank + 2), &json!(n_blank)));
    assert!(callsieve::engine::raw::read_lines(&out).unwrap().len() < 10);
    let why = callsieve().arg("why").arg(&out).arg("log.jsonl.zst:1234567").output().unwrap();
    assert!(shown(&why).contains("ingest/blank-line"), "{}", shown(&why));
    let (_, limited, counts) = ended("log.jsonl", text.as_bytes(), &["--limit", "1"]);
    assert_eq!(counts["lines"], json!(n_blank + 2), "{limited}");
}

#[test]
fn parquet_of_other_tools_is_read_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for (name, n_requests) in [
        ("binary", 2),
        ("binary_nested", 2),
        ("unread", 2),
        ("read_types", 2),
        ("times_millis", 2),
        ("times_seconds", 2),
        ("times_days", 2),
        ("deep", 2),
        ("not_text", 1),
    ] {
        let (output, out) = run(folder.path(), &parquet(name), &["--set", "max_fault_share=1"]);
        assert!(output.status.success(), "{name}: {}", shown(&output));
        assert_eq!(ingest(&out)["records"], n_requests, "{name}: {}", shown(&output));
        let inspect = callsieve().args(["inspect", "--json"]).arg(parquet(name)).output().unwrap();
        let look: Value = serde_json::from_slice(&inspect.stdout).unwrap();
        assert_eq!(look["lines"]["requests"], n_requests, "{name}: {look:#}");
    }
    let lines = callsieve::engine::raw::read_lines(&folder.path().join("run")).unwrap();
    assert_eq!(lines[0].reason, "ingest/not-utf8");
    assert!(lines[0].detail.starts_with("column \"prompt\": 12 bytes"), "{}", lines[0].detail);

    let pairs = callsieve().args(["pairs", "--field", "prompt"]).arg(parquet("unread")).output().unwrap();
    assert!(pairs.status.success() && shown(&pairs).contains("\"a\":1,\"b\":2"), "{}", shown(&pairs));
    let by_vectors = format!("file:{}", parquet("vectors").display());
    let cosine =
        ["pairs", "--metric", "cosine", "--field", "text", "--threshold", "0.5", "--embedder", &by_vectors];
    let pairs = callsieve().args(cosine).arg(parquet("vectors")).output().unwrap();
    assert!(pairs.status.success() && shown(&pairs).contains("\"a\":1,\"b\":2"), "{}", shown(&pairs));
}

#[test]
fn fix_reports_that_it_reads_no_parquet() {
    let fix = callsieve().arg("fix").arg(parquet("binary")).output().unwrap();
    assert_eq!(fix.status.code(), Some(2), "{}", shown(&fix));
    assert!(shown(&fix).contains("docs are not read from Parquet\nhint: "), "{}", shown(&fix));
}

#[test]
fn an_unreadable_column_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (output, _) = run(folder.path(), &parquet("deep_and_read"), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    let said = shown(&output);
    assert!(
        said.contains("deep_and_read.parquet: column \"prompt\" cannot be read") && said.contains("\nhint: "),
        "{said}"
    );
}

#[test]
fn the_limit_of_lines_applies_to_rows_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    let limit = ["--set", "ingest.max_line_bytes=900000", "--set", "max_fault_share=1"];
    let (output, _) = run(folder.path(), &parquet("dictionary"), &limit);
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    assert!(shown(&output).contains("found 300 ingest/line-too-long"), "{}", shown(&output));
}

#[test]
fn a_missing_file_is_reported_once() {
    let pairs = callsieve().args(["pairs", "--field", "q", "/none"]).output().unwrap();
    assert_eq!(shown(&pairs).matches("there is no such file").count(), 1, "{}", shown(&pairs));
}

/// Writes two logs into a folder, one of them in a subfolder.
fn logs(folder: &Path) {
    std::fs::create_dir_all(folder.join("logs/below")).unwrap();
    let line = |query: &str| {
        json!({"query": query, "functions": [{"name": "ring", "description": "Rings the bell of the harbour."}]})
            .to_string()
    };
    std::fs::write(folder.join("logs/one.jsonl"), line("Ring the bell at noon, please.")).unwrap();
    std::fs::write(folder.join("logs/below/two.jsonl"), line("Is the bell rung at night?")).unwrap();
    std::fs::write(folder.join("logs/notes.md"), "no log").unwrap();
}

#[test]
fn a_run_takes_logs_folders_and_patterns_and_is_named_after_them() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let run = |arguments: &[&str]| {
        let output = callsieve().args(arguments).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", shown(&output));
    };
    let requests = |out: &str| {
        crate::support::report_without_timing(&folder.path().join(out))["ingest"]["records"].clone()
    };
    for (arguments, out, n) in [
        (&["run", "logs/one.jsonl"][..], "out/one", 1),
        (&["run", "logs"], "out/logs", 2),
        (&["run", "logs/*.jsonl", "--out", "out/pattern"], "out/pattern", 1),
        (&["run", "logs/**/*.jsonl", "--out", "out/all"], "out/all", 2),
        (&["run", "--input", "logs/below", "--out", "out/flag"], "out/flag", 1),
    ] {
        run(arguments);
        assert_eq!(requests(out), n, "{arguments:?}");
    }
    // A pipeline and a log: the log replaces the pipeline's own inputs.
    std::fs::write(
        folder.path().join("mine.toml"),
        "[ingest]\ninputs = [\"logs\"]\n[[stages]]\nkind = \"parse-docs\"\n",
    )
    .unwrap();
    run(&["run", "mine.toml"]);
    run(&["run", "logs/one.jsonl", "mine.toml", "--out", "out/both"]);
    assert_eq!((requests("out/mine"), requests("out/both")), (json!(2), json!(1)));
}

#[test]
fn a_run_without_inputs_has_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| callsieve().args(arguments).current_dir(folder.path()).output().unwrap();
    let bare = run(&["run"]);
    assert_eq!(bare.status.code(), Some(2), "{}", shown(&bare));
    assert!(shown(&bare).contains("`callsieve run mylog.jsonl`"), "{}", shown(&bare));
    std::fs::write(folder.path().join("empty.jsonl"), "\n").unwrap();
    let empty = run(&["run", "empty.jsonl"]);
    assert_eq!(empty.status.code(), Some(1), "{}", shown(&empty));
    let table = String::from_utf8_lossy(&empty.stdout);
    assert!(!table.contains("merge-near-docs"), "no table of zeros: {table}");
}
