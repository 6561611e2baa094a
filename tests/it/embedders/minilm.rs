//! Tests of a local model against reference vectors, and in whole runs.
//!
//! The model is in the data folder (`callsieve_testkit::data`).

use std::path::PathBuf;

use callsieve::embed::Embedder as _;
use callsieve::embed::local::Local;
use serde::Deserialize;

use super::{report, run};
use crate::support::{assert_same_bytes, shown, stable_bytes};
use callsieve_testkit::data;

/// A text, and the first numbers and the sum of its vector by all-MiniLM-L6-v2. They come from an independent forward
/// pass in 64-bit numbers, over the tokens of an independent tokenizer.
#[derive(Deserialize)]
struct Reference {
    text: String,
    first: Vec<f64>,
    sum: f64,
}

/// Returns the model; `None` if it is missing.
fn minilm() -> Option<Local> {
    data::path(data::MINILM).map(|folder| Local::open(&folder).unwrap())
}

fn references() -> Vec<Reference> {
    include_str!("../../embedders/minilm.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The tolerance of a number, and of the sum of all 384.
const TOLERANCE: f64 = 1e-4;

#[test]
fn vectors_of_minilm_are_those_of_the_reference() {
    let Some(minilm) = minilm() else { return };
    let references = references();
    let texts: Vec<&str> = references.iter().map(|reference| reference.text.as_str()).collect();
    let vectors = minilm.embed(&texts, &|| false).unwrap();
    let mut worst = 0.0_f64;
    for (reference, row) in references.iter().zip(vectors.iter()) {
        assert_eq!(row.len(), 384);
        let sum: f64 = row.iter().map(|&value| f64::from(value)).sum();
        let off =
            reference.first.iter().zip(row).map(|(expected, &value)| (expected - f64::from(value)).abs());
        let off = off.fold((sum - reference.sum).abs(), f64::max);
        assert!(off < TOLERANCE, "{:?} is off by {off}", reference.text);
        worst = worst.max(off);
    }
    println!("{} texts, off by {worst:.1e} at most", references.len());
}

#[test]
fn a_vector_of_minilm_has_the_same_bits_alone_and_in_a_batch() {
    let Some(minilm) = minilm() else { return };
    let texts: Vec<String> = references().into_iter().map(|reference| reference.text).collect();
    // Each one again in a batch with others of as many tokens.
    let mut company: Vec<&str> = texts.iter().map(String::as_str).collect();
    company.extend((0..40).map(|_| "a"));
    company.extend(["ring the bell", "open the gate", "shut a door"]);
    let together = minilm.embed(&company, &|| false).unwrap();
    for (text, row) in company.iter().zip(together.iter()).filter(|(text, _)| text.len() < 200) {
        assert_eq!(row, minilm.embed(&[text], &|| false).unwrap().get(0), "{text:?}");
    }
}

#[test]
fn a_second_run_reads_the_vectors_of_minilm_from_the_cache_with_the_same_bytes() {
    let Some(model) = data::path(data::MINILM) else { return };
    let folder = tempfile::tempdir().unwrap();
    let embedder = format!("local:{}", model.display());
    let queries = ["What is the weather in Oslo?", "Tell me Oslo's weather", "How tall is the tower?"];
    for out in ["one", "two"] {
        let merged = run(folder.path(), out, &queries, &embedder, &[]);
        assert!(merged.status.success(), "{}", shown(&merged));
        assert!(report(&folder.path().join(out)).to_string().contains("query/similar"));
    }
    let [one, two] = ["one", "two"].map(|out| stable_bytes(&folder.path().join(out)));
    assert_same_bytes(&one, &two);
    let cached =
        std::fs::read_dir(folder.path().join("cache/vectors")).unwrap().next().unwrap().unwrap().path();
    let files: Vec<PathBuf> = std::fs::read_dir(cached).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.iter().filter(|path| path.extension().is_some_and(|end| end == "vectors")).count(), 1);
}
