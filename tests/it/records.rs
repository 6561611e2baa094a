//! Tests that a row is found by the number of its record if its line is ambiguous: in arrays, tables and Parquet.

use std::path::{Path, PathBuf};

use crate::support::{callsieve, output, shown};
use callsieve::engine::frame::{Frame, FrameFile, Values, write_frame};
use callsieve::engine::raw::read_lines;
use callsieve::engine::seal::{FileSum, Sealed, read_sealed, write_sealed};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with inputs and a run of them.
struct Bench(TempDir);

impl Bench {
    /// Runs files of these names and contents.
    fn run(inputs: &[(&str, &str)]) -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        for (name, content) in inputs {
            std::fs::write(bench.0.path().join(name), content).unwrap();
        }
        bench.run_again(&inputs.iter().map(|(name, _)| bench.0.path().join(name)).collect::<Vec<_>>());
        bench
    }

    fn run_again(&self, inputs: &[PathBuf]) {
        let mut run = callsieve();
        run.args(["run", "pipelines/parse-only.toml", "--quiet", "--set", "max_fault_share=1", "--out"]);
        run.arg(self.out());
        for input in inputs {
            run.arg("--input").arg(input);
        }
        let output = run.output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("run")
    }

    /// Returns the output of a command on the run, with FOLDER as the folder.
    fn say(&self, command: &str, arguments: &[&str]) -> String {
        let out = self.out();
        let said = shown(&output(&[&[command, out.to_str().unwrap()], arguments].concat()));
        said.replace(self.0.path().to_str().unwrap(), "FOLDER")
    }

    fn why(&self, row: &str) -> String {
        self.say("why", &[row])
    }

    /// Returns lines and records of the rows, in the order in which they were read.
    fn rows(&self) -> Vec<(i64, i64)> {
        let rows = FrameFile::open(&self.out().join("rows.parquet")).unwrap().read_all().unwrap();
        let [lines, records] = ["line", "record"].map(|column| rows.ints(column).unwrap());
        (0..rows.height()).map(|row| (lines.get(row).unwrap(), records.get(row).unwrap())).collect()
    }
}

