//! Tests that docs, calls and decisions at the maximum nesting are kept and read by every reader of the dataset. Deeper
//! ones are refused and never abort a run.

use std::path::{Path, PathBuf};

use crate::support::{callsieve, shown};
use callsieve::engine::frame::FrameFile;
use serde_json::{Value, json};

/// The maximum levels of a kept value: those of the JSON parser, without the levels that wrap values.
const MAX_KEPT: usize = 112;
const SUBJECTS: [&str; 5] = ["tide tables", "ferry berths", "pilot fees", "crane slots", "buoy lamps"];
const HARBOURS: [&str; 5] = ["Larne", "Oban", "Ceuta", "Gdansk", "Brest"];

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |value, _| json!([value]))
}

fn name(at: usize) -> String {
    format!("sort_{}", SUBJECTS[at].replace(' ', "_"))
}

/// Returns a list of one function with `n` levels.
fn docs(at: usize, levels: usize) -> Value {
    json!([{"name": name(at), "description": format!("Sorts the {} of a harbour.", SUBJECTS[at]),
        "parameters": {"type": "dict", "required": [], "properties":
            {"by": {"type": "any", "description": "How to sort them.", "default": nested(levels - 5)}}}}])
}

/// Returns a request whose answer calls its function with arguments of `n` levels.
fn request(at: usize, docs: &str, levels: usize) -> Value {
    let arguments = json!({"by": nested(levels - 1)}).to_string();
    let query = format!("Please sort the {} of the harbour of {} for me", SUBJECTS[at], HARBOURS[at]);
    json!({"id": format!("r{at}"), "query": query, "function": docs, "response": {"role": "assistant",
        "tool_calls": [{"function": {"name": name(at), "arguments": arguments}}]}})
}

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, lines: &[Value]) -> String {
        let path = self.path(name);
        std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs a log of these requests into a folder, which must succeed. Returns the output.
    fn run(&self, out: &str, requests: &[Value], more: &[&str]) -> String {
        let log = self.file(&format!("{out}.jsonl"), requests);
        let mut command = callsieve();
        command.args(["run", "--fresh", "--set", "max_fault_share=1", "--input"]).arg(log);
        let run = command.arg("--out").arg(self.path(out)).args(more).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", shown(&run));
        shown(&run)
    }

    /// Returns the log's ids of the exported entries of a run; `check` reads all of them.
    fn exported(&self, out: &str) -> Vec<String> {
        let run = self.path(out);
        let check = callsieve().arg("check").arg(&run).output().unwrap();
        assert!(check.status.code().is_some_and(|code| code < 2), "{}", shown(&check));
        let rows = rows(&run.join("rows.parquet"));
        let is_exported = |row: &&Value| row["fate"] == "exported";
        rows.iter().filter(is_exported).map(|row| row["external_id"].as_str().unwrap().to_owned()).collect()
    }
}

fn rows(path: &Path) -> Vec<Value> {
    let frame = FrameFile::open(path).unwrap().read_all().unwrap();
    (0..frame.height()).map(|row| Value::Object(frame.row_json(row))).collect()
}

/// Returns the reasons in a table of a run.
fn reasons(run: &Path, table: &str) -> Vec<String> {
    let reasons =
        rows(&run.join(table)).into_iter().filter_map(|row| row["reason"].as_str().map(str::to_owned));
    let mut reasons: Vec<String> = reasons.filter(|reason| reason.contains("deep")).collect();
    reasons.sort();
    reasons
}

#[test]
fn values_at_the_bound_are_checked_frozen_and_read_again_and_deeper_ones_are_refused() {
    let home = Home::new();
    let requests = [
        request(0, &docs(0, MAX_KEPT).to_string(), MAX_KEPT),
        request(1, &docs(1, MAX_KEPT + 1).to_string(), 2),
        request(2, &docs(2, 7).to_string(), MAX_KEPT + 1),
    ];
    home.run("first", &requests, &[]);
    assert_eq!(home.exported("first"), ["r0"]);
    let first = home.path("first");
    assert_eq!(reasons(&first, "lists.parquet"), ["parse/functions-too-deep"]);
    let baseline = first.to_str().unwrap();
    let again =
        [request(0, &docs(0, MAX_KEPT).to_string(), MAX_KEPT), request(3, &docs(3, 7).to_string(), 3)];
    for more in [&["--baseline", baseline][..], &["--baseline", baseline, "--freeze"]] {
        home.run("again", &again, more);
        assert_eq!(home.exported("again"), ["r3"]);
    }
}

/// Texts with two levels of JSON for one level of text, and a fix that makes two levels of one.
#[test]
fn docs_that_become_too_deep_when_parsed_or_fixed_are_reported_without_an_abort() {
    let home = Home::new();
    let body = (0..62).fold("1".to_owned(), |value, _| format!("{{\"a\": {value}}}"));
    let postman = json!({"info": {"name": "t", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "item": [{"name": "f", "request": {"method": "POST", "url": {"raw": "http://x/y", "path": ["y"]},
            "description": "Sorts the tide tables.", "body": {"mode": "raw", "raw": body}}}]});
    let python =
        format!("def f(by: list = {}) -> str:\n    \"\"\"Sorts the ferry berths.\"\"\"\n", nested(123));
    let flat = (0..MAX_KEPT - 3).fold(json!("How."), |inner, _| json!({"type": "object", "a": inner}));
    let flat = json!([{"name": "f", "description": "Sorts the pilot fees.", "parameters": flat}]);
    let texts = [postman.to_string(), python, flat.to_string()];
    let requests: Vec<Value> = (0..3).map(|at| request(at, &texts[at], 2)).collect();
    home.run("deep", &requests, &[]);
    let found = reasons(&home.path("deep"), "lists.parquet");
    assert_eq!(found[..2], ["parse/functions-too-deep", "parse/functions-too-deep"], "{found:?}");
    for text in &texts[..2] {
        let file = home.path("docs.txt");
        std::fs::write(&file, text).unwrap();
        let fix = callsieve().args(["fix", "--json"]).arg(&file).output().unwrap();
        let line = shown(&fix);
        assert!(fix.status.code() == Some(1) && line.contains("parse/functions-too-deep"), "{line}");
    }
    let inspect = callsieve().arg("inspect").arg(home.path("deep.jsonl")).output().unwrap();
    let text = shown(&inspect);
    assert!(inspect.status.success() && text.contains("parse/functions-too-deep"), "{text}");
}

#[test]
fn patches_that_make_docs_too_deep_together_are_refused_with_their_line() {
    let home = Home::new();
    let requests = [request(0, &docs(0, 7).to_string(), 2)];
    home.run("plain", &requests, &[]);
    let list = rows(&home.path("plain").join("lists.parquet"))[0]["list_id"].as_str().unwrap().to_owned();
    let deep = (0..60).fold(json!(1), |value, _| json!({"a": value}));
    let inner = format!("/0/x{}", "/a".repeat(60));
    let composed = json!([{"op": "add", "path": "/0/x", "value": deep}, {"op": "replace", "path": inner, "value": deep}]);
    let many: Vec<Value> = (0..1_000)
        .map(|at| json!({"op": "add", "path": format!("/0/x{}", "/a".repeat(at)), "value": {"a": {}}}))
        .collect();
    for patch in [composed, json!(many)] {
        let decisions =
            home.file("decisions.jsonl", &[json!({"id": list, "decision": "edit", "patch": patch})]);
        let printed = home.run("edited", &requests, &["--decisions", &decisions]);
        assert!(printed.contains("the document would be more than 112 levels deep"), "{printed}");
        assert_eq!(home.exported("edited"), ["r0"]);
    }
}
