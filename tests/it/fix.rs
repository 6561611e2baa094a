//! Tests of `callsieve fix` for people and for programs: input, output, exit codes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::support::{callsieve, shown};
use callsieve::docs::patch::{PatchOp, apply};
use serde_json::{Value, json};

/// Runs `fix` in a folder that holds one file.
fn fix(folder: &Path, name: &str, text: &str, more: &[&str]) -> Output {
    std::fs::write(folder.join(name), text).unwrap();
    callsieve().current_dir(folder).arg("fix").arg(name).args(more).output().unwrap()
}

fn fix_standard_input(text: &[u8], more: &[&str]) -> Output {
    let mut command = callsieve();
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
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, shown(output));
    });
}

/// Lines of every kind: docs as text and as JSON, bare, conforming, truncated, broken.
const DOCS: &str = r#"{"id": "a", "function": "[{'name': 'moor.at', 'description': 'Moors a boat.', 'parameters': {'type': 'object', 'properties': {'class': {'type': 'str', 'description': 'Of the boat.'}}, 'required': ['class']}}]"}
{"id": 2.50, "functions": [{"name": "tide", "description": "Tells the tide.", "parameters": {"type": "dict", "properties": {}, "required": []}}]}

{"name": "list_ports", "description": "Lists ports.", "parameters": {"type": "object", "properties": {"near": {"type": "array", "description": "Places."}}}}
{"id": {"k": null}, "tools": "[{\"name\": \"cut\", \"parameters\": {\"type\": \"obj"}
no docs at all
{"id": "b", "function": [{"name": "same", "description": "One."}, {"name": "same", "description": "Two."}]}
"#;

#[test]
fn lines_of_every_kind_are_reported_in_order_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let output = fix(folder.path(), "docs.jsonl", DOCS, &[]);
    snapshot("fix_lines", &output);
    assert_eq!(output.status.code(), Some(1));
    let ids: Vec<String> = lines(&output).iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(ids, ["\"a\"", "2.50", "\"line 4\"", "{\"k\":null}", "\"line 6\"", "\"b\""]);
}

