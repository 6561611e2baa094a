//! Tests of finished conversations and batch files, from files on disk to finished runs.
//!
//! Public samples are in the data folder (`callsieve_testkit::data`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::{assert_same_bytes, callsieve, output, report_without_timing, shown, stable_bytes};
use callsieve::conversation::{Call, Message, Role};
use callsieve::engine::frame::FrameFile;
use callsieve::engine::raw::{LineStory, read_lines};
use callsieve::ingest::fate::{LineFate, Record};
use callsieve::ingest::log_formats::Columns;
use callsieve::ingest::record::record_of_value;
use callsieve_testkit::data;
use serde_json::{Value, json};

fn fate_of(value: Value) -> LineFate {
    record_of_value(1, 0, value, &Columns::default())
}

fn record_of(value: Value) -> Record {
    match fate_of(value) {
        LineFate::Record(record) => *record,
        other => panic!("no record: {other:?}"),
    }
}

fn user(content: &str) -> Message {
    Message::text(Role::User, content)
}

fn calling(name: &str, arguments: Value) -> Message {
    let call = Call { id: None, name: name.to_owned(), arguments };
    Message { calls: vec![call], ..Message::text(Role::Assistant, "") }
}

/// Returns question, response and following messages as one conversation.
fn whole(record: &Record) -> Vec<Message> {
    record.messages.iter().chain(&record.response).chain(&record.following_messages).cloned().collect()
}

#[test]
fn the_sharegpt_sample_is_cut_at_its_call() {
    let Some(content) = data::text("log_samples/22_sharegpt.json") else { return };
    let lines: Vec<Value> = serde_json::from_str(&content).unwrap();
    let record = record_of(lines[0].clone());
    let roles: Vec<Role> = record.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
    assert_eq!(record.functions, lines[0]["tools"].as_str().unwrap());
    let ingredients = json!({"ingredients": ["chicken", "bell peppers", "rice"]});
    assert_eq!(record.response, Some(calling("search_recipes", ingredients)));
    assert_eq!(record.following_messages.len(), 4);
}

#[test]
fn the_hermes_sample_has_its_tools_once() {
    let Some(content) = data::text("log_samples/23_hermes.json") else { return };
    let lines: Vec<Value> = serde_json::from_str(&content).unwrap();
    let record = record_of(lines[0].clone());
    assert_eq!(record.messages, [user("Fetch the stock fundamentals data for Tesla (TSLA)")]);
    assert_eq!(record.response, Some(calling("get_stock_fundamentals", json!({"symbol": "TSLA"}))));
    let tools = callsieve::notation::python::literal(&record.functions).unwrap();
    assert_eq!(tools[0]["function"]["name"], "get_stock_fundamentals");
    assert!(!record.functions.contains("FunctionCall"));
}

#[test]
fn the_glaive_sample_has_its_arguments_with_the_apostrophe() {
    let Some(content) = data::text("log_samples/24_glaive_v2.jsonl") else { return };
    let record = record_of(serde_json::from_str(&content).unwrap());
    assert_eq!(record.messages, [user("I need to set a reminder for my doctor's appointment.")]);
    let arguments = json!({"reminder_text": "Doctor's appointment", "reminder_date": "2022-09-15", "reminder_time": "10:00"});
    assert_eq!(record.response, Some(calling("create_reminder", arguments)));
    assert_eq!(record.following_messages, [Message::text(Role::Tool, "{\"status\": \"success\"}")]);
    assert_eq!(serde_json::from_str::<Value>(&record.functions).unwrap()["name"], "create_reminder");
}

#[test]
fn six_hundred_conversations_are_read_and_no_text_is_lost() {
    let mut counts = [0; 3];
    for language in ["en", "zh"] {
        let path = format!("public/glaive-llamafactory/data/glaive_toolcall_{language}_demo.json");
        let Some(content) = data::text(&path) else { return };
        for line in serde_json::from_str::<Vec<Value>>(&content).unwrap() {
            counts[kind_of(&line)] += 1;
        }
    }
    // With calls, without, without functions.
    assert_eq!(counts, [310, 81, 209]);
}

