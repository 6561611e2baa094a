//! The public names: reason codes, columns of the tables, keys of the report, settings, commands and flags.
//!
//! They are stable from 0.1.0 on. A changed or removed name fails here; a new one is added to the snapshot with
//! `INSTA_UPDATE=always cargo test --test public_names`, and to the CHANGELOG.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{output, run_sample};
use callsieve::engine::frame::FrameFile;
use serde_json::Value;

fn snapshot(name: &str, names: &BTreeSet<String>) {
    assert!(!names.is_empty(), "{name}");
    let text = names.iter().map(|name| format!("{name}\n")).collect::<String>();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("names_{name}"), text);
    });
}

fn text(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn reason_codes_are_frozen() {
    let text = text(&["explain"]);
    // The header and the further lines of a meaning begin with no code.
    let codes = text.lines().filter_map(|line| line.split(' ').next()).filter(|word| word.contains('/'));
    snapshot("reasons", &codes.map(str::to_owned).collect());
}

#[test]
fn stages_columns_and_settings_are_frozen() {
    let mut names = BTreeSet::new();
    for line in text(&["stages", "--json"]).lines() {
        let stage: Value = serde_json::from_str(line).unwrap();
        let kind = stage["kind"].as_str().unwrap();
        names.insert(format!("{kind} judges {}", stage["judges"].as_str().unwrap()));
        for key in ["reads", "reads_if_there", "writes"] {
            let columns = stage[key].as_array().into_iter().flatten();
            names.extend(columns.map(|column| format!("{kind} {key} {}", column.as_str().unwrap())));
        }
        let settings = stage["settings"]["properties"].as_object().into_iter().flatten();
        names.extend(settings.map(|(setting, _)| format!("{kind} setting {setting}")));
    }
    snapshot("stages", &names);
}

/// Collects the keys of all nested objects with their paths; keys that are data are collected as one placeholder.
fn keys(value: &Value, path: &str, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let is_data = path_holds_data(path);
                let path = if is_data { format!("{path}.*") } else { format!("{path}.{key}") };
                names.insert(path.trim_start_matches('.').to_owned());
                keys(member, &path, names);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                keys(element, &format!("{path}[]"), names);
            }
        }
        _ => {}
    }
}

/// Returns `true` if the keys of the object at a path are data: stages, reasons, categories.
fn path_holds_data(path: &str) -> bool {
    const MAPS: [&str; 14] = [
        ".line_reasons",
        ".log_formats",
        ".query_vectors",
        ".operating_points",
        ".requests.reasons",
        ".doc_lists.reasons",
        ".redacted",
        ".exported",
        ".notes",
        ".entries.tier",
        ".entries.category",
        ".entries.category_basis",
        ".entries.relevance",
        ".entries.language",
    ];
    let last = path.rsplit('.').next().unwrap_or_default();
    MAPS.contains(&path) || last == "fates" || last == "edits" || last == "suggestions"
}

#[test]
fn keys_of_the_report_and_columns_of_the_tables_are_frozen() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_sample(&run, &[]);
    let report: Value = serde_json::from_slice(&std::fs::read(run.join("report.json")).unwrap()).unwrap();
    let mut names = BTreeSet::new();
    keys(&report, "", &mut names);
    snapshot("report", &names);

    let mut columns = BTreeSet::new();
    for table in
        ["rows", "lists", "links", "entries", "ledger", "dataset/data/scored", "dataset/data/unverified"]
    {
        let path = run.join(format!("{table}.parquet"));
        let frame = FrameFile::open(Path::new(&path)).unwrap().read_all().unwrap();
        columns.extend(frame.names().map(|column| format!("{table} {column}")));
    }
    snapshot("tables", &columns);
}

#[test]
fn keys_of_pipelines_are_frozen() {
    let schema: Value = serde_json::from_str(&text(&["schema"])).unwrap();
    let mut names = BTreeSet::new();
    properties(&schema, "", &mut names);
    snapshot("pipeline", &names);
}

/// Collects the properties of a JSON Schema, of nested ones and of those that it is one of, by path.
fn properties(schema: &Value, path: &str, names: &mut BTreeSet<String>) {
    for kind in schema["oneOf"].as_array().into_iter().flatten() {
        properties(kind, path, names);
    }
    for (key, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        names.insert(path.trim_start_matches('.').to_owned());
        properties(member, &path, names);
    }
}

#[test]
fn commands_and_flags_are_frozen() {
    let mut names = BTreeSet::new();
    flags(&[], &mut names);
    snapshot("commands", &names);
}

/// Collects the flags of a command and of its subcommands from the help.
fn flags(command: &[&str], names: &mut BTreeSet<String>) {
    let help = text(&[command, &["--help"]].concat());
    let mut is_list = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_list = line == "Commands:";
            continue;
        }
        let word = line.trim_start().split(' ').next().unwrap_or_default();
        if is_list && line.starts_with("  ") && !line.starts_with("   ") && word != "help" {
            names.insert([command, &[word]].concat().join(" "));
            flags(&[command, &[word]].concat(), names);
        } else if !is_list && line.trim_start().starts_with('-') {
            let flags = line.split([' ', ',', '=']).filter(|word| word.starts_with("--"));
            names.extend(flags.map(|flag| format!("{} {flag}", command.join(" ")).trim_start().to_owned()));
        }
    }
}
