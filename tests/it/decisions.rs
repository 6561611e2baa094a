//! Tests of decisions by people on the program: each kind works as documented, and decisions without a row are
//! reported.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{assert_same_bytes, output, shown, stable_bytes};
use callsieve::engine::frame::FrameFile;
use serde_json::{Value, json};

/// Returns the cells of a table of a run, one map per row.
fn table(path: &Path) -> Vec<Value> {
    let frame = FrameFile::open(path).unwrap().read_all().unwrap();
    (0..frame.height()).map(|row| Value::Object(frame.row_json(row))).collect()
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

/// A pipeline with a stage for each kind of decision, on one log.
struct Decided {
    folder: tempfile::TempDir,
}

const STAGES: [&str; 9] = [
    "redact",
    "redact-docs",
    "collapse-conversations",
    "drop-spam",
    "parse-docs",
    "judge-queries",
    "fix-docs",
    "draft-answers",
    "split",
];

impl Decided {
    fn new(requests: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
        std::fs::write(place("log.jsonl"), lines).unwrap();
        let stages = STAGES.map(|kind| format!("[[stages]]\nkind = {kind:?}\n")).concat();
        let pipeline = format!(
            "name = \"decided\"\nmax_fault_share = 1.0\n[ingest]\ninputs = [{:?}]\n{stages}[export]\n",
            place("log.jsonl")
        );
        std::fs::write(place("pipeline.toml"), pipeline).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs it into a folder with these decisions. Returns the output.
    fn run(&self, out: &str, decisions: &[Value]) -> String {
        let run = self.attempt(out, decisions);
        assert!(run.status.success(), "{}", shown(&run));
        shown(&run)
    }

    fn attempt(&self, out: &str, decisions: &[Value]) -> Output {
        let file = self.path("decisions.jsonl");
        let lines: String = decisions.iter().map(|decision| format!("{decision}\n")).collect();
        std::fs::write(&file, lines).unwrap();
        let [pipeline, out, file] = [self.path("pipeline.toml"), self.path(out), file];
        output(&[
            "run",
            pipeline.to_str().unwrap(),
            "--out",
            out.to_str().unwrap(),
            "--decisions",
            file.to_str().unwrap(),
        ])
    }

    /// Returns the fate and reason of a request of a run.
    fn fate(&self, out: &str, external_id: &str) -> (String, String) {
        let rows = table(&self.path(out).join("rows.parquet"));
        let row = rows.iter().find(|row| row["external_id"] == external_id).unwrap();
        (text(row, "fate"), text(row, "reason"))
    }

    fn list_of(&self, out: &str, external_id: &str) -> String {
        let rows = table(&self.path(out).join("rows.parquet"));
        text(rows.iter().find(|row| row["external_id"] == external_id).unwrap(), "list_id")
    }

    /// Returns the decisions in the ledger: stage and reason.
    fn decided(&self, out: &str) -> Vec<(String, String)> {
        let events = table(&self.path(out).join("ledger.parquet"));
        let is_decision = |row: &&Value| text(row, "reason").starts_with("decision/");
        let told = |row: &Value| (text(row, "stage"), text(row, "reason"));
        events.iter().filter(is_decision).map(told).collect()
    }

    /// Returns the decisions that were not applied, of the last stage's manifest: line and reason.
    fn not_applied(&self, out: &str) -> Vec<(u64, String)> {
        let last = format!("stages/{:02}-{}/manifest.json", STAGES.len(), STAGES[STAGES.len() - 1]);
        let manifest: Value =
            serde_json::from_slice(&std::fs::read(self.path(out).join(last)).unwrap()).unwrap();
        let report: Value =
            serde_json::from_slice(&std::fs::read(self.path(out).join("report.json")).unwrap()).unwrap();
        let noted = &manifest["notes"]["decisions_not_applied"];
        assert_eq!(noted, &report["notes"]["split"]["decisions_not_applied"]);
        let notes = noted.as_array().cloned().unwrap_or_default();
        notes.iter().map(|note| (note["line"].as_u64().unwrap(), text(note, "why"))).collect()
    }
}

fn docs(name: &str) -> Value {
    json!([{"name": name, "description": format!("Rings the bell of the {name} so many times."),
        "parameters": {"type": "dict", "required": ["times"], "properties": {
            "times": {"type": "integer", "description": "How many times to ring."}}}}])
}

/// Returns a request with docs as a list or as a text; with a list, the log may have a call.
fn request(id: &str, query: &str, docs: &Value, times: Option<i64>) -> Value {
    let Some(functions) = docs.as_array() else {
        return json!({"id": id, "query": query, "functions": docs});
    };
    let call = |times| {
        let function =
            json!({"name": functions[0]["name"], "arguments": json!({"times": times}).to_string()});
        let message = json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "c", "type": "function", "function": function}]});
        json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    };
    json!({"id": id, "request": {"messages": [{"role": "user", "content": query}],
        "tools": [{"type": "function", "function": functions[0]}]}, "response": times.map(call)})
}