/// Returns 0 if the model made calls, 1 if it did not, 2 if it had no functions; checks that no text is lost.
fn kind_of(line: &Value) -> usize {
    let values = |from: &str| -> Vec<String> {
        let turns = line["conversations"].as_array().unwrap();
        let of_kind = turns.iter().filter(|turn| turn["from"] == from);
        of_kind.map(|turn| turn["value"].as_str().unwrap().to_owned()).collect()
    };
    if line["tools"] == "[]" {
        assert!(
            matches!(fate_of(line.clone()), LineFate::NoRequest(fault) if fault.reason == "ingest/no-functions")
        );
        return 2;
    }
    let record = record_of(line.clone());
    let whole = whole(&record);
    let said = |role: Role| -> Vec<String> {
        let of_role = whole.iter().filter(|message| message.role == role && message.calls.is_empty());
        of_role.map(|message| message.content.clone()).collect()
    };
    assert_eq!(said(Role::User), values("human"));
    assert_eq!(said(Role::Assistant), values("gpt"));
    assert_eq!(said(Role::Tool), values("observation"));
    let n_calls: usize = whole.iter().map(|message| message.calls.len()).sum();
    assert_eq!(n_calls, values("function_call").len());
    assert!(record.messages.iter().all(|message| message.calls.is_empty() && message.role != Role::Tool));
    usize::from(record.response.is_none_or(|response| response.calls.is_empty()))
}

/// A folder with files in it, and runs of them.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(files: &[(&str, &[Value])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, lines) in files {
            let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the live recipe on the files, in this order.
    fn run(&self, out: &str, files: &[&str], more: &[&str]) -> PathBuf {
        let out = self.path(out);
        let mut command = callsieve();
        command.args(["run", "--quiet", "--out"]).arg(&out).args(more);
        for file in files {
            command.arg("--input").arg(self.path(file));
        }
        let output = command.output().unwrap();
        assert!(out.join("report.json").is_file(), "{}", shown(&output));
        out
    }
}

fn rows(run: &Path, columns: &[&str]) -> Vec<Vec<Option<String>>> {
    let payload = FrameFile::open(&run.join("ingest/requests.parquet")).unwrap().read_all().unwrap();
    let cell = |column: &str, row| payload.texts(column).and_then(|cells| cells.get(row)).map(str::to_owned);
    let mut rows: Vec<Vec<_>> =
        (0..payload.height()).map(|row| columns.iter().map(|column| cell(column, row)).collect()).collect();
    rows.sort();
    rows
}

fn ids(run: &Path) -> BTreeMap<String, String> {
    let rows = FrameFile::open(&run.join("rows.parquet")).unwrap().read_all().unwrap();
    let cell = |column: &str, row| rows.texts(column).unwrap().get(row).unwrap().to_owned();
    (0..rows.height()).map(|row| (cell("external_id", row), cell("request_id", row))).collect()
}

fn counts(run: &Path) -> BTreeMap<String, u64> {
    let report = report_without_timing(run);
    let ingest = report["ingest"].as_object().unwrap();
    ingest.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap())).collect()
}

fn assert_conserved(run: &Path) {
    let counts = counts(run);
    let parts = ["records", "no_request", "unreadable", "not_sampled", "forgotten", "joined"];
    assert_eq!(counts["lines"], parts.iter().map(|part| counts[*part]).sum::<u64>(), "{counts:?}");
}

fn docs(name: &str) -> Value {
    json!([{"type": "function", "function": {"name": name, "description": format!("Rings the {name} bell of the ship once"),
        "parameters": {"type": "object", "required": ["times"],
            "properties": {"times": {"type": "integer", "description": "How often it rings"}}}}}])
}

fn batch_request(id: &str, name: &str) -> Value {
    json!({"custom_id": id, "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m",
        "messages": [{"role": "user", "content": format!("Please ring the {name} bell three times.")}], "tools": docs(name)}})
}