fn request(n: usize) -> Value {
    let docs = format!(r#"[{{"name": "tide_{n}", "description": "Tells the tide of harbour {n}."}}]"#);
    json!({"id": format!("own-{n}"), "query": format!("When is high tide in harbour {n}?"), "functions": docs})
}

/// Returns three requests and a number, all on one line.
fn array() -> String {
    json!([request(1), request(2), 7, request(3)]).to_string()
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn a_row_of_a_one_line_array_is_found_by_its_number() {
    let bench = Bench::run(&[("log.json", &array())]);
    assert_eq!(bench.rows(), [(1, 1), (1, 2), (1, 4)]);
    let lines = read_lines(&bench.out()).unwrap();
    assert_eq!(lines.iter().map(|line| (line.line, line.record)).collect::<Vec<_>>(), [(1, Some(3))]);
    assert_has(&bench.why("log.json#1"), &["exit: 0", "read      FOLDER/log.json#1, id own-1,"]);
    assert_has(&bench.why("log.json#2"), &["read      FOLDER/log.json#2, line 1, id own-2,"]);
    assert_eq!(bench.why("own-3"), bench.why("log.json#4"));
    let without = bench.why("log.json#3");
    assert_has(&without, &["exit: 0", "record FOLDER/log.json#3, line 1\n  fate      no-request: ingest/"]);
    assert_has(&bench.why("log.json#5"), &["exit: 2", "no row log.json#5"]);
}

#[test]
fn a_line_of_several_records_lists_them_with_a_hint() {
    let bench = Bench::run(&[("log.json", &array())]);
    let listed = bench.why("log.json:1");
    assert_has(&listed, &["exit: 0", "log.json:1 holds 4 records\n", "FILE#17"]);
    for n in 1..=4 {
        assert_has(&listed, &[&format!("FOLDER/log.json#{n}  ")]);
    }
    assert_has(&listed, &["no-request: ingest/"]);
    assert!(!listed.contains("story"), "{listed}");

    let many = json!((0..30).map(request).collect::<Vec<_>>()).to_string();
    let bench = Bench::run(&[("log.json", &many)]);
    let listed = bench.why("log.json:1");
    assert_has(&listed, &["holds 30 records", "log.json#20 ", "… and 10 more"]);
    assert!(!listed.contains("log.json#21"), "{listed}");
    let printed = output(&["why", bench.out().to_str().unwrap(), "log.json:1", "--json"]).stdout;
    let json: Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!((&json["kind"], json["records"].as_array().unwrap().len()), (&"records".into(), 30));
    assert_eq!(json["records"][20]["place"]["record"], 21);

    let pretty = serde_json::to_string_pretty(&json!([request(1), request(2)])).unwrap();
    let bench = Bench::run(&[("log.json", &pretty)]);
    assert_eq!(bench.rows(), [(2, 1), (7, 2)]);
    assert_has(&bench.why("log.json:7"), &["read      FOLDER/log.json#2, line 7, id own-2,"]);
}

#[test]
fn rows_of_a_table_with_line_breaks_keep_line_and_number() {
    let docs = r#""[{""name"": ""tide"", ""description"": ""Tells the tide.""}]""#;
    let table = format!(
        "query,functions,id\n\"high\ntide?\",{docs},a\n\"low\n\ntide?\",{docs},b\nneap\nspring?,{docs},c\n"
    );
    let bench = Bench::run(&[("rows.csv", &table)]);
    assert_eq!(bench.rows(), [(2, 1), (4, 2), (8, 4)]);
    let second = bench.why("rows.csv#2");
    assert_has(&second, &["read      FOLDER/rows.csv#2, line 4, id b,"]);
    assert_eq!(bench.why("rows.csv:4"), second);
    let ragged = bench.why("rows.csv#3");
    assert_has(&ragged, &["record FOLDER/rows.csv#3, line 7\n  fate      unreadable: ingest/ragged-row"]);
    assert_eq!(bench.why("rows.csv:7"), ragged);
}

#[test]
fn in_json_lines_the_number_is_the_line() {
    let text = format!("{}\n\n{}\n{{\n", request(1), request(2));
    let bench = Bench::run(&[("log.jsonl", &text)]);
    assert_eq!(bench.rows(), [(1, 1), (3, 3)]);
    let second = bench.why("log.jsonl:3");
    assert_has(&second, &["read      FOLDER/log.jsonl:3, id own-2,"]);
    assert_eq!(bench.why("log.jsonl#3"), second);
    assert_has(
        &bench.why("log.jsonl#2"),
        &["line FOLDER/log.jsonl:2\n  fate      no-request: ingest/blank-line"],
    );
    assert_has(&bench.why("log.jsonl:4"), &["line log.jsonl:4\n  fate      unreadable: ingest/not-json"]);
}

#[test]
fn an_id_of_a_line_without_a_request_has_a_hint() {
    let bench = Bench::run(&[("log.json", &array())]);
    let unknown = bench.why("own-7");
    assert_has(
        &unknown,
        &["exit: 2", "FILE:LINE, FILE#RECORD, or", "1 of 4 lines hold no request", "use FILE:LINE"],
    );
    // Without a file, this is an id that looks like a number.
    assert_has(&bench.why("#2"), &["exit: 2"]);
    let none = Bench::run(&[("log.json", &json!([request(1)]).to_string())]).why("own-7");
    assert!(!none.contains("hold no request"), "{none}");
}

#[test]
fn rows_of_parquet_are_identified_by_number() {
    let bench = Bench(tempfile::tempdir().unwrap());
    bench.run_again(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet/binary.parquet")]);
    assert_eq!(bench.rows(), [(1, 1), (2, 2)]);
    let second = bench.why("binary.parquet#2");
    assert_has(&second, &["exit: 0", "tests/parquet/binary.parquet#2, "]);
    assert!(!second.contains("line 2"), "{second}");
    assert_eq!(bench.why("binary.parquet:2"), second);
}

#[test]
fn answers_are_joined_from_the_record_that_holds_them() {
    let request = |n: usize| {
        let tool = json!({"type": "function", "function": {"name": "tide", "parameters": {}}});
        let messages = [json!({"role": "user", "content": format!("When is high tide in harbour {n}?")})];
        json!({"custom_id": n.to_string(), "method": "POST", "url": "/v1/chat/completions",
            "body": {"model": "m", "messages": messages, "tools": [tool]}})
    };
    let answer = |n: usize| {
        let message = json!({"role": "assistant", "content": format!("In harbour {n} at noon.")});
        json!({"id": format!("answer-{n}"), "custom_id": n.to_string(), "error": null,
            "response": {"status_code": 200, "body": {"choices": [{"finish_reason": "stop", "message": message}]}}})
    };
    let requests = json!([request(1), request(2), request(3)]).to_string();
    let answers = json!([answer(3), answer(2), answer(1)]).to_string();
    let bench = Bench::run(&[("in.json", &requests), ("out.json", &answers)]);
    for n in 1..=3 {
        let (asked, answered) = (format!("in.json#{n}"), format!("out.json#{}", 4 - n));
        assert_has(
            &bench.why(&asked),
            &[&format!("joined from FOLDER/{answered}"), &format!("In harbour {n} at")],
        );
        assert_has(
            &bench.why(&answered),
            &["joined-into: ingest/joined", &format!("into      FOLDER/{asked}")],
        );
    }
}

#[test]
fn a_forgotten_record_keeps_its_number() {
    let bench = Bench::run(&[("log.json", &array())]);
    let told = bench.say("forget", &["--id", "own-2", "--json"]);
    assert_has(&told, &[r#""file":"FOLDER/log.json","line":1,"record":2"#]);
    assert_has(&bench.say("forget", &["--id", "own-3"]), &["FOLDER/log.json#4, line 1: request"]);
    assert_eq!(bench.rows(), [(1, 1), (1, 2), (1, 4)]);
    assert_has(&bench.why("log.json#2"), &["read      FOLDER/log.json#2, line 1; only this place is kept"]);
    bench.run_again(&[bench.0.path().join("log.json")]);
    assert_eq!(bench.rows(), [(1, 1)]);
    assert_has(&bench.why("log.json#2"), &["record FOLDER/log.json#2, line 1\n  fate      forgotten: "]);
}

#[test]
fn inspect_names_lines_as_why_does() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.json");
    std::fs::write(&log, array()).unwrap();
    assert_has(&shown(&output(&["inspect", log.to_str().unwrap()])), &["  log.json#3\n"]);
}

/// Rewrites a raw table in the format of builds that counted no records.
fn take_out_records(path: &Path) {
    let frame: Frame = FrameFile::open(path).unwrap().read_all().unwrap();
    let rows = 0..frame.height();
    let names = frame.names().filter(|name| !name.contains("record"));
    let values = |name| match (frame.texts(name), frame.ints(name), frame.u32s(name)) {
        (Some(texts), ..) => Values::Text(rows.clone().map(|row| texts.get(row)).collect()),
        (_, Some(ints), _) => Values::Int(rows.clone().map(|row| ints.get(row)).collect()),
        (.., numbers) => Values::U32(rows.clone().map(|row| numbers.unwrap().get(row).unwrap()).collect()),
    };
    let columns = names.map(|name| (name, values(name))).collect();
    write_frame(path, columns).unwrap();
}

#[test]
fn a_run_of_a_build_that_counted_no_records_can_be_read() {
    let bench = Bench::run(&[("log.json", &array())]);
    let ingest = bench.out().join("ingest");
    let manifest = ingest.join("manifest.json");
    let Sealed { mut value, mut files, .. } = read_sealed::<Value>(&manifest).unwrap();
    assert_eq!(value.as_object_mut().unwrap().remove("by_record"), Some(json!([0])));
    for table in ["requests.parquet", "lines.parquet"] {
        take_out_records(&ingest.join(table));
        files.insert(table.to_owned(), FileSum::of(&ingest.join(table)).unwrap());
    }
    write_sealed(&manifest, &value, &files).unwrap();
    assert_has(&bench.why("own-2"), &["exit: 0", "read      FOLDER/log.json:1, id own-2,"]);
    let all = bench.why("log.json:1");
    assert_has(&all, &["exit: 0", "own-1", "own-2", "own-3"]);
}