fn log() -> Vec<Value> {
    let ring = docs("ring_tower");
    vec![
        request("spam", "qwertyuiop", &ring, Some(2)),
        request("rung", "Ring the bell of the tower 3 times", &ring, Some(3)),
        request("toll", "Ring the bell of the tower 4 times, please", &ring, Some(4)),
        request("open", "Please ring the bell of the tower 7 times", &ring, None),
        request(
            "cut",
            "Ring it 5 times",
            &json!("[{\"name\": \"ring_mill\", \"parameters\": {\"type\": \"obj"),
            None,
        ),
        request("twice", "Ring the tower bell 8 times at noon", &docs("ring_church"), Some(8)),
        request("twice", "Ring the tower bell 9 times in the evening", &docs("ring_church"), Some(9)),
    ]
}

#[test]
fn a_decision_of_each_kind_wins_over_the_stages_and_is_in_the_ledger() {
    let decided = Decided::new(&log());
    decided.run("before", &[]);
    assert_eq!(decided.fate("before", "spam").1, "spam/keyboard-mash");
    assert_eq!(decided.fate("before", "rung").0, "exported");
    let truncated = decided.fate("before", "cut");
    assert_eq!(truncated, ("held".to_owned(), "parse/truncated".to_owned()));
    assert_eq!(decided.decided("before"), []);

    let list = decided.list_of("before", "cut");
    let decisions = [
        json!({"id": "spam", "decision": "keep", "by": "Kim"}),
        json!({"id": "rung", "decision": "drop"}),
        json!({"id": "toll", "decision": "relabel", "relevance": "irrelevant"}),
        json!({"request": "open", "ground_truth": [{"ring_tower": {"times": [7]}}]}),
        json!({"id": list, "decision": "edit", "functions": docs("ring_mill")}),
        json!({"id": "cut", "decision": "answer", "ground_truth": [{"ring_mill": {"times": [5]}}]}),
    ];
    let printed = decided.run("after", &decisions);
    assert!(!printed.contains("is not applied"), "{printed}");
    assert_eq!(decided.not_applied("after"), []);
    for kept in ["spam", "toll", "open", "cut"] {
        assert_eq!(decided.fate("after", kept).0, "exported", "{kept}");
    }
    assert_eq!(decided.fate("after", "rung"), ("dropped".to_owned(), "decision/dropped".to_owned()));
    let told = decided.decided("after");
    let expected = [
        ("drop-spam", "decision/kept"),
        ("split", "decision/dropped"),
        ("judge-queries", "decision/relabelled"),
        ("draft-answers", "decision/answered"),
        ("parse-docs", "decision/edited"),
    ];
    for (stage, reason) in expected {
        assert!(told.contains(&(stage.to_owned(), reason.to_owned())), "{stage} {reason} in {told:?}");
    }
    let entries: Vec<Value> = table(&decided.path("after/dataset/data/scored.parquet"));
    let entry = |id: &str| entries.iter().find(|entry| entry["external_id"] == id).unwrap();
    assert_eq!(
        (text(entry("toll"), "category"), text(entry("open"), "tier")),
        ("irrelevance".into(), "human".into())
    );
    let why = shown(&output(&["why", decided.path("after").to_str().unwrap(), "spam"]));
    assert!(why.contains("decide: decision/kept") && why.contains("\"by\":\"Kim\""), "{why}");
    assert!(why.contains("\"instead_of\":{\"action\":\"drop\",\"reason\":\"spam/keyboard-mash\"}"), "{why}");
    let verified = output(&["verify", decided.path("after").to_str().unwrap()]);
    assert!(verified.status.success(), "{}", shown(&verified));
}