fn batch_answer(id: &str, name: &str) -> Value {
    json!({"id": format!("out-{id}"), "custom_id": id, "error": null, "response": {"status_code": 200, "body": {
        "object": "chat.completion", "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant",
            "content": null, "tool_calls": [{"id": "c", "type": "function",
                "function": {"name": name, "arguments": "{\"times\": 3}"}}]}}]}}})
}

const BELLS: [&str; 3] = ["fore", "aft", "galley"];

/// Requests for three bells; answers for two of them, for a failed one and for one without a request.
fn batch() -> Bench {
    let requests = BELLS.map(|bell| batch_request(bell, bell));
    let failed =
        json!({"custom_id": "galley", "response": {"status_code": 500, "body": {}}, "error": {"code": "x"}});
    let answers = [
        batch_answer("aft", "aft"),
        failed,
        batch_answer("fore", "fore"),
        batch_answer("fore", "other"),
        batch_answer("stray", "s"),
    ];
    Bench::new(&[("in.jsonl", &requests), ("out.jsonl", &answers)])
}

#[test]
fn batch_answers_are_joined_for_any_order_of_files_and_threads() {
    let bench = batch();
    let forward = bench.run("forward", &["in.jsonl", "out.jsonl"], &["--threads", "1"]);
    let turned = bench.run("turned", &["out.jsonl", "in.jsonl"], &["--threads", "8"]);
    let many = bench.run("many", &["in.jsonl", "out.jsonl"], &["--threads", "8"]);
    assert_same_bytes(&stable_bytes(&forward), &stable_bytes(&many));
    assert_eq!(ids(&forward), ids(&turned));
    let alone = bench.run("alone", &["in.jsonl"], &[]);
    assert_eq!(ids(&forward), ids(&alone), "an id does not depend on the answer");
    for run in [&forward, &turned] {
        assert_conserved(run);
        let counts = counts(run);
        assert_eq!(
            (counts["lines"], counts["records"], counts["joined"], counts["no_request"]),
            (8, 3, 3, 2)
        );
        let rows = rows(run, &["external_id", "finish_reason", "response"]);
        let told: Vec<_> =
            rows.iter().map(|row| (row[0].as_deref().unwrap(), row[1].as_deref().unwrap())).collect();
        assert_eq!(told, [("aft", "tool_calls"), ("fore", "tool_calls"), ("galley", "error")]);
        assert!(rows[1][2].as_ref().unwrap().contains("\"name\":\"fore\""), "the earliest answer counts");
        assert_eq!(rows[2][2], None);
    }
    let dataset = |run: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        let files = stable_bytes(run).into_iter();
        files.filter(|(name, _)| name.starts_with("dataset") || name == Path::new("ledger.parquet")).collect()
    };
    assert_same_bytes(&dataset(&forward), &dataset(&turned));
}

#[test]
fn why_shows_the_place_of_a_joined_answer_and_of_its_request() {
    let bench = batch();
    let run = bench.run("run", &["in.jsonl", "out.jsonl"], &[]);
    let run = run.to_str().unwrap();
    let asked = shown(&output(&["why", run, "aft"]));
    assert!(asked.contains("its response was joined from") && asked.contains("out.jsonl:1\n"), "{asked}");
    let line = shown(&output(&["why", run, "out.jsonl:1"]));
    assert!(line.contains("joined-into: ingest/joined") && line.contains("in.jsonl:2\n"), "{line}");
    let stray = shown(&output(&["why", run, "out.jsonl:5"]));
    assert!(stray.contains("ingest/response-without-request"), "{stray}");
    assert!(shown(&output(&["explain", "ingest/joined"])).contains("exit: 0"));
}

