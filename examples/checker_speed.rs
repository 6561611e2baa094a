//! Decodes and checks recorded outputs again and again, on one thread: `checker_speed DATASET OUTPUTS SECONDS`.
//!
//! OUTPUTS has a line `{"id": …, "raw": …}` for each output, DATASET is a folder of question files with their
//! `possible_answer`. Prints one JSON object with the outputs per second. `benches/checker.py` runs it beside the official
//! package.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::cast_precision_loss)]

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use callsieve::checker::decode::{OutputFormat, decode_text};
use callsieve::checker::{Case, Checker, Kind, Language};
use serde_json::{Value, json};

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of all files of a folder, by id.
fn by_id(folder: &Path) -> HashMap<String, Value> {
    let files =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.flat_map(|path| lines(&path)).map(|line| (line["id"].as_str().unwrap().to_owned(), line)).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dataset, outputs, seconds] = arguments.as_slice() else { panic!("DATASET OUTPUTS SECONDS") };
    let (questions, answers) =
        (by_id(Path::new(dataset)), by_id(&Path::new(dataset).join("possible_answer")));
    let outputs = lines(Path::new(outputs));
    let cases: Vec<(Case<'_>, &str)> = outputs
        .iter()
        .filter_map(|output| {
            let id = output["id"].as_str()?;
            let kind = Kind::of_category(id.rsplit_once('_')?.0);
            let truth = &answers.get(id)?["ground_truth"];
            Some((
                Case::new(&questions.get(id)?["function"], truth, kind, Language::Python),
                output["raw"].as_str()?,
            ))
        })
        .collect();
    assert!(!cases.is_empty(), "no output has the id of an entry with an answer");
    let limit: f64 = seconds.parse().unwrap();
    let (start, mut n, mut n_valid) = (Instant::now(), 0_usize, 0_usize);
    while start.elapsed().as_secs_f64() < limit {
        for (case, output) in &cases {
            let decoded = decode_text(output, OutputFormat::Python, false);
            let verdict = decoded.ok().and_then(|calls| Checker::default().check(case, &calls).ok());
            n_valid += usize::from(verdict.is_some_and(|verdict| verdict.is_valid()));
        }
        n += cases.len();
    }
    let per_second = n as f64 / start.elapsed().as_secs_f64();
    let share = n_valid as f64 / n as f64;
    println!("{}", json!({"outputs": cases.len(), "per_second": per_second, "valid": share}));
}
