//! `toolsieve fix` as a person and as a program meet it: what goes in, what comes out, exit codes.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use support::{shown, toolsieve};
use toolsieve::docs::patch::{PatchOp, apply};

/// Runs `fix` in a folder that holds one file.
fn fix(folder: &Path, name: &str, text: &str, more: &[&str]) -> Output {
    std::fs::write(folder.join(name), text).unwrap();
    toolsieve().current_dir(folder).arg("fix").arg(name).args(more).output().unwrap()
}

fn fix_standard_input(text: &[u8], more: &[&str]) -> Output {
    let mut command = toolsieve();
    command.arg("fix").args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait_with_output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn snapshot(name: &str, output: &Output) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, shown(output));
    });
}

/// Lines of every kind: docs as text and as JSON, bare, conforming, cut off, broken.
const DOCS: &str = r#"{"id": "a", "function": "[{'name': 'moor.at', 'description': 'Moors a boat.', 'parameters': {'type': 'object', 'properties': {'class': {'type': 'str', 'description': 'Of the boat.'}}, 'required': ['class']}}]"}
{"id": 2.50, "functions": [{"name": "tide", "description": "Tells the tide.", "parameters": {"type": "dict", "properties": {}, "required": []}}]}

{"name": "list_ports", "description": "Lists ports.", "parameters": {"type": "object", "properties": {"near": {"type": "array", "description": "Places."}}}}
{"id": {"k": null}, "tools": "[{\"name\": \"cut\", \"parameters\": {\"type\": \"obj"}
no docs at all
{"id": "b", "function": [{"name": "same", "description": "One."}, {"name": "same", "description": "Two."}]}
"#;

#[test]
fn lines_of_every_kind_are_told_in_order_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let output = fix(folder.path(), "docs.jsonl", DOCS, &[]);
    snapshot("fix_lines", &output);
    assert_eq!(output.status.code(), Some(1));
    let ids: Vec<String> = lines(&output).iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(ids, ["\"a\"", "2.50", "\"line 4\"", "{\"k\":null}", "\"line 6\"", "\"b\""]);
}

#[test]
fn changes_are_shown_before_and_after_and_those_not_made_as_such() {
    let folder = tempfile::tempdir().unwrap();
    snapshot("fix_diff", &fix(folder.path(), "docs.jsonl", DOCS, &["--diff"]));
    snapshot("fix_diff_safe_only", &fix(folder.path(), "docs.jsonl", DOCS, &["--diff", "--safe-only"]));
}

#[test]
fn the_patches_that_were_applied_lead_from_the_docs_to_the_functions() {
    let docs =
        json!([{"name": "f-g", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}]);
    let text = json!({"id": 1, "function": docs}).to_string();
    for more in [vec![], vec!["--safe-only"]] {
        let line = lines(&fix_standard_input(text.as_bytes(), &more)).remove(0);
        let mut fixed = docs.clone();
        for edit in line["edits"].as_array().unwrap() {
            let patch: Vec<PatchOp> = serde_json::from_value(edit["patch"].clone()).unwrap();
            if edit["applied"] == true {
                apply(&mut fixed, &patch).unwrap();
            }
            assert_eq!(edit["applied"] == true, edit["safety"] != "suggest");
        }
        assert_eq!(fixed.to_string(), line["function"].to_string());
    }
}

#[test]
fn what_was_fixed_is_left_as_it_is_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let once = lines(&fix(folder.path(), "docs.jsonl", DOCS, &[]));
    let text: String = once.iter().map(|line| format!("{line}\n")).collect();
    let twice = lines(&fix(folder.path(), "fixed.jsonl", &text, &[]));
    for (once, twice) in once.iter().zip(&twice).filter(|(once, _)| !once["function"].is_null()) {
        assert_eq!((&once["id"], &once["function"]), (&twice["id"], &twice["function"]));
        assert_eq!(twice["edits"], json!([]));
    }
}

#[test]
fn a_file_of_docs_is_one_list_called_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let python = "def moor(berth: str, nights: int = 1):\n    \"\"\"Moors a boat.\n\n    Args:\n        berth: Where.\n        nights: How long.\n    \"\"\"\n";
    let json5 = "// the harbour\n[\n  {name: 'moor', description: 'Moors a boat.'},\n]\n";
    for (name, text) in [("tools.py", python), ("tools.json", json5)] {
        let output = fix(folder.path(), name, text, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        let lines = lines(&output);
        assert_eq!((&lines[0]["id"], &lines[0]["function"][0]["name"]), (&name.into(), &"moor".into()));
        assert_eq!(lines.len(), 1);
    }
}

#[test]
fn bad_input_has_an_exit_code_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let missing = toolsieve().current_dir(folder.path()).args(["fix", "nowhere.jsonl"]).output().unwrap();
    snapshot("fix_missing", &missing);
    assert_eq!(fix_standard_input(b"", &[]).status.code(), Some(1));
    let garbage = fix_standard_input(b"\x00\x9f\xff{\n", &[]);
    assert_eq!(garbage.status.code(), Some(1));
    assert_eq!(lines(&garbage)[0]["faults"][0]["reason"], "ingest/not-utf8");
}

#[test]
fn help_says_what_goes_in_and_what_comes_out() {
    snapshot("fix_help", &support::output(&["fix", "--help"]));
}