#[test]
fn a_decision_that_fits_no_row_is_reported_with_the_reason_and_not_applied() {
    let decided = Decided::new(&log());
    decided.run("plain", &[]);
    let why = shown(&output(&["why", decided.path("plain").to_str().unwrap(), "rung", "--full"]));
    let digest = why.split("digest    ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let decisions = [
        json!({"id": "nobody", "decision": "drop"}),
        json!({"id": "twice", "decision": "drop"}),
        json!({"id": "toll", "decision": "keep", "was": "0123456789"}),
        json!({"id": "spam", "decision": "relabel", "relevance": "relevant"}),
        json!({"id": "cut", "decision": "keep"}),
        json!({"id": "open", "decision": "edit", "functions": docs("ring_tower")}),
        json!({"id": "rung", "decision": "drop", "was": &digest[..8]}),
        json!({"id": decided.list_of("plain", "cut"), "decision": "edit", "patch": [{"op": "remove", "path": "/0"}]}),
    ];
    let printed = decided.run("run", &decisions);
    let reasons = decided.not_applied("run");
    let expected = [
        (1, "no row has this id"),
        (2, "2 rows have this id; name the request id instead"),
        (3, "the row is not as the person saw it: the digest of its content begins with "),
        (4, "the row is dropped by drop-spam: spam/keyboard-mash"),
        (
            5,
            "the row is held by parse-docs: parse/truncated; possible: drop, or another decision on its doc list",
        ),
        (6, "no stage of the pipeline takes edit of requests"),
        (8, "the docs cannot be parsed, so there is nothing to patch; write \"functions\" instead"),
    ];
    assert_eq!(reasons.len(), expected.len(), "{reasons:?}");
    for ((line, why), (expected_line, beginning)) in reasons.iter().zip(expected) {
        assert!(*line == expected_line && why.starts_with(beginning), "{line} {why}");
        assert!(printed.contains(&format!("decisions.jsonl:{line}: ")), "{line}: {printed}");
    }
    assert_eq!(decided.fate("run", "rung").1, "decision/dropped");
    assert_eq!(decided.fate("run", "twice"), decided.fate("plain", "twice"));

    // The same is reported when all steps are reused.
    let again = decided.run("run", &decisions);
    assert!(again.contains(&format!("reused    {} finished steps", STAGES.len() + 1)), "{again}");
    assert_eq!(again.matches("is not applied").count(), expected.len());
}

#[test]
fn a_personal_value_in_a_decision_never_reaches_the_dataset() {
    let send = json!([{"name": "send_report", "description": "Sends the report to someone.",
        "parameters": {"type": "dict", "required": ["to"], "properties": {
            "to": {"type": "string", "description": "Whom to send it to."}}}}]);
    let decided =
        Decided::new(&[request("mail", "Send the report to mira.keller@quillpost.net", &send, None)]);
    decided.run("plain", &[]);
    let answer = |to: &str| json!({"id": "mail", "decision": "answer", "ground_truth": [{"send_report": {"to": [to]}}]});
    let edit = |text: &str| {
        let patch = json!([{"op": "replace", "path": "/0/description", "value": text}]);
        json!({"id": decided.list_of("plain", "mail"), "decision": "edit", "patch": patch})
    };
    let reach = "Sends the report. Ask jon.vale@quillpost.net or call +44 20 7946 0321.";
    let raw = [answer("mira.keller@quillpost.net"), edit(reach)];
    let refused = decided.attempt("raw", &raw);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    for message in [
        "decisions.jsonl:1: answer: found a personal value (email) at /0/send_report/to/0\n",
        "decisions.jsonl:2: edit: found a personal value (email) at /patch/0/value and 1 more\n",
        "hint: write each value as the run shows it, with its placeholder",
    ] {
        assert!(shown(&refused).contains(message), "{message} in {}", shown(&refused));
    }
    assert!(!shown(&refused).contains("quillpost") && !decided.path("raw").exists());
    // As shown in the run.
    decided.run("shown", &[answer("user1@example.com"), edit("Sends the report. Ask user1@example.com.")]);
    assert_eq!(decided.not_applied("shown"), []);
    assert_eq!(decided.fate("shown", "mail").0, "exported");
    // A pipeline without redaction has the values in its texts too.
    let pipeline = std::fs::read_to_string(decided.path("pipeline.toml")).unwrap();
    let open = pipeline.replace("[[stages]]\nkind = \"redact\"\n[[stages]]\nkind = \"redact-docs\"\n", "");
    assert_ne!(open, pipeline);
    std::fs::write(decided.path("pipeline.toml"), open).unwrap();
    decided.run("open", &raw);
}