#[test]
fn an_id_that_requests_share_joins_nothing() {
    let requests = [batch_request("1", "fore"), batch_request("2", "aft")];
    let others = [batch_request("1", "galley")];
    let answers = [batch_answer("1", "fore"), batch_answer("2", "aft")];
    let bench = Bench::new(&[("a.jsonl", &requests), ("b.jsonl", &others), ("out.jsonl", &answers)]);
    let run = bench.run("run", &["a.jsonl", "b.jsonl", "out.jsonl"], &[]);
    assert_conserved(&run);
    let responses = rows(&run, &["external_id", "response"]);
    assert_eq!(responses.iter().filter(|row| row[1].is_some()).count(), 1);
    let told: Vec<LineStory> = read_lines(&run).unwrap();
    let ambiguous = told.iter().find(|line| line.fate == "no-request").unwrap();
    assert_eq!(ambiguous.detail, "several requests have its custom_id");
    // A copy of a file holds the same requests.
    for (file, copy) in [("a.jsonl", "a2.jsonl"), ("out.jsonl", "out2.jsonl")] {
        std::fs::copy(bench.path(file), bench.path(copy)).unwrap();
    }
    let twice = bench.run("twice", &["a.jsonl", "a2.jsonl", "out.jsonl", "out2.jsonl"], &[]);
    assert_eq!(
        (counts(&twice)["records"], counts(&twice)["joined"], counts(&twice)["no_request"]),
        (4, 2, 2)
    );
    assert_conserved(&twice);
}

#[test]
fn anthropic_batches_are_joined_too() {
    let request = |id: &str| {
        json!({"custom_id": id, "params": {"model": "m", "messages": [{"role": "user", "content": format!("Ring {id}.")}],
            "tools": [{"name": "ring", "description": "Rings it", "input_schema": {"type": "object", "properties": {}}}]}})
    };
    let message = json!({"type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t", "name": "ring", "input": {}}]});
    let results = [
        json!({"custom_id": "a", "result": {"type": "succeeded", "message": message}}),
        json!({"custom_id": "b", "result": {"type": "errored", "error": {"type": "overloaded"}}}),
        json!({"custom_id": "c", "result": {"type": "expired"}}),
    ];
    let bench = Bench::new(&[("results.jsonl", &results), ("in.jsonl", &["a", "b", "c"].map(request))]);
    let run = bench.run("run", &["results.jsonl", "in.jsonl"], &[]);
    let told = rows(&run, &["external_id", "finish_reason"]);
    let told: Vec<_> =
        told.iter().map(|row| (row[0].as_deref().unwrap(), row[1].as_deref().unwrap())).collect();
    assert_eq!(told, [("a", "tool_use"), ("b", "error"), ("c", "error")]);
}

#[test]
fn limits_and_samples_count_both_lines_of_a_joined_request() {
    let bench = batch();
    for (name, more) in [("limit", ["--limit", "2"]), ("sample", ["--sample-rows", "2"])] {
        let run = bench.run(name, &["in.jsonl", "out.jsonl"], &more);
        assert_conserved(&run);
        let counts = counts(&run);
        assert_eq!((counts["lines"], counts["records"], counts["joined"]), (8, 2, 2), "{name}");
        assert_eq!(
            rows(&run, &["response", "finish_reason"]).iter().filter(|row| row[1].is_some()).count(),
            2
        );
    }
}

#[test]
fn forgetting_a_request_forgets_its_answer() {
    let bench = batch();
    let files = ["in.jsonl", "out.jsonl"];
    let run = bench.run("run", &files, &[]);
    let forgotten = output(&["forget", run.to_str().unwrap(), "--id", "aft"]);
    assert!(forgotten.status.success(), "{}", shown(&forgotten));
    let again = bench.run("run", &files, &[]);
    assert_conserved(&again);
    let counts = counts(&again);
    assert_eq!((counts["records"], counts["joined"], counts["forgotten"]), (2, 2, 2));
    let answered = rows(&again, &["external_id", "response"]);
    assert!(answered.iter().all(|row| row[0].as_deref() != Some("aft")));
    let purged = output(&["purge", run.to_str().unwrap(), "--raw", "--everything"]);
    assert!(purged.status.success(), "{}", shown(&purged));
    assert!(rows(&again, &["response"]).iter().all(|row| row[0].as_deref().is_none_or(str::is_empty)));
    assert!(shown(&output(&["why", run.to_str().unwrap(), "fore"])).contains("joined from"));
}

