//! Compares the decoders of models with recorded results of the official handlers.
//!
//! `cargo run -p callsieve-checker --example handler_parity -- RECORDED.jsonl`
//!
//! `scripts/checker/handlers.py` writes the records. Prints equal results by decoder; exit 1 on any difference.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use callsieve_checker::decode::{OutputFormat, is_empty_output, is_list_of_calls};
use callsieve_checker::handler::RawOutput;
use callsieve_checker::{Handler, Mode, PyValue};
use serde_json::Value;

/// Examples printed for each decoder.
const EXAMPLES: usize = 4;

#[derive(Default)]
struct Counts {
    n: usize,
    decoded: usize,
    equal: usize,
    same_kind: usize,
    examples: Vec<String>,
}

/// What the evaluator sees of a result: not decoded, no list of calls, no call, or calls.
fn kind(decoded: Option<&PyValue>) -> &'static str {
    match decoded {
        None => "not decoded",
        Some(value) if !is_list_of_calls(value) => "no list of calls",
        Some(value) if is_empty_output(value) => "no call",
        Some(_) => "calls",
    }
}

fn main() -> ExitCode {
    let Some(text) = std::env::args_os().nth(1).and_then(|path| std::fs::read_to_string(path).ok()) else {
        eprintln!("usage: handler_parity RECORDED.jsonl");
        return ExitCode::from(2);
    };
    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some(handler) = record["model"].as_str().and_then(Handler::of) else {
            eprintln!("unknown model: {}", record["model"]);
            return ExitCode::from(2);
        };
        let output = &record["output"];
        let raw = output.as_str().map_or(RawOutput::Json(output), RawOutput::Text);
        let found = handler.decoder.decode(Mode::Official, raw, OutputFormat::Python, false).ok();
        let (found_kind, found) = (kind(found.as_ref()), found.map(|value| value.repr()));
        let (expected_kind, expected) =
            (record["kind"].as_str().unwrap_or_default(), record["decoded"].as_str());
        let counts = counts.entry(handler.decoder.name()).or_default();
        counts.n += 1;
        counts.decoded += usize::from(expected_kind == "calls");
        counts.same_kind += usize::from(expected_kind == found_kind);
        if expected_kind == found_kind && expected == found.as_deref() {
            counts.equal += 1;
        } else if counts.examples.len() < EXAMPLES {
            counts.examples.push(format!(
                "{output}\n      official {expected_kind}: {expected:?}\n      here     {found_kind}: {found:?}"
            ));
        }
    }
    println!("{:<22}{:>8}{:>12}{:>14}{:>8}", "decoder", "outputs", "with calls", "equal kinds", "equal");
    for (name, of) in &counts {
        println!("{name:<22}{:>8}{:>12}{:>14}{:>8}", of.n, of.decoded, of.same_kind, of.equal);
    }
    for (name, of) in &counts {
        of.examples.iter().for_each(|example| println!("{name}: {example}"));
    }
    if counts.values().all(|of| of.equal == of.n) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