#[test]
fn decisions_applied_twice_give_the_same_bytes_and_only_what_they_can_change_runs_again() {
    let decided = Decided::new(&log());
    let first = [
        json!({"request": "open", "ground_truth": [{"ring_tower": {"times": [7]}}]}),
        json!({"id": "rung", "decision": "drop"}),
    ];
    decided.run("one", &first);
    decided.run("other", &first);
    let one = stable_bytes(&decided.path("one"));
    assert_same_bytes(&one, &stable_bytes(&decided.path("other")));
    decided.run("one", &first);
    assert_same_bytes(&one, &stable_bytes(&decided.path("one")));

    // Another drop can only change the last stage.
    let more = [&first[..], &[json!({"id": "toll", "decision": "drop"})]].concat();
    let printed = decided.run("one", &more);
    assert!(printed.contains(&format!("reused    {} finished steps", STAGES.len())), "{printed}");
    assert_eq!(decided.fate("one", "toll").1, "decision/dropped");
    decided.run("new", &more);
    assert_same_bytes(&stable_bytes(&decided.path("one")), &stable_bytes(&decided.path("new")));
    // And back.
    decided.run("one", &first);
    assert_same_bytes(&one, &stable_bytes(&decided.path("one")));
}

#[test]
fn the_position_of_a_decision_in_the_file_affects_only_the_last_stage() {
    let decided = Decided::new(&log());
    let decisions = [
        json!({"id": "spam", "decision": "keep", "by": "Kim"}),
        json!({"request": "open", "ground_truth": [{"ring_tower": {"times": [7]}}]}),
        json!({"request": "rung", "ground_truth": [{"ring_tower": {"bells": [7]}}]}),
        json!({"id": "nobody", "decision": "drop"}),
    ];
    decided.run("one", &decisions);
    assert_eq!(decided.not_applied("one").iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4]);
    let whole = stable_bytes(&decided.path("one"));
    let turned: Vec<Value> = decisions.iter().rev().cloned().collect();
    let printed = decided.run("one", &turned);
    assert!(printed.contains(&format!("reused    {} finished steps", STAGES.len())), "{printed}");
    assert_same_bytes(&whole, &stable_bytes(&decided.path("one")));
    assert_eq!(decided.not_applied("one").iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2]);
    // The path of the file does not matter either.
    let renamed = decided.path("moved/decisions.jsonl");
    std::fs::create_dir(decided.path("moved")).unwrap();
    std::fs::rename(decided.path("decisions.jsonl"), &renamed).unwrap();
    let [pipeline, out] = [decided.path("pipeline.toml"), decided.path("one")];
    let [pipeline, out, renamed] = [&pipeline, &out, &renamed].map(|path| path.to_str().unwrap());
    let again = shown(&output(&["run", pipeline, "--out", out, "--decisions", renamed]));
    assert!(again.contains(&format!("reused    {} finished steps", STAGES.len() + 1)), "{again}");
    assert!(again.contains("moved/decisions.jsonl:1: drop is not applied: "), "{again}");
    assert_same_bytes(&whole, &stable_bytes(&decided.path("one")));
    // Of two equal decisions on one row the same one is applied, at any position.
    let list = decided.list_of("one", "rung");
    let edit = |id: &str, by: &str| {
        let patch = json!([{"op": "replace", "path": "/0/description", "value": "Rings the bell."}]);
        json!({"id": id, "decision": "edit", "patch": patch, "by": by})
    };
    let two = [edit(&list, "Kim"), edit(&list[..10], "Robin")];
    for (name, decisions, line) in
        [("two", two.to_vec(), "line 2"), ("turned", vec![two[1].clone(), two[0].clone()], "line 1")]
    {
        decided.run(name, &decisions);
        let left = decided.not_applied(name);
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].1, format!("{line} decides the same row"));
    }
    assert_same_bytes(&stable_bytes(&decided.path("two")), &stable_bytes(&decided.path("turned")));
}