#[test]
fn changes_are_shown_with_before_and_after_and_suggestions_are_marked() {
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
fn a_second_fix_changes_nothing() {
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
fn a_file_of_docs_is_one_list_named_after_the_file() {
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
fn functions_of_a_python_file_are_read_and_unreadable_ones_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let module = "\"\"\"The harbour.\"\"\"\nimport os\n\nNIGHTS = 2\n\ndef _check(berth): ...\n\ndef moor(berth: str, nights: int = NIGHTS, sep=os.sep, **more):\n    \"\"\"Moors a boat.\n\n    Args:\n        berth: Where.\n        nights: How long.\n        sep: What parts the names.\n    \"\"\"\n\ndef leave(berth, berth): ...\n";
    let output = fix(folder.path(), "harbour.py", module, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    let line = &lines(&output)[0];
    let functions = line["function"].as_array().unwrap();
    assert_eq!(functions.len(), 1, "{line}");
    assert_eq!(functions[0]["parameters"]["required"], json!(["berth"]));
    assert_eq!(functions[0]["parameters"]["properties"]["nights"]["default"], 2);
    let fault = &line["faults"][0];
    assert_eq!(fault["reason"], "parse/unreadable-record", "{line}");
    assert_eq!(fault["message"], "line 17, column 18: a second parameter `berth`");
    assert!(line["steps"].as_array().unwrap().contains(&json!("private-left-out")), "{line}");
    for text in ["LIMIT = 3\n", "{'a': 1}['a']\n", "x = [...]\n"] {
        let output = fix(folder.path(), "none.py", text, &[]);
        assert_eq!(lines(&output)[0]["faults"][0]["reason"], "parse/source-code", "{text}");
    }
}

/// Returns a folder with files of several types, some of which cannot be read.
fn harbour() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for inner in ["b/deep", ".git", "node_modules/x", "__pycache__", "empty"] {
        std::fs::create_dir_all(at(inner)).unwrap();
    }
    let function = |name: &str| {
        let parameters = json!({"type": "dict", "properties": {}, "required": []});
        json!({"name": name, "description": "Tells something.", "parameters": parameters})
    };
    let lines = format!(
        "{}\n{}\n",
        json!([function("tide"), function("wind.now")]),
        json!({"id": "x", "tools": [function("fog")]})
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(json!([function("packed")]).to_string().as_bytes()).unwrap();
    std::fs::write(at("b/deep/lines.jsonl"), lines).unwrap();
    std::fs::write(at("b/tools.json.gz"), packed.finish().unwrap()).unwrap();
    std::fs::write(at("a.json"), json!([function("first")]).to_string()).unwrap();
    std::fs::write(at("a.txt"), "no docs at all").unwrap();
    std::fs::write(at("b.json"), json!({"name": "list-ports"}).to_string()).unwrap();
    std::fs::write(at("blank.py"), "\n").unwrap();
    for other in ["logo.png", "notes.md", "b/table.parquet"] {
        std::fs::write(at(other), "other").unwrap();
    }
    for hidden in [".hidden.json", ".git/a.json", "node_modules/x/a.json", "__pycache__/a.json"] {
        std::fs::write(at(hidden), "hidden").unwrap();
    }
    folder
}

#[test]
fn a_folder_is_walked_in_order_and_files_of_other_types_are_counted() {
    let folder = harbour();
    let read = |more: &[&str]| {
        callsieve().current_dir(folder.path()).args(["fix", "."]).args(more).output().unwrap()
    };
    let output = read(&[]);
    assert_eq!(output.status.code(), Some(1));
    let files_and_ids: Vec<_> =
        lines(&output).iter().map(|line| (line["file"].clone(), line["id"].clone())).collect();
    let expected = [
        ("a.json", "a.json"),
        ("a.txt", "a.txt"),
        ("b/deep/lines.jsonl", "line 1"),
        ("b/deep/lines.jsonl", "x"),
        ("b/tools.json.gz", "tools.json.gz"),
        ("b.json", "b.json"),
    ];
    assert_eq!(files_and_ids, expected.map(|(file, id)| (json!(file), json!(id))));
    snapshot("fix_folder", &read(&["--diff"]));
    assert_eq!(read(&[]).stdout, output.stdout);
}

#[test]
fn an_unreadable_file_is_a_fault_and_the_others_are_processed() {
    let folder = harbour();
    let paths = ["fix", "missing.json", "b/table.parquet", "b", "-", "a.json"];
    let output = callsieve().current_dir(folder.path()).args(paths).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    let told: Vec<_> = lines.iter().map(|line| (&line["file"], &line["faults"][0]["reason"])).collect();
    let (unreadable, none) = (json!("fix/unreadable-file"), Value::Null);
    let files = [
        "missing.json",
        "b/table.parquet",
        "b/deep/lines.jsonl",
        "b/deep/lines.jsonl",
        "b/tools.json.gz",
        "a.json",
    ]
    .map(Value::from);
    let reasons = [&unreadable, &unreadable, &none, &none, &none, &none];
    assert_eq!(told, files.iter().zip(reasons).collect::<Vec<_>>());
    assert_eq!(lines[0]["faults"][0]["message"], "cannot be opened: there is no such file or folder");
    assert_eq!((&lines[0]["id"], &lines[0]["function"]), (&json!("missing.json"), &Value::Null));
}

#[test]
fn a_folder_without_docs_is_an_error_that_names_the_types() {
    let folder = harbour();
    let empty = callsieve().current_dir(folder.path()).args(["fix", "a.json", "empty"]).output().unwrap();
    snapshot("fix_empty_folder", &empty);
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_not_followed_and_links_to_files_are() {
    let folder = harbour();
    let inner = folder.path().join("b/deep");
    std::os::unix::fs::symlink(folder.path(), inner.join("loop")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("a.json"), inner.join("linked.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", inner.join("lost.json")).unwrap();
    let output = callsieve().current_dir(folder.path()).args(["fix", "b/deep"]).output().unwrap();
    let lines = lines(&output);
    let files: Vec<_> = lines.iter().map(|line| line["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["lines.jsonl", "lines.jsonl", "linked.json", "lost.json"]);
    assert_eq!(lines[3]["faults"][0]["reason"], "fix/unreadable-file");
}

/// Docs whose names and types the APIs handle differently.
const FOR_APIS: &str = r#"{"id": 1, "function": [{"name": "tide.at", "description": "Tells the tide.", "parameters": {"type": "dict", "properties": {"place": {"type": "tuple", "description": "Where.", "items": {"type": "float"}}, "days": {"type": "integer", "description": "How many.", "enum": [1, 7], "default": 1}}, "required": ["place"]}}]}
{"id": 2, "function": [{"name": "a.b", "description": "One."}, {"name": "a_b", "description": "Two."}]}
{"id": 3, "function": "no docs at all"}
"#;

#[test]
fn tools_of_other_apis_are_written_and_losses_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    for api in ["openai", "anthropic", "mcp", "gemini"] {
        let output = fix(folder.path(), "docs.jsonl", FOR_APIS, &["--as", api]);
        assert_eq!(output.status.code(), Some(1));
        snapshot(&format!("fix_as_{api}"), &output);
    }
    snapshot("fix_as_diff", &fix(folder.path(), "docs.jsonl", FOR_APIS, &["--as", "gemini", "--diff"]));
    let bfcl = fix(folder.path(), "docs.jsonl", DOCS, &["--as", "bfcl"]);
    assert_eq!(bfcl.stdout, fix(folder.path(), "docs.jsonl", DOCS, &[]).stdout);
}

#[test]
fn tools_of_every_api_are_read_back_to_the_same_functions() {
    let folder = tempfile::tempdir().unwrap();
    let once = lines(&fix(folder.path(), "docs.jsonl", DOCS, &[]));
    for api in ["openai", "anthropic", "mcp", "gemini"] {
        let output = fix(folder.path(), "docs.jsonl", DOCS, &["--as", api]);
        let twice =
            lines(&fix(folder.path(), "tools.jsonl", &String::from_utf8(output.stdout).unwrap(), &[]));
        assert_eq!(once.len(), twice.len());
        for (once, twice) in once.iter().zip(&twice).filter(|(once, _)| !once["function"].is_null()) {
            let name = |line: &Value| line["function"][0]["name"].as_str().unwrap().replace('.', "_");
            assert_eq!((&once["id"], name(once)), (&twice["id"], name(twice)));
            let parameters = |line: &Value| line["function"][0]["parameters"].clone();
            assert_eq!(parameters(once), parameters(twice), "{api}");
        }
    }
}

#[test]
fn every_reason_of_fix_is_explained() {
    for code in ["convert/renamed", "convert/colliding-name", "fix/unreadable-file"] {
        let output = crate::support::output(&["explain", code]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && text.starts_with(code) && text.contains("reported by fix"),
            "{text}"
        );
        assert!(String::from_utf8(crate::support::output(&["explain"]).stdout).unwrap().contains(code));
    }
}

#[test]
fn bad_input_has_an_exit_code_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let missing = callsieve().current_dir(folder.path()).args(["fix", "nowhere.jsonl"]).output().unwrap();
    snapshot("fix_missing", &missing);
    assert_eq!(fix_standard_input(b"", &[]).status.code(), Some(1));
    let garbage = fix_standard_input(b"\x00\x9f\xff{\n", &[]);
    assert_eq!(garbage.status.code(), Some(1));
    assert_eq!(lines(&garbage)[0]["faults"][0]["reason"], "ingest/not-utf8");
}

#[test]
fn help_describes_input_and_output() {
    snapshot("fix_help", &crate::support::output(&["fix", "--help"]));
}
