//! How many megabytes a second one core reads, for each spelling of docs.
//!
//! `cargo run --release --example parse_speed` measures docs made here; `… -- --print` prints them, a JSON
//! line `{"spelling", "text"}` each, and `… -- FILE` measures such a file. `benches/json_repair.py` measures
//! the same file in Python.

// Not part of the library's surface; what it prints is what it is for.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, clippy::cast_precision_loss)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use callsieve::docs::parse::parse;
use serde_json::{Value, json};

const N_DOCS: usize = 400;
const N_ROUNDS: usize = 15;

/// How a doc is printed.
type Print = fn(&Value) -> String;

const SPELLINGS: [(&str, Print); 7] = [
    ("strict", |doc| doc.to_string()),
    ("strict-pretty", |doc| serde_json::to_string_pretty(doc).unwrap()),
    ("fenced", |doc| format!("Here it is:\n```json\n{doc}\n```\nThanks!")),
    ("python-repr", |doc| repr(&doc.to_string())),
    ("json5", |doc| bare(&serde_json::to_string_pretty(doc).unwrap())),
    ("missing-commas", |doc| serde_json::to_string_pretty(doc).unwrap().replace("},\n", "}\n")),
    ("cut", |doc| {
        let text = doc.to_string();
        text[..text.len() - 9].to_owned()
    }),
];

fn main() {
    let argument = std::env::args().nth(1);
    let texts = match argument.as_deref() {
        Some("--print") | None => made(),
        Some(file) => read(file),
    };
    if argument.as_deref() == Some("--print") {
        for (spelling, text) in texts {
            println!("{}", json!({"spelling": spelling, "text": text}));
        }
        return;
    }
    let mut by_spelling: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (spelling, text) in texts {
        by_spelling.entry(spelling).or_default().push(text);
    }
    for (spelling, texts) in by_spelling {
        let n_bytes: usize = texts.iter().map(String::len).sum();
        let best = (0..N_ROUNDS).map(|_| round(&texts)).min().unwrap();
        println!("{spelling:<16} {:>7.1} MB/s", n_bytes as f64 / 1e6 / best.as_secs_f64());
    }
}

fn round(texts: &[String]) -> Duration {
    let begun = Instant::now();
    for text in texts {
        let _ = black_box(parse(black_box(text)));
    }
    begun.elapsed()
}

fn read(file: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| (line["spelling"].as_str().unwrap().into(), line["text"].as_str().unwrap().into()))
        .collect()
}

fn made() -> Vec<(String, String)> {
    let docs: Vec<Value> = (0..N_DOCS).map(doc).collect();
    let spelled =
        SPELLINGS.iter().flat_map(|(name, print)| docs.iter().map(|doc| ((*name).to_owned(), print(doc))));
    spelled.collect()
}

/// A list of a few functions of a harbour.
fn doc(n: usize) -> Value {
    let function = |at: usize| {
        json!({
            "name": format!("berth.plan_{n}_{at}"),
            "description": format!("Plans where ship number {n} lies at quay {at}, and when the pilot goes aboard; says nothing of the weather."),
            "parameters": {
                "type": "dict",
                "required": ["ship", "quay"],
                "properties": {
                    "ship": {"type": "string", "description": "The name of the ship as it stands in the register."},
                    "quay": {"type": "integer", "description": "The number of the quay, counted from the harbour's mouth.", "default": at},
                    "cargo": {"type": "string", "enum": ["timber", "grain", "coal"], "description": "What she carries."},
                    "draught": {"type": "float", "description": "How deep she lies, in metres.", "default": 7.5}
                }
            }
        })
    };
    Value::Array((0..=n % 5).map(function).collect())
}

/// Python's way to write JSON that holds no quotes or backslashes in its strings.
fn repr(json: &str) -> String {
    json.replace('"', "'").replace("':", "': ").replace(",'", ", '")
}

/// Keys without quotes, trailing commas and a comment.
fn bare(pretty: &str) -> String {
    let line = |line: &str| match line.split_once("\": ") {
        Some((key, value)) => format!("{}: {value}\n", key.replacen('"', "", 1)),
        None => format!("{line}\n"),
    };
    format!("// tools\n{}", pretty.lines().map(line).collect::<String>().replace("\"\n", "\",\n"))
}
