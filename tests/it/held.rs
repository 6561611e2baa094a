//! The round trip of held rows through the program: `callsieve held` lists them, a person decides, `--decisions` reads
//! the same file back, in each of the three formats.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::{assert_same_bytes, output, run_sample, shown, stable_bytes};
use callsieve::engine::frame::{FrameFile, FrameWriter, Values};
use serde_json::{Value, json};

type Row = BTreeMap<String, String>;

/// The sample run, and files next to it.
struct Sample {
    folder: tempfile::TempDir,
}

impl Sample {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        run_sample(&folder.path().join("run"), &[]);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What `held` prints for the run.
    fn held(&self, more: &[&str]) -> String {
        let run = self.path("run");
        let listed = output(&[&["held", run.to_str().unwrap()], more].concat());
        assert!(listed.status.success(), "{}", shown(&listed));
        String::from_utf8(listed.stdout).unwrap()
    }

    /// Runs the sample with the decisions of a file; every one must be applied.
    fn decided(&self, out: &str, decisions: &str) -> PathBuf {
        let (out, decisions) = (self.path(out), self.path(decisions));
        let run = run_sample(&out, &["--decisions", decisions.to_str().unwrap()]);
        let report: Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
        let left = &report["notes"]["split"]["decisions_not_applied"];
        assert!(left.as_array().is_none_or(Vec::is_empty), "{left} {}", shown(&run));
        out
    }
}

fn table(path: &Path) -> Vec<Value> {
    let frame = FrameFile::open(path).unwrap().read_all().unwrap();
    (0..frame.height()).map(|row| Value::Object(frame.row_json(row))).collect()
}

/// Cuts the byte order mark, which tells Excel that the file is UTF-8.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn rows_of_csv(text: &str) -> Vec<Row> {
    let text = without_mark(text);
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn header(text: &str) -> Vec<String> {
    let text = without_mark(text);
    csv::Reader::from_reader(text.as_bytes()).headers().unwrap().iter().map(str::to_owned).collect()
}

/// A table as a spreadsheet of a country with decimal commas saves it: byte order mark, semicolons, CRLF.
fn spreadsheet(header: &[String], rows: &[Row]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new()
        .delimiter(b';')
        .terminator(csv::Terminator::CRLF)
        .from_writer(b"\xef\xbb\xbf".to_vec());
    writer.write_record(header).unwrap();
    for row in rows {
        writer.write_record(header.iter().map(|name| &row[name])).unwrap();
    }
    writer.into_inner().unwrap()
}

/// The files of a run that equal runs share, except the card, which names the file of decisions.
fn without_card(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = stable_bytes(run);
    files.remove(Path::new("dataset/README.md")).expect("the card is one of them");
    files
}

/// Decides some rows by the log's own ids; a row keeps an empty decision otherwise.
fn decide(rows: &mut [Row]) {
    let answer = r#"[{"add_team":{"name":["Last Minute"],"members":[3]}}]"#;
    for (id, column, cell) in [
        ("r0104", "decision", "irrelevant"),
        ("r0079", "decision", " Irrelevant "),
        ("r0372", "decision", "answer"),
        ("r0372", "by", "=Kim"),
        ("r0124", "ground_truth", answer),
        ("r0161", "decision", "relevant"),
    ] {
        let row =
            rows.iter_mut().find(|row| row["external_id"] == id).unwrap_or_else(|| panic!("{id} is held"));
        row.insert(column.to_owned(), cell.to_owned());
    }
}