#[test]
fn an_answer_that_does_not_fit_the_docs_is_held_and_reported() {
    let decided = Decided::new(&log());
    let answer = |id: &str, calls: Value| json!({"request": id, "ground_truth": calls});
    let decisions = [
        answer("rung", json!([{"ring_tower": {"times": ["3"]}}])),
        answer("toll", json!([{"ring_bell": {"times": [4]}}])),
        answer("open", json!([{"ring_tower": {}}])),
    ];
    let printed = decided.run("run", &decisions);
    let expected = [
        ("rung", "answer/wrong-type", "ring_tower.times: declared as integer, but is \"3\""),
        ("toll", "answer/unknown-function", "ring_bell: no doc has this name"),
        ("open", "answer/missing-required", "ring_tower.times: required, but has no value"),
    ];
    let reasons = decided.not_applied("run");
    assert_eq!(reasons.len(), expected.len(), "{reasons:?}");
    for ((line, why), (id, code, found)) in reasons.iter().zip(expected) {
        assert_eq!(decided.fate("run", id), ("held".to_owned(), code.to_owned()), "{id}");
        assert_eq!(*why, format!("the answer does not fit the docs: {code}: {found}"));
        assert!(
            printed.contains(&format!("decisions.jsonl:{line}: answer is not applied: {why}")),
            "{printed}"
        );
    }
    assert_eq!(decided.decided("run"), [], "none of them counts as applied");
}

