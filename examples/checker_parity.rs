//! Compares the checker with recorded results of the official evaluator.
//!
//! `cargo run --release --example checker_parity -- RECORDED.jsonl QUESTIONS [ANSWERS]`
//!
//! `scripts/checker/record.py` writes the records. QUESTIONS is the folder of the official question files, ANSWERS that
//! of the answers (default: `possible_answer` below it). Prints the differences by class; exit 1 on any.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callsieve::checker::decode::{self, OutputFormat};
use callsieve::checker::{Case, Checker, Kind, Language, PyValue, Verdict};
use serde_json::Value;

/// Examples printed for each class of differences.
const EXAMPLES: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [records, questions, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: checker_parity RECORDED.jsonl QUESTIONS [ANSWERS]");
        return ExitCode::from(2);
    };
    let answers = rest.first().cloned().unwrap_or_else(|| questions.join("possible_answer"));
    let (functions, truths) = (members(questions, "function"), members(&answers, "ground_truth"));
    let text = match std::fs::read_to_string(records) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{}: {error}", records.display());
            return ExitCode::from(2);
        }
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut differences: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else {
            differences.entry("unreadable record".to_owned()).or_default().push(line.to_owned());
            continue;
        };
        let category = record["category"].as_str().unwrap_or_default();
        *counts.entry(category.to_owned()).or_default() += 1;
        if let Some((class, expected, found)) = difference(&record, &functions, &truths) {
            let class = format!("{category}: {class}");
            let shown = format!("{}\n      official {expected}\n      here     {found}", shown(&record));
            differences.entry(class).or_default().push(shown);
        }
    }
    for (category, n) in &counts {
        let differ = differences.iter().filter(|(class, _)| class.starts_with(&format!("{category}: ")));
        println!(
            "{category:<24}{n:>8} outputs{:>8} differ",
            differ.map(|(_, found)| found.len()).sum::<usize>()
        );
    }
    for (class, found) in &differences {
        println!("{class}: {}", found.len());
        found.iter().take(EXAMPLES).for_each(|example| println!("   {example}"));
    }
    if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a member of each line of the files of a folder, by id.
fn members(folder: &Path, member: &str) -> HashMap<String, Value> {
    let mut found = HashMap::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for mut line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if let (Some(id), Some(value)) =
                (line["id"].as_str().map(str::to_owned), line.get_mut(member).map(Value::take))
            {
                found.insert(id, value);
            }
        }
    }
    found
}

/// Returns the first difference: its class, the official result and the one here.
fn difference(
    record: &Value,
    functions: &HashMap<String, Value>,
    truths: &HashMap<String, Value>,
) -> Option<(&'static str, String, String)> {
    let category = record["category"].as_str().unwrap_or_default();
    let decoded = if record.get("calls").is_some() {
        Ok(PyValue::from_json(&record["calls"]))
    } else {
        let has_tag = record["tool_call_tag"] == true;
        decode::decode_text(record["raw"].as_str().unwrap_or_default(), format(record), has_tag)
    };
    if (record["decode"] == "ok") != decoded.is_ok() {
        let expected = record["decoded_repr"].as_str().or(record["exc"].as_str()).unwrap_or_default();
        let found = decoded.map_or_else(|error| error.to_string(), |value| value.repr());
        return Some(("decoded or not", expected.to_owned(), found));
    }
    if let Ok(decoded) = &decoded
        && let Some(expected) = record["decoded_repr"].as_str()
        && expected != decoded.repr()
    {
        return Some(("decoded value", expected.to_owned(), decoded.repr()));
    }
    let checker = Checker { underscore_to_dot: record["underscore_to_dot"] == true, ..Checker::default() };
    if category.contains("relevance") {
        let verdict =
            checker.check_relevance(&Value::Null, decoded.as_ref().ok(), !category.contains("irrelevance"));
        return verdict_difference(record, &verdict, false);
    }
    let Ok(decoded) = decoded else { return None };
    let id = record["id"].as_str().unwrap_or_default();
    let function = record.get("function").or_else(|| functions.get(id));
    let truth = record.get("ground_truth").or_else(|| truths.get(id));
    let (Some(function), Some(truth)) = (function, truth) else {
        return Some(("unknown entry", id.to_owned(), String::new()));
    };
    let language = match category {
        "simple_java" | "convert_java" => Language::Java,
        "simple_javascript" | "convert_javascript" => Language::JavaScript,
        _ => Language::Python,
    };
    let case = Case::new(function, truth, Kind::of_category(category), language);
    match (checker.check(&case, &decoded), record["exception"].as_str()) {
        (Err(fault), Some(expected)) if fault.exception == expected => None,
        (Err(fault), expected) => Some(("fault", expected.unwrap_or("none").to_owned(), fault.to_string())),
        (Ok(verdict), Some(expected)) => Some(("fault", expected.to_owned(), format!("{verdict:?}"))),
        (Ok(verdict), None) => verdict_difference(record, &verdict, true),
    }
}

fn verdict_difference(
    record: &Value,
    verdict: &Verdict,
    with_messages: bool,
) -> Option<(&'static str, String, String)> {
    let expected = (record["valid"] == true, record["error_type"].as_str());
    let found = (verdict.is_valid(), verdict.failure().map(|failure| failure.error_type.name()));
    if expected != found {
        return Some(("verdict", format!("{expected:?}"), format!("{found:?}")));
    }
    let failure = verdict.failure().filter(|_| with_messages && record["error"].is_array())?;
    let messages = Value::Array(failure.errors.clone());
    (messages != record["error"]).then(|| ("message", record["error"].to_string(), messages.to_string()))
}

/// Returns the syntax of an output.
fn format(record: &Value) -> OutputFormat {
    match record["return_format"].as_str() {
        Some("java") => OutputFormat::Java,
        Some("javascript") => OutputFormat::JavaScript,
        Some("json") => OutputFormat::Json,
        Some("verbose_xml") => OutputFormat::VerboseXml,
        Some("concise_xml") => OutputFormat::ConciseXml,
        _ => OutputFormat::Python,
    }
}

/// Returns the output of a record, and its entry if that is made up.
fn shown(record: &Value) -> String {
    match record.get("calls") {
        Some(calls) => format!("{calls}\n      of {} for {}", record["ground_truth"], record["function"]),
        None => format!("{} {}", record["id"], record["raw"]),
    }
}