#[test]
fn held_rows_are_decided_in_a_table_and_every_format_gives_the_same_dataset() {
    let sample = Sample::new();
    let text = sample.held(&["--format", "csv"]);
    assert_eq!(text, sample.held(&["--format", "csv"]));
    let (header, mut rows) = (header(&text), rows_of_csv(&text));
    let held = |name: &str| {
        let all = table(&sample.path("run").join(name));
        // Lists that only wait for their requests need no decision.
        let is_listed = |row: &&Value| row["fate"] == "held" && row["reason"] != "cascade/no-request-left";
        all.iter().filter(is_listed).count()
    };
    assert!(held("lists.parquet") > 0);
    assert!(rows.iter().all(|row| row["reason"] != "cascade/no-request-left"));
    assert_eq!(rows.len(), held("rows.parquet") + held("lists.parquet"));
    let unsure = rows.iter().find(|row| row["external_id"] == "r0161").unwrap();
    assert_eq!((&unsure["table"][..], &unsure["reason"][..]), ("requests", "relevance/unsure"));
    assert_eq!((&unsure["category"][..], unsure["probability"].starts_with("0.")), ("parallel", true));
    assert!(unsure["recorded_answer"].starts_with(r#"[{"resize_image":{"file":["a.png"]"#), "{unsure:?}");
    let reason = sample.held(&["--format", "csv", "--reason", "relevance/unsure", "--limit", "3"]);
    assert!(rows_of_csv(&reason).iter().all(|row| row["reason"] == "relevance/unsure"));
    assert_eq!(rows_of_csv(&reason).len(), 3);

    // A file in which nobody decided anything changes nothing.
    std::fs::write(sample.path("empty.csv"), &text).unwrap();
    std::fs::write(sample.path("none.jsonl"), "").unwrap();
    let empty = without_card(&sample.decided("empty", "empty.csv"));
    assert_same_bytes(&empty, &without_card(&sample.decided("none", "none.jsonl")));

    decide(&mut rows);
    std::fs::write(sample.path("held.csv"), spreadsheet(&header, &rows)).unwrap();
    let out = sample.decided("csv", "held.csv");
    let all = table(&out.join("rows.parquet"));
    let fate = |id: &str| all.iter().find(|row| row["external_id"] == id).unwrap();
    for (id, category) in [("r0104", "irrelevance"), ("r0079", "irrelevance"), ("r0372", "simple")] {
        let row = fate(id);
        assert_eq!((&row["fate"], &row["category"]), (&json!("exported"), &json!(category)), "{row}");
    }
    assert_eq!(fate("r0372")["tier"], "human");
    assert_eq!(fate("r0124")["fate"], "held", "an answer without a decision is not applied");
    let why = shown(&output(&["why", out.to_str().unwrap(), "r0372"]));
    assert!(why.contains(r#""by":"=Kim""#), "{why}");

    let lines: String = rows.iter().map(|row| format!("{}\n", json!(row))).collect();
    std::fs::write(sample.path("held.jsonl"), lines).unwrap();
    let mut writer = FrameWriter::create(&sample.path("held.parquet"));
    let column = |name: &String| Values::Text(rows.iter().map(|row| Some(row[name].as_str())).collect());
    writer.write(header.iter().map(|name| (name.as_str(), column(name))).collect()).unwrap();
    writer.finish().unwrap();
    for format in ["jsonl", "parquet"] {
        let other = sample.decided(format, &format!("held.{format}"));
        assert_same_bytes(&without_card(&out), &without_card(&other));
    }
}

#[test]
fn accept_takes_the_recorded_answer_of_an_unverified_entry_as_verified() {
    let sample = Sample::new();
    let unverified = sample.held(&["--unverified", "--decide", "accept"]);
    let entries: Vec<Value> = unverified.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listed = table(&sample.path("run/dataset/data/unverified.parquet")).len();
    assert_eq!(entries.len(), listed);
    // One of them, by each of its ids.
    let one = &entries[0];
    let list = sample.held(&["--unverified", "--id", one["entry_id"].as_str().unwrap()]);
    assert_eq!(list, sample.held(&["--unverified", "--id", one["id"].as_str().unwrap()]));
    assert_eq!(list, sample.held(&["--unverified", "--id", one["external_id"].as_str().unwrap()]));
    assert_eq!(list.lines().count(), 1);

    std::fs::write(sample.path("accepted.jsonl"), &unverified).unwrap();
    let out = sample.decided("out", "accepted.jsonl");
    let all = table(&out.join("rows.parquet"));
    for entry in &entries {
        let row = all.iter().find(|row| row["request_id"] == entry["id"]).unwrap();
        assert_eq!(row["fate"], "exported", "{row}");
        assert_eq!(row["category"], entry["category"], "{row}");
        assert_eq!(row["tier"], "human", "{row}");
    }
    let again = output(&["held", out.to_str().unwrap(), "--unverified"]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), "", "none is unverified any more");
}

#[test]
fn faults_of_a_table_are_named_with_file_line_column_and_hint() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, bytes: &[u8]| {
        let (file, out) = (folder.path().join(name), folder.path().join("out"));
        std::fs::write(&file, bytes).unwrap();
        let run = output(&[
            "run",
            "--quiet",
            "--out",
            out.to_str().unwrap(),
            "--decisions",
            file.to_str().unwrap(),
        ]);
        assert_eq!(run.status.code(), Some(2), "{}", shown(&run));
        assert!(!out.exists() && shown(&run).contains("\nhint: "), "{}", shown(&run));
        shown(&run)
    };
    let table = "id,decision,ground_truth,question\na,maybe,,\"two\nlines\"\nb,answer,\"[{\",x\nc,answer,,x\nd,keep,,x,y\n";
    let faults = run("held.csv", table.as_bytes());
    for fault in [
        "held.csv:2: \"decision\": found \"maybe\", expected keep, drop, relevant, irrelevant, answer, edit or accept",
        "held.csv:4: \"ground_truth\": found \"[{\", expected calls such as clinic(day=\"Friday\"), or JSON",
        "held.csv:5: \"ground_truth\": found nothing, expected the calls that are right",
        "held.csv:6: found 5 cells, expected 4",
    ] {
        assert!(faults.contains(fault), "{fault} in {faults}");
    }
    assert!(run("held.csv", b"id,verdict\na,keep\n").contains("expected the column \"decision\" among them"));
    assert!(run("latin.csv", b"id,decision,why\na,keep,caf\xe9\n").contains("latin.csv:2: not UTF-8"));
    let utf_16: Vec<u8> = "\u{feff}id,decision\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(run("excel.csv", &utf_16).contains("found UTF-16, expected UTF-8; save the file as UTF-8"));
    assert!(run("empty.csv", b"\n").contains("the file is empty, expected a header and rows"));
    // Headers in any case are read, and what other programs write into empty cells is no decision.
    let table = b"ID, Decision ,ground_truth,by\na,NaN,nan,None\nb,<NA>,,\nc,None,,\nd,answer,NaN,\n";
    let faults = run("pandas.csv", table);
    assert!(faults.contains("pandas.csv:5: \"ground_truth\": found nothing"), "{faults}");
    assert_eq!(faults.matches("pandas.csv:").count(), 1, "{faults}");
    assert!(faults.contains("hint: the column decision is empty or has keep,"), "{faults}");
}

#[test]
fn a_cell_that_a_spreadsheet_would_run_is_text_and_an_edited_list_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let request = json!({"id": "=1+1", "query": "=SUM(A1) Ring the tower bell 5 times,\nplease",
        "functions": "[{\"name\": \"ring_mill\", \"parameters\": {\"type\": \"obj"});
    std::fs::write(place("log.jsonl"), format!("{request}\n")).unwrap();
    let (log, out, file) = (place("log.jsonl"), place("out"), place("held.csv"));
    output(&["run", "--quiet", "--set", "max_fault_share=1.0", &log, "--out", &out]);
    let listed = output(&["held", &out, "--format", "csv"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    let mut rows = rows_of_csv(&text);
    let of_table = |rows: &[Row], table: &str| rows.iter().position(|row| row["table"] == table).unwrap();
    let (request, list) = (of_table(&rows, "requests"), of_table(&rows, "doc_lists"));
    assert_eq!(rows[request]["external_id"], "'=1+1");
    assert!(rows[request]["question"].starts_with("'=SUM(A1) Ring"), "{rows:?}");
    assert_eq!(rows[list]["n_requests"], "1");
    let functions = json!([{"name": "ring_mill", "description": "Rings the bell of the mill so many times.",
        "parameters": {"type": "dict", "required": ["times"], "properties": {
            "times": {"type": "integer", "description": "How many times to ring."}}}}]);
    rows[list].extend([("decision".into(), "edit".into()), ("functions".into(), functions.to_string())]);
    let calls = r#"[{"ring_mill": {"times": [5]}}]"#;
    rows[request].extend([("decision".into(), "answer".into()), ("ground_truth".into(), calls.into())]);
    std::fs::write(&file, spreadsheet(&header(&text), &rows)).unwrap();
    let run = output(&["run", "--set", "max_fault_share=1.0", &log, "--out", &out, "--decisions", &file]);
    assert!(!shown(&run).contains("is not applied"), "{}", shown(&run));
    let all = table(&folder.path().join("out/rows.parquet"));
    assert_eq!((&all[0]["fate"], &all[0]["tier"]), (&json!("exported"), &json!("human")), "{}", shown(&run));
}

#[test]
fn rows_parquet_answers_common_questions_with_its_columns_alone() {
    let sample = Sample::new();
    let rows = table(&sample.path("run/rows.parquet"));
    let text = |name: &str| -> Vec<Option<String>> {
        rows.iter().map(|row| row[name].as_str().map(str::to_owned)).collect()
    };
    let [fates, files, queries, categories, tiers] =
        ["fate", "file_name", "query", "category", "tier"].map(text);
    let exported = |at: &usize| fates[*at].as_deref() == Some("exported");
    let by_category = (0..rows.len()).filter(exported).fold(BTreeMap::new(), |mut counts, at| {
        *counts.entry(categories[at].clone().unwrap()).or_insert(0) += 1;
        let is_answered =
            categories[at].as_deref().is_some_and(|name| name.contains("multiple") || name == "simple");
        assert!(queries[at].is_some() && (tiers[at].is_some() || !is_answered));
        counts
    });
    let mut entries: BTreeMap<String, i32> = BTreeMap::new();
    for set in ["scored", "unverified"] {
        for entry in table(&sample.path(&format!("run/dataset/data/{set}.parquet"))) {
            *entries.entry(entry["category"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
    }
    assert_eq!(by_category, entries);
    assert!(files.iter().flatten().any(|name| name == "hosted.jsonl"), "{files:?}");
    let has = |part: &str| queries.iter().flatten().any(|query| query.contains(part));
    assert!(has("user2@example.com") && !has("ragnhild.moe@"), "queries are redacted");
}

#[test]
fn a_file_that_somebody_wrote_is_not_replaced() {
    let sample = Sample::new();
    let run = sample.path("run");
    let held = |out: &Path| output(&["held", run.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let refused = |name: &str, bytes: &[u8], why: &str| {
        let file = sample.path(name);
        std::fs::write(&file, bytes).unwrap();
        let ended = held(&file);
        assert_eq!(ended.status.code(), Some(2), "{name}: {}", shown(&ended));
        assert!(shown(&ended).contains(why) && shown(&ended).contains("\nhint: "), "{}", shown(&ended));
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{name}");
    };
    let why = "the file exists and is not an unfilled review file";
    refused("log.jsonl", b"{\"query\": \"When is low tide?\"}\n", why);
    refused("table.csv", b"id,decision\na,\n", why);
    refused("notes.csv", b"remember the milk\n", why);
    for name in ["held.csv", "held.jsonl", "held.parquet"] {
        let file = sample.path(name);
        for _ in 0..2 {
            let ended = held(&file);
            assert!(ended.status.success(), "nothing is filled in: {}", shown(&ended));
        }
    }
    for name in ["held.xlsx", "held"] {
        let ended = held(&sample.path(name));
        assert_eq!(ended.status.code(), Some(2), "{}", shown(&ended));
        assert!(shown(&ended).contains("expected .csv, .jsonl or .parquet"), "{}", shown(&ended));
        assert!(!sample.path(name).exists());
    }
    let text = std::fs::read_to_string(sample.path("held.csv")).unwrap();
    assert!(text.starts_with('\u{feff}'), "Excel needs a byte order mark");
    let (header, mut rows) = (header(&text), rows_of_csv(&text));
    for (column, cell) in [("decision", "drop"), ("why", "ask Kim"), ("ground_truth", "[]")] {
        let before = rows[3].insert(column.to_owned(), cell.to_owned()).unwrap();
        refused("held.csv", &spreadsheet(&header, &rows), why);
        rows[3].insert(column.to_owned(), before);
    }

    for inside in ["report.json", "held.csv", "dataset/data/held.jsonl", "new/held.csv"] {
        let ended = held(&run.join(inside));
        assert_eq!(ended.status.code(), Some(2), "{inside}: {}", shown(&ended));
        assert!(shown(&ended).contains("this is inside the run folder "), "{}", shown(&ended));
    }
    assert!(!run.join("held.csv").exists() && !run.join("new").exists());
    assert!(shown(&held(sample.folder.path())).contains("this is a folder\nhint: "));
    let verified = output(&["verify", run.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", shown(&verified));
}

/// Writes a log of two equal requests with different calls, and runs it.
fn run_of_two_answers(folder: &Path) -> PathBuf {
    let first = ("first", json!({"boat": "blue kayak", "day": "Friday"}));
    run_of_answers(
        folder,
        &[first, ("second", json!({"boat": "kayak, blue one", "day": "friday", "seats": 2}))],
    )
}

/// Writes a log of equal requests, each with an id and the arguments of its call (null: it was declined), and runs it.
fn run_of_answers(folder: &Path, answers: &[(&str, Value)]) -> PathBuf {
    let tool = json!({"type": "function", "function": {
        "name": "book_boat", "description": "Books a boat of the rowing club for a member.",
        "parameters": {"type": "object", "required": ["boat", "day"], "properties": {
            "boat": {"type": "string", "description": "Name of the boat to be booked"},
            "day": {"type": "string", "description": "Day on which the boat is needed"},
            "seats": {"type": "integer", "description": "Number of seats", "default": 1},
        }},
    }});
    let line = |(id, arguments): &(&str, Value)| {
        let call = json!({"id": id, "type": "function", "function": {"name": "book_boat", "arguments": arguments.to_string()}});
        let response = match arguments {
            Value::Null => json!({"role": "assistant", "content": "I cannot book boats."}),
            _ => json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        };
        let question = json!({"role": "user", "content": "Please book the blue kayak for Ann on Friday"});
        let record = json!({"id": id, "messages": [question], "tools": [tool], "response": response});
        format!("{record}\n")
    };
    let log: String = answers.iter().map(line).collect();
    let (path, out) = (folder.join("log.jsonl"), folder.join("run"));
    std::fs::write(&path, log).unwrap();
    let run = output(&["run", path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert!(run.status.success(), "{}", shown(&run));
    out
}

fn answers(run: &Path, folder: &str) -> Value {
    let path = run.join("dataset").join(folder).join("possible_answer/BFCL_v4_live_simple.json");
    serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()["ground_truth"].take()
}

#[test]
fn other_answers_of_equal_requests_are_suggested_and_used_only_if_a_person_confirms_them() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of_two_answers(folder.path());
    let path = run.to_str().unwrap();
    let own = json!([{"book_boat": {"boat": ["blue kayak"], "day": ["Friday"], "seats": ["", 1]}}]);
    let united = json!([{"book_boat": {"boat": ["blue kayak", "kayak, blue one"], "day": ["Friday"], "seats": ["", 1, 2]}}]);
    assert_eq!(answers(&run, "unverified"), own);

    let why = shown(&output(&["why", path, "first"]));
    assert!(why.contains("suggest: answer/other-alternatives") && why.contains("kayak, blue one"), "{why}");
    let report: Value = serde_json::from_slice(&std::fs::read(run.join("report.json")).unwrap()).unwrap();
    let edits = report["edits"].as_array().unwrap();
    assert!(
        edits.iter().any(|edit| edit["reason"] == "answer/other-alternatives" && edit["edits"] == 1),
        "{report:#}"
    );

    let listed = output(&["held", path, "--candidates"]);
    let row: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((&row["recorded_answer"], &row["ground_truth"]), (&own, &united));
    assert_eq!(row["reason"], "answer/other-alternatives");

    let decided = folder.path().join("decided.jsonl");
    let decided = decided.to_str().unwrap();
    let log = folder.path().join("log.jsonl");
    for (decision, expected) in [("accept", &own), ("answer", &united)] {
        let written = output(&["held", path, "--candidates", "--decide", decision]);
        std::fs::write(decided, written.stdout).unwrap();
        let out = folder.path().join(decision);
        let again =
            output(&["run", log.to_str().unwrap(), "--out", out.to_str().unwrap(), "--decisions", decided]);
        assert!(again.status.success(), "{}", shown(&again));
        assert_eq!(&answers(&out, ""), expected, "{decision}");
    }
}

#[test]
fn a_suggestion_made_from_a_forgotten_answer_is_forgotten_too() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of_two_answers(folder.path());
    let path = run.to_str().unwrap();
    let forgotten = output(&["forget", path, "--id", "second"]);
    assert!(forgotten.status.success(), "{}", shown(&forgotten));
    let why = shown(&output(&["why", path, "first"]));
    assert!(!why.contains("kayak, blue one") && !why.contains("answer/other-alternatives"), "{why}");
    assert_eq!(output(&["held", path, "--candidates"]).stdout, b"");
    assert!(output(&["verify", path]).status.success());
}

#[test]
fn a_suggestion_quotes_no_answer_that_is_lost_because_its_request_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let answers = [
        ("first", Value::Null),
        ("second", json!({"boat": "zqx kayak", "day": "Friday"})),
        ("third", json!({"boat": "blue kayak", "day": "Friday"})),
    ];
    let run = run_of_answers(folder.path(), &answers);
    let path = run.to_str().unwrap();
    assert!(shown(&output(&["why", path, "first"])).contains("zqx kayak"));
    let forgotten = output(&["forget", path, "--id", "second"]);
    assert!(forgotten.status.success(), "{}", shown(&forgotten));
    let why = shown(&output(&["why", path, "first"]));
    assert!(why.contains("forgotten/answer") && !why.contains("zqx"), "{why}");
    assert!(output(&["verify", path]).status.success());
}

/// Returns a value that a schema allows.
fn allowed(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "integer" => json!(1),
        "float" => json!(1.5),
        "boolean" => json!(true),
        "array" | "tuple" => json!([allowed(&schema["items"])]),
        "dict" => json!({}),
        _ => json!("a word"),
    }
}

/// Returns an answer that fits the docs: a call of the first function.
fn fitting_answer(functions: &Value) -> Value {
    let function = &functions[0];
    let parameters = function["parameters"]["properties"].as_object().cloned().unwrap_or_default();
    let parameters: serde_json::Map<String, Value> =
        parameters.into_iter().map(|(name, schema)| (name, json!([allowed(&schema)]))).collect();
    json!([{ function["name"].as_str().unwrap_or("f"): parameters }])
}

/// Rows that no reason of the sample log holds: docs that have to be edited, and a message that goes on from one of the assistant.
fn further_rows() -> String {
    let tool = |kind: &str| {
        json!([{"name": "ring_gong", "description": "Rings the gong of the harbour.", "parameters": {
        "type": "object", "required": ["times"],
        "properties": {"times": {"type": kind, "description": "How many times the gong is rung"}}}}])
    };
    let question = json!({"role": "user", "content": "Ring the gong of the harbour three times please"});
    let call = json!({"id": "c1", "type": "function", "function": {"name": "ring_gong", "arguments": "{\"times\": 3}"}});
    let called = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let begun = json!({"role": "assistant", "content": "I will ring it"});
    let done = json!({"role": "assistant", "content": "Done."});
    let tools = |kind: &str| json!([{"type": "function", "function": tool(kind)[0]}]);
    [
        json!({"id": "schema", "messages": [question], "tools": tools("gongs"), "response": called}),
        json!({"id": "later", "messages": [question, begun], "tools": tools("integer"), "response": done}),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect()
}

#[test]
fn possible_decisions_are_those_that_change_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let more = folder.path().join("more.jsonl");
    std::fs::write(&more, further_rows()).unwrap();
    let held = |name: &str, decisions: &[Value]| {
        let file = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(&file, decisions.iter().map(|row| format!("{row}\n")).collect::<String>()).unwrap();
        let mut rows: Vec<Value> = Vec::new();
        for (inputs, nth) in [(&[][..], 0), (&["--input", more.to_str().unwrap()][..], 1)] {
            let out = folder.path().join(format!("{name}-{nth}"));
            let with = [inputs, &["--decisions", file.to_str().unwrap()]].concat();
            crate::support::run_sample(&out, if decisions.is_empty() { inputs } else { &with });
            let listed = output(&["held", out.to_str().unwrap(), "--format", "jsonl"]);
            rows.extend(
                String::from_utf8(listed.stdout)
                    .unwrap()
                    .lines()
                    .map(|line| serde_json::from_str(line).unwrap()),
            );
        }
        rows
    };
    let before = held("before", &[]);
    let class = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("table"), text("reason"), !row["recorded_answer"].is_null())
    };
    // What each decision changed of the rows of a class: one of them at least.
    let mut changed: BTreeMap<(String, String, bool), BTreeSet<&str>> = BTreeMap::new();
    // And of each row.
    let mut changed_row: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for word in ["keep", "drop", "relevant", "irrelevant", "answer", "edit", "accept"] {
        let is_list = |row: &Value| row["table"] == "doc_lists";
        let is_given = |row: &&Value| match word {
            "answer" | "relevant" | "irrelevant" => !is_list(row),
            "accept" => !is_list(row) && !row["recorded_answer"].is_null(),
            "edit" => is_list(row),
            _ => true,
        };
        // A list and its requests would be decided at once, and the effect would not be that on one of them.
        for lists in [false, true] {
            let decide = |row: &Value| {
                let mut row = row.clone();
                row["decision"] = word.into();
                match word {
                    "answer" => row["ground_truth"] = fitting_answer(&row["functions"]),
                    "edit" => {
                        row["functions"] = json!([{"name": "ring_gong", "description": "Rings the gong.",
                            "parameters": {"type": "dict", "required": [], "properties": {}}}]);
                    }
                    _ => {}
                }
                row
            };
            let decided: Vec<Value> =
                before.iter().filter(|row| is_list(row) == lists).filter(is_given).map(decide).collect();
            if decided.is_empty() {
                continue;
            }
            let after = held(&format!("{word}-{lists}"), &decided);
            let is_held = |row: &Value| after.iter().any(|other| other["id"] == row["id"]);
            for row in decided.iter().filter(|row| !is_held(row)) {
                changed.entry(class(row)).or_default().insert(word);
                changed_row.entry(row["id"].to_string()).or_default().insert(word);
            }
        }
    }
    for row in &before {
        let possible: BTreeSet<&str> = row["possible_decisions"].as_str().unwrap().split(", ").collect();
        // Without any answer, keeping a request helps only if one with a call was merged into it: the rows of the class differ.
        let of_class = if class(row) == ("requests".to_owned(), "relevance/unsure".to_owned(), false) {
            changed_row.get(&row["id"].to_string()).cloned().unwrap_or_default()
        } else {
            changed.get(&class(row)).cloned().unwrap_or_default()
        };
        // `accept` of an answer that a stage refused is `answer` with it, and can be right.
        let of_class: BTreeSet<&str> =
            of_class.into_iter().filter(|word| *word != "accept" || possible.contains("accept")).collect();
        assert_eq!(of_class, possible, "{:?}", class(row));
    }
    let reasons: BTreeSet<&str> = before.iter().map(|row| row["reason"].as_str().unwrap()).collect();
    for reason in [
        "relevance/unsure",
        "split/no-answer",
        "overlap/public-query",
        "parse/truncated",
        "schema/unknown-type",
        "conversation/no-first-step",
    ] {
        assert!(reasons.contains(reason), "{reason}: {reasons:?}");
    }
}

#[test]
fn a_decision_is_filled_in_where_it_is_possible_and_a_filled_row_without_one_is_named() {
    let sample = Sample::new();
    let run = sample.folder.path().join("run");
    let run = run.to_str().unwrap();
    let file = sample.folder.path().join("accept.jsonl");
    let written = output(&["held", run, "--decide", "accept", "--out", file.to_str().unwrap()]);
    assert!(
        shown(&written).contains("accept is filled in for 13 rows, and cannot change the other "),
        "{}",
        shown(&written)
    );
    let rows: Vec<Value> = std::fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for row in &rows {
        let possible = row["possible_decisions"].as_str().unwrap().split(", ").any(|word| word == "accept");
        assert_eq!(row["decision"] == "accept", possible, "{row}");
    }
    let none = output(&["held", run, "--reason", "split/no-answer", "--decide", "keep"]);
    assert_eq!(none.status.code(), Some(2), "{}", shown(&none));
    assert!(
        shown(&none).contains("keep can change no row that is listed\nhint: these can change "),
        "{}",
        shown(&none)
    );

    let mut row = rows.iter().find(|row| row["reason"] == "relevance/unsure").unwrap().clone();
    row["decision"] = "".into();
    row["ground_truth"] = json!([{"f": {}}]);
    std::fs::write(&file, format!("{row}\n")).unwrap();
    let again = crate::support::run_sample(
        &sample.folder.path().join("again"),
        &["--decisions", file.to_str().unwrap()],
    );
    let expected =
        "accept.jsonl:1: ground_truth is filled in, but decision is empty, so the row is not decided";
    assert!(shown(&again).contains(expected), "{}", shown(&again));
}

#[test]
fn forget_names_the_answers_of_people_that_may_repeat_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of_two_answers(folder.path());
    let path = run.to_str().unwrap();
    let decided = folder.path().join("decided.jsonl");
    std::fs::write(&decided, output(&["held", path, "--candidates", "--decide", "answer"]).stdout).unwrap();
    let log = folder.path().join("log.jsonl");
    let again = ["run", log.to_str().unwrap(), "--out", path, "--decisions", decided.to_str().unwrap()];
    assert!(output(&again).status.success());
    assert!(answers(&run, "").to_string().contains("kayak, blue one"));
    let forgotten = output(&["forget", path, "--id", "second", "--json"]);
    let forgotten: Value = serde_json::from_slice(&forgotten.stdout).unwrap();
    let why = shown(&output(&["why", path, "first"]));
    let id = why.split("request ").nth(1).unwrap().split_whitespace().next().unwrap();
    assert_eq!(forgotten["answered_by_people"], json!([id]));
}