#[test]
fn dropping_a_list_drops_its_requests_and_forgetting_one_its_decision() {
    let decided = Decided::new(&log());
    decided.run("plain", &[]);
    let list = decided.list_of("plain", "rung");
    let decisions = [
        json!({"id": &list[..12], "decision": "drop", "why": "asks for the bell of Mrs Aldous"}),
        json!({"id": "spam", "decision": "keep", "why": "Mr Bramley asked"}),
    ];
    decided.run("run", &decisions);
    for id in ["rung", "toll", "spam"] {
        assert_eq!(decided.fate("run", id).1, "decision/dropped", "{id}");
    }
    assert_eq!(decided.not_applied("run"), [(2, "the row is dropped by split: decision/dropped".to_owned())]);
    let run = decided.path("run");
    let forgotten = output(&["forget", run.to_str().unwrap(), "--id", "spam"]);
    assert!(forgotten.status.success(), "{}", shown(&forgotten));
    let left = crate::support::text_of(&run);
    let with: Vec<&String> =
        left.iter().filter(|(_, text)| text.contains("Bramley")).map(|(name, _)| name).collect();
    assert_eq!(with, [] as [&String; 0]);
    let verified = output(&["verify", run.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", shown(&verified));
}

/// Returns a log of one list whose requests have these ids, each with a recorded call.
fn tower(ids: &[&str]) -> Vec<Value> {
    let times = |at: usize| i64::try_from(at).unwrap() + 2;
    let places = ["harbour", "market", "castle", "bridge", "chapel"];
    let query =
        |at: usize| format!("Ring the bell at the {} exactly {} times for the guests", places[at], times(at));
    let row = |(at, id): (usize, &&str)| request(id, &query(at), &docs("ring_tower"), Some(times(at)));
    ids.iter().enumerate().map(row).collect()
}

#[test]
fn a_decision_on_a_row_that_a_frozen_entry_repeats_is_reported() {
    let decided = Decided::new(&tower(&["answered", "labelled", "dropped", "kept", "left"]));
    decided.run("march", &[]);
    assert_eq!(decided.fate("march", "kept").0, "exported");
    let decisions = [
        json!({"request": "answered", "ground_truth": [{"ring_tower": {"times": [9]}}]}),
        json!({"id": "labelled", "decision": "relabel", "relevance": "irrelevant"}),
        json!({"id": "dropped", "decision": "drop"}),
        json!({"id": "kept", "decision": "keep"}),
    ];
    let lines: String = decisions.iter().map(|decision| format!("{decision}\n")).collect();
    std::fs::write(decided.path("decisions.jsonl"), lines).unwrap();
    let paths = ["pipeline.toml", "april", "decisions.jsonl", "march"].map(|name| decided.path(name));
    let [pipeline, out, file, march] = paths.each_ref().map(|path| path.to_str().unwrap());
    let frozen = ["--baseline", march, "--freeze"];
    let arguments = [&["run", pipeline, "--out", out, "--decisions", file][..], &frozen].concat();
    // The same is reported again when all steps are reused.
    for _ in 0..2 {
        let run = output(&arguments);
        assert!(run.status.success(), "{}", shown(&run));
        let report: Value =
            serde_json::from_slice(&std::fs::read(decided.path("april/report.json")).unwrap()).unwrap();
        let left = report["notes"]["split"]["decisions_not_applied"].as_array().unwrap();
        assert_eq!(left.iter().map(|note| note["line"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
        for note in left {
            let why = text(note, "why");
            assert!(why.contains("overlap/baseline; it repeats the entry live_"), "{why}");
            assert!(why.ends_with(" of the earlier dataset, which no decision changes"), "{why}");
            assert!(shown(&run).contains(&format!("decisions.jsonl:{}: ", note["line"])), "{}", shown(&run));
        }
        let kept = "decisions.jsonl:4: keep is applied, but to be checked: the row repeats the entry live_";
        assert!(shown(&run).contains(kept), "{}", shown(&run));
    }
    assert_eq!(decided.fate("april", "kept").0, "exported");
}

#[test]
fn the_report_counts_decisions_with_and_without_effect() {
    let decided = Decided::new(&log());
    decided.run("plain", &[]);
    let list = decided.list_of("plain", "rung");
    decided.run(
        "run",
        &[
            json!({"id": list, "decision": "drop", "by": "Kim", "why": "the bell is gone"}),
            json!({"id": "spam", "decision": "keep"}),
            json!({"id": "nobody", "decision": "drop"}),
        ],
    );
    let read = |name: &str| std::fs::read_to_string(decided.path("run").join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    let reasons: Vec<String> =
        report["fates"].as_array().unwrap().iter().map(|fate| text(fate, "reason")).collect();
    assert!(reasons.contains(&"decision/dropped".to_owned()), "{reasons:?}");
    assert!(!reasons.contains(&"decision/kept".to_owned()), "{reasons:?}");
    for name in ["report.html", "dataset/README.md"] {
        let page = read(name);
        assert!(
            page.contains("2 decisions were not applied (1 keep, 1 drop). The file report.json"),
            "{name}: {page}"
        );
    }
    assert!(read("report.html").contains("by: Kim, why: the bell is gone"));
    assert!(!read("dataset/README.md").contains("Kim"), "the card is published");
    let told = shown(&output(&["report", decided.path("run").to_str().unwrap()]));
    assert!(told.contains("decisions 1 keep, 1 drop not applied; see report.json"), "{told}");
}

#[test]
fn a_list_edited_by_a_person_has_a_history_with_the_edit() {
    let decided = Decided::new(&log());
    decided.run("plain", &[]);
    let [rung, cut] = ["rung", "cut"].map(|id| decided.list_of("plain", id));
    let patch = json!([{"op": "replace", "path": "/0/description", "value": "Rings the great bell."}]);
    decided.run(
        "run",
        &[
            json!({"id": rung, "decision": "edit", "patch": patch, "by": "Kim"}),
            json!({"id": cut, "decision": "edit", "functions": docs("ring_mill")}),
        ],
    );
    let run = decided.path("run");
    let run = run.to_str().unwrap();
    for id in [&rung[..], &rung[..8]] {
        let why = shown(&output(&["why", run, id]));
        for part in [
            &format!("list {rung}\n"),
            "  sent      ",
            "Rings the great bell.",
            "  requests  4 sent with it, ",
            "decide: decision/edited",
            "\"by\":\"Kim\"",
            "fate      kept\n",
        ] {
            assert!(why.contains(part), "{part} in {why}");
        }
    }
    let none = output(&["why", run, "00000000"]);
    assert_eq!(none.status.code(), Some(2), "{}", shown(&none));
    let before = shown(&output(&["why", decided.path("plain").to_str().unwrap(), &cut, "--full"]));
    assert!(
        before.contains("fate      held: parse/truncated\n") && before.contains("  digest    "),
        "{before}"
    );
    let diff = shown(&output(&["diff", run, "--reason", "decision/edited"]));
    assert!(diff.contains("decision/edited  2 edits\n") && diff.contains("(decided)"), "{diff}");
    assert!(
        diff.contains("    + description \"Rings the great bell.\"\n") && diff.contains("ring_mill"),
        "{diff}"
    );
    let lines = output(&["diff", run, "--reason", "decision/edited", "--json"]).stdout;
    let first: Value = serde_json::from_slice(lines.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&first["column"], &first["safety"]), (&json!("functions"), &json!("decided")));
}

/// Returns the examples of the page, with `LIST` replaced by the id of a list.
fn examples_of_the_page(list: &str, other: &str) -> Vec<Value> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/human-decisions.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut lines: Vec<String> = blocks.flat_map(str::lines).map(str::to_owned).collect();
    let mut ids = [list, other].into_iter();
    for line in lines.iter_mut().filter(|line| line.contains("LIST")) {
        *line = line.replace("LIST", ids.next().unwrap());
    }
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_example_of_the_page_is_applied_to_the_sample_log() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    crate::support::run_sample(&out, &[]);
    let rows = table(&out.join("rows.parquet"));
    let list_of = |id: &str| {
        let row = rows.iter().find(|row| row["external_id"] == id).unwrap();
        text(row, "origin_list_id")
    };
    let unreadable = rows.iter().find(|row| text(row, "reason").starts_with("parse/")).unwrap();
    let examples = examples_of_the_page(&list_of("r0033"), &text(unreadable, "origin_list_id"));
    let kinds: Vec<&str> = examples.iter().map(|example| example["decision"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["keep", "drop", "relabel", "answer", "edit", "edit"]);
    let file = folder.path().join("decisions.jsonl");
    std::fs::write(&file, examples.iter().map(|example| format!("{example}\n")).collect::<String>()).unwrap();
    let run = crate::support::run_sample(&out, &["--decisions", file.to_str().unwrap()]);
    let report: Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["notes"]["split"]["decisions_not_applied"], json!([]), "{}", shown(&run));
    let events = table(&out.join("ledger.parquet"));
    for reason in ["kept", "dropped", "relabelled", "answered", "edited"] {
        let code = format!("decision/{reason}");
        assert!(events.iter().any(|event| event["reason"] == code.as_str()), "{code}");
    }
}

#[test]
fn a_held_row_that_a_person_drops_is_dropped_and_not_listed_again() {
    let decided = Decided::new(&log());
    decided.run("run", &[]);
    let held = || {
        let listed = output(&["held", decided.path("run").to_str().unwrap(), "--format", "jsonl"]);
        let text = String::from_utf8(listed.stdout).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        rows
    };
    let before = held();
    let open = before.iter().find(|row| row["external_id"] == "open").expect("a request without an answer");
    let list = before.iter().find(|row| row["table"] == "doc_lists").expect("docs that cannot be read");
    assert_eq!(
        (text(open, "reason"), text(list, "reason")),
        ("split/no-answer".into(), "parse/truncated".into())
    );
    let drops = [
        json!({"id": open["id"], "decision": "drop", "by": "Kim", "why": "too vague"}),
        json!({"id": list["id"], "decision": "drop"}),
    ];
    let printed = decided.run("run", &drops);
    assert!(!printed.contains("is not applied"), "{printed}");
    assert_eq!(decided.not_applied("run"), []);
    for id in ["open", "cut"] {
        assert_eq!(decided.fate("run", id), ("dropped".to_owned(), "decision/dropped".to_owned()), "{id}");
    }
    let named =
        |row: &Value| row["external_id"] == "open" || row["external_id"] == "cut" || row["id"] == list["id"];
    assert!(!held().iter().any(named), "{:?}", held());
    let report: Value =
        serde_json::from_slice(&std::fs::read(decided.path("run/report.json")).unwrap()).unwrap();
    let of_requests = &report["requests"];
    assert_eq!((&of_requests["held"], &of_requests["reasons"]["decision/dropped"]), (&json!(0), &json!(2)));
    let why = shown(&output(&["why", decided.path("run").to_str().unwrap(), "open"]));
    assert!(why.contains("\"instead_of\":{\"action\":\"hold\",\"reason\":\"split/no-answer\"}"), "{why}");
    let verified = output(&["verify", decided.path("run").to_str().unwrap()]);
    assert!(verified.status.success(), "{}", shown(&verified));

    // The same bytes as in a new folder; the same decisions run no step again, and without them the rows are held again.
    decided.run("new", &drops);
    assert_same_bytes(&stable_bytes(&decided.path("run")), &stable_bytes(&decided.path("new")));
    let again = decided.run("run", &drops);
    assert!(again.contains(&format!("reused    {} finished steps", STAGES.len() + 1)), "{again}");
    decided.run("run", &[]);
    assert_eq!(decided.fate("run", "open"), ("held".to_owned(), "split/no-answer".to_owned()));
}

#[test]
fn several_files_apply_together_and_decisions_of_the_earlier_run_that_are_missing_are_reported() {
    let decided = Decided::new(&log());
    let write = |name: &str, lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(decided.path(name), text).unwrap();
        decided.path(name).display().to_string()
    };
    let one = write(
        "one.jsonl",
        &[
            json!({"id": "rung", "decision": "drop"}),
            json!({"id": "toll", "decision": "irrelevant"}),
            json!({"id": "spam", "decision": "keep"}),
        ],
    );
    let two = write(
        "two.jsonl",
        &[
            json!({"request": "open", "ground_truth": [{"ring_tower": {"times": [7]}}]}),
            json!({"id": "rung", "decision": "drop", "why": "again"}),
        ],
    );
    let other = write(
        "other.jsonl",
        &[
            json!({"id": "open", "decision": "keep"}),
            json!({"id": "rung", "decision": "keep"}),
            json!({"id": "toll", "decision": "relevant"}),
        ],
    );
    let (pipeline, out) = (decided.path("pipeline.toml"), decided.path("run"));
    let run = |files: &[&str]| {
        let mut arguments = vec!["run", pipeline.to_str().unwrap(), "--out", out.to_str().unwrap()];
        for file in files {
            arguments.extend(["--decisions", file]);
        }
        output(&arguments)
    };
    assert!(run(&[&one]).status.success());
    assert_eq!(decided.fate("run", "rung").1, "decision/dropped");

    // Only the second file: two rows of the first have no decision any more.
    let alone = shown(&run(&[&two]));
    let missing = "the decision files of this run do not contain 2 decisions of the earlier run in this folder, such as ";
    assert!(alone.contains(missing), "{alone}");
    assert!(alone.contains(&format!("pass all files: --decisions {one} --decisions {two}")), "{alone}");
    let both = shown(&run(&[&one, &two]));
    assert!(!both.contains("earlier run in this folder") && !both.contains("not applied"), "{both}");
    let decided_by_both = decided.decided("run");
    for reason in ["decision/dropped", "decision/relabelled", "decision/kept", "decision/answered"] {
        assert!(decided_by_both.iter().any(|(_, found)| found == reason), "{reason}");
    }
    // A pipeline names several as a list.
    let text = std::fs::read_to_string(&pipeline).unwrap();
    std::fs::write(&pipeline, format!("decisions = [{one:?}, {two:?}]\n{text}")).unwrap();
    let again = shown(&run(&[]));
    assert!(again.contains(&format!("reused    {} finished steps", STAGES.len() + 1)), "{again}");

    // A contradiction names both files and lines.
    let clash = run(&[&one, &other]);
    assert_eq!(clash.status.code(), Some(2), "{}", shown(&clash));
    for message in [
        format!("{other}:2: \"decision\": found \"keep\", which contradicts {one}:1 (drop) on the same id\n"),
        format!(
            "{other}:3: \"decision\": found \"relevant\", which contradicts {one}:2 (irrelevant) on the same id\n"
        ),
        "hint: ".to_owned(),
    ] {
        assert!(shown(&clash).contains(&message), "{message} in {}", shown(&clash));
    }
    // A decision that is not applied is named with its file.
    let unknown = write("unknown.jsonl", &[json!({"id": "nobody", "decision": "relevant"})]);
    let printed = shown(&run(&[&one, &unknown]));
    assert!(
        printed.contains(&format!("{unknown}:1: relevant is not applied: no row has this id")),
        "{printed}"
    );
}