#[test]
fn the_batch_samples_are_joined_where_the_ids_agree() {
    let (Some(requests), Some(answers)) = (
        data::text("log_samples/04_openai_batch_input.jsonl"),
        data::text("log_samples/05_openai_batch_output.jsonl"),
    ) else {
        return;
    };
    let request: Value = serde_json::from_str(&requests).unwrap();
    let mut answer: Value = serde_json::from_str(&answers).unwrap();
    let as_sampled = Bench::new(&[
        ("in.jsonl", std::slice::from_ref(&request)),
        ("out.jsonl", std::slice::from_ref(&answer)),
    ]);
    let run = as_sampled.run("run", &["in.jsonl", "out.jsonl"], &[]);
    assert_eq!((counts(&run)["records"], counts(&run)["joined"], counts(&run)["no_request"]), (1, 0, 1));
    answer["custom_id"] = request["custom_id"].clone();
    let of_one = Bench::new(&[("in.jsonl", &[request]), ("out.jsonl", &[answer])]);
    let run = of_one.run("run", &["out.jsonl", "in.jsonl"], &[]);
    assert_eq!((counts(&run)["records"], counts(&run)["joined"]), (1, 1));
    let row = &rows(&run, &["messages", "response"])[0];
    assert!(row[0].as_ref().unwrap().contains("weather like in Boston"));
    assert!(row[1].as_ref().unwrap().contains("\"location\":\"Boston, MA\""));
}

#[test]
fn the_anthropic_samples_are_joined_as_a_batch() {
    let (Some(request), Some(message)) = (
        data::text("log_samples/10_anthropic_batch.jsonl"),
        data::text("log_samples/11_anthropic_response.json"),
    ) else {
        return;
    };
    let request: Value = serde_json::from_str(&request).unwrap();
    let message: Value = serde_json::from_str(&message).unwrap();
    let result =
        json!({"custom_id": request["custom_id"], "result": {"type": "succeeded", "message": message}});
    let bench = Bench::new(&[("in.jsonl", &[request]), ("out.jsonl", &[result])]);
    let run = bench.run("run", &["in.jsonl", "out.jsonl"], &[]);
    let row = &rows(&run, &["log_format", "finish_reason", "response"])[0];
    assert_eq!((row[0].as_deref(), row[1].as_deref()), (Some("anthropic-messages"), Some("tool_use")));
    assert!(row[2].as_ref().unwrap().contains("\"location\":\"Paris\""));
}

#[test]
fn a_finished_conversation_shows_the_outcome_of_its_own_call() {
    let talk = |bell: &str, result: &str, last: &str| {
        json!({"id": bell, "tools": docs(bell), "conversations": [
            {"from": "human", "value": format!("Please ring the {bell} bell of our ship three times.")},
            {"from": "function_call", "value": {"name": bell, "arguments": {"times": 3}}},
            {"from": "observation", "value": result}, {"from": "gpt", "value": last},
            {"from": "human", "value": "Mail the log to mira.keller@quillpost.net"}, {"from": "gpt", "value": "Done."}]})
    };
    let lines = [
        talk("fore", "{\"ok\": true}", "It rang three times."),
        talk("aft", "{\"error\": \"no such bell\"}", "There is none."),
    ];
    let bench = Bench::new(&[("talks.jsonl", &lines)]);
    let run = bench.run("run", &["talks.jsonl"], &[]);
    let why = |bell: &str| shown(&output(&["why", run.to_str().unwrap(), bell]));
    assert!(why("fore").contains("tier of the answer: outcome"), "{}", why("fore"));
    assert!(!why("aft").contains("tier of the answer: outcome"), "{}", why("aft"));
    let redacted =
        FrameFile::open(&run.join("stages/01-redact/columns.parquet")).unwrap().read_all().unwrap();
    let later = redacted.texts("following_messages").unwrap();
    assert!(
        (0..2).all(|row| later.get(row).is_some_and(|text| !text.contains("keller"))),
        "told later, hidden too"
    );
}
