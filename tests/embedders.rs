//! Embedders beside reference vectors.
//!
//! The model lies beside the project; where it does not, the test says so and passes.

// A test that cannot set itself up may fail where it stands.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::PathBuf;

use serde::Deserialize;
use toolsieve::similarity::embed::Embedder;
use toolsieve::similarity::embed::local::Local;

/// A text, and of its vector by all-MiniLM-L6-v2 the first numbers and the sum of all: a forward pass in 64-bit
/// numbers of its own, over the tokens of a tokenizer of its own.
#[derive(Deserialize)]
struct Reference {
    text: String,
    first: Vec<f64>,
    sum: f64,
}

/// The model, or nothing where it is not there.
fn minilm() -> Option<Local> {
    let Some(folder) = std::env::var_os(MODEL).map(PathBuf::from).filter(|folder| folder.is_dir()) else {
        println!("skipped: {MODEL} does not name the folder of all-MiniLM-L6-v2");
        return None;
    };
    Some(Local::open(&folder).unwrap())
}

fn references() -> Vec<Reference> {
    include_str!("embedders/minilm.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const MODEL: &str = "TOOLSIEVE_MINILM";
/// How far a number may be off, and the sum of all 384.
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
fn a_vector_of_minilm_has_the_same_bits_alone_and_in_company() {
    let Some(minilm) = minilm() else { return };
    let texts: Vec<String> = references().into_iter().map(|reference| reference.text).collect();
    // Each one again among others of as many tokens.
    let mut company: Vec<&str> = texts.iter().map(String::as_str).collect();
    company.extend((0..40).map(|_| "a"));
    company.extend(["ring the bell", "open the gate", "shut a door"]);
    let together = minilm.embed(&company, &|| false).unwrap();
    for (text, row) in company.iter().zip(together.iter()).filter(|(text, _)| text.len() < 200) {
        assert_eq!(row, minilm.embed(&[text], &|| false).unwrap().get(0), "{text:?}");
    }
}
