//! Tests of functions and answers with thousands of parts: each part compared with each would take minutes.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{callsieve, shown};
use serde_json::{Map, Value, json};

/// More than ten times what these tests need, and less than half of what the square of the parts took.
const LIMIT: Duration = Duration::from_secs(40);

fn ended(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = callsieve();
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    let (out, errors) = (folder.join("stdout"), folder.join("stderr"));
    command.stdout(std::fs::File::create(&out).unwrap()).stderr(std::fs::File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{arguments:?} runs for more than {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output { status, stdout: std::fs::read(out).unwrap(), stderr: std::fs::read(errors).unwrap() }
}

fn text(n: usize) -> Value {
    json!({"type": "string", "description": format!("Part {n}.")})
}

fn ring(properties: &Map<String, Value>, required: &[Value]) -> Value {
    json!({"name": "ring", "description": "Rings a bell.", "parameters": {
        "type": "dict", "required": required, "properties": properties}})
}

#[test]
fn thousands_of_parameters_with_illegal_names_are_renamed_in_docs_and_calls() {
    const N: usize = 12_000;
    // The judge of queries still compares the parameters of a function with one another.
    const N_JUDGED: usize = 1_500;
    let folder = tempfile::tempdir().unwrap();
    let names = |n: usize| (0..n).map(|n| format!("x-{n}"));
    let function = |n: usize| {
        ring(
            &names(n).enumerate().map(|(n, name)| (name, text(n))).collect(),
            &names(n).map(Value::from).collect::<Vec<_>>(),
        )
    };
    let arguments: Map<String, Value> = names(N_JUDGED).map(|name| (name, "noon".into())).collect();
    let call = json!([{"function": {"name": "ring", "arguments": json!(arguments).to_string()}}]);
    let docs = json!({"id": "a", "function": [function(N)]});
    std::fs::write(folder.path().join("docs.jsonl"), format!("{docs}\n")).unwrap();
    let request = json!({"request": {"messages": [{"role": "user", "content": "Ring all of them at noon, please."}],
        "tools": [{"type": "function", "function": function(N_JUDGED)}]},
        "response": {"choices": [{"message": {"role": "assistant", "tool_calls": call}, "finish_reason": "tool_calls"}]}});
    std::fs::write(folder.path().join("log.jsonl"), format!("{request}\n")).unwrap();
    let fixed = ended(folder.path(), &["fix", "docs.jsonl"]);
    assert!(fixed.status.success(), "{}", shown(&fixed));
    let run = ended(folder.path(), &["run", "log.jsonl", "--out", "run", "--quiet"]);
    assert!(run.status.success(), "{}", shown(&run));
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("run/report.json")).unwrap()).unwrap();
    assert_eq!(report["requests"]["rows"], 1);
}

#[test]
fn thousands_of_parts_of_a_schema_and_required_names_are_joined_and_checked() {
    const N: usize = 30_000;
    let folder = tempfile::tempdir().unwrap();
    let name = |n: usize| format!("p{n}");
    let part = |n: usize| json!({"type": "object", "properties": {name(n): text(n)}, "required": [name(n)]});
    let joined = json!({"name": "join", "description": "Joins.", "parameters": {"type": "dict", "required": ["a"],
        "properties": {"a": {"description": "All.", "allOf": (0..N / 4).map(part).collect::<Vec<_>>()}}}});
    let all = ring(
        &(0..N).map(|n| (name(n), text(n))).collect(),
        &(0..N).map(|n| name(n).into()).collect::<Vec<_>>(),
    );
    let line = |functions: Value| format!("{}\n", json!({"id": "a", "function": functions}));
    std::fs::write(folder.path().join("docs.jsonl"), line(json!([joined])) + &line(json!([all]))).unwrap();
    let checked = ended(folder.path(), &["check", "docs.jsonl", "--rules", "official-linter"]);
    assert!(checked.status.code().is_some_and(|code| code < 2), "{}", shown(&checked));
    let fixed = ended(folder.path(), &["fix", "docs.jsonl"]);
    assert!(fixed.status.success(), "{}", String::from_utf8_lossy(&fixed.stderr));
    assert!(String::from_utf8_lossy(&fixed.stdout).contains(&format!("\"p{}\"", N / 4 - 1)));
}

#[test]
fn thousands_of_alternatives_of_an_answer_and_of_allowed_values_are_checked() {
    const N: usize = 12_000;
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<String> = (0..N).map(|n| format!("bell {n}")).collect();
    let mut schema = text(0);
    schema["enum"] = json!(values);
    let question = json!({"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring it, please."}]],
        "function": [ring(&[("bell".to_owned(), schema)].into_iter().collect(), &["bell".into()])]});
    let mut alternatives: Vec<Value> = values.into_iter().map(Value::from).collect();
    // One is outside the allowed values, and one of another type.
    alternatives.extend([json!("gong"), json!(5)]);
    let answer = json!({"id": "live_simple_0-0-0", "ground_truth": [{"ring": {"bell": alternatives}}]});
    std::fs::create_dir(folder.path().join("possible_answer")).unwrap();
    for (name, line) in
        [("BFCL_v4_live_simple.json", question), ("possible_answer/BFCL_v4_live_simple.json", answer)]
    {
        std::fs::write(folder.path().join(name), format!("{line}\n")).unwrap();
    }
    let checked = ended(folder.path(), &["check", "."]);
    let found = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{}", shown(&checked));
    assert_eq!(found.matches("[answer/not-in-enum]").count(), 1, "{found}");
    assert!(found.contains(&format!("/bell/{N}: found \"gong\"")), "{found}");
    assert_eq!(found.matches("[answer/dead-alternative]").count(), 1, "{found}");
}
