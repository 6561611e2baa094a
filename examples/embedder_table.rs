//! How well embedders without a model find the pairs of queries that a model puts together.
//!
//! `cargo run --release --example embedder_table -- DIR_OF_BFCL_FILES local:DIR [EMBEDDER…]` takes pairs above
//! cosine 0.9 of the first embedder as true, and prints for each of the others (by default both versions of
//! `hashed`) recall and precision at some thresholds, and where F1 is best.

// Not part of the library's surface; what it prints is what it is for.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::cast_precision_loss)]

use std::path::Path;

use callsieve::bfcl::entry::Entry;
use callsieve::bfcl::files::{in_folder, lines};
use callsieve::conversation::Role;
use callsieve::embed::Embedder;
use callsieve::embed::hashed::Hashed;
use callsieve::embed::name::EmbedderName;
use callsieve::environment::Environment;
use callsieve::similarity::vectors::{Vectors, dot};
use serde_json::Value;

/// Pairs above this cosine of the model are true.
const TRUE_ABOVE: f32 = 0.9;
const THRESHOLDS: [f32; 4] = [0.7, 0.8, 0.85, 0.9];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, model, others @ ..] = &args[..] else {
        println!("usage: embedder_table DIR_OF_BFCL_FILES local:DIR [EMBEDDER…]");
        return;
    };
    let queries = queries(Path::new(folder));
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let embed = |embedder: &dyn Embedder| embedder.embed(&queries, &|| false).unwrap();
    let environment = Environment::read(|name| std::env::var_os(name));
    let open = |name: &String| name.parse::<EmbedderName>().unwrap().open(&environment).unwrap();
    let truth = embed(open(model).as_ref());
    println!(
        "{} queries, {} true pairs",
        queries.len(),
        pairs(&truth).filter(|&(.., c)| c > TRUE_ABOVE).count()
    );
    if others.is_empty() {
        for hashed in [Hashed::V1, Hashed::V2] {
            print_row(hashed.id(), &truth, &embed(&hashed));
        }
    }
    for name in others {
        print_row(name, &truth, &embed(open(name).as_ref()));
    }
}

/// The last user message of each entry's first turn.
fn queries(folder: &Path) -> Vec<String> {
    let mut queries = Vec::new();
    for file in in_folder(folder).unwrap() {
        let text = std::fs::read_to_string(file.path).unwrap();
        for (_, line) in lines(&text) {
            let record: Value = serde_json::from_str(line).unwrap();
            let turns = Entry::read(&record).unwrap().turns;
            let messages = turns.into_iter().next().unwrap_or_default();
            let asked = messages.into_iter().rfind(|message| message.role == Role::User);
            queries.extend(asked.map(|message| message.content));
        }
    }
    queries
}

/// Every pair of rows, with their cosine.
fn pairs(vectors: &Vectors) -> impl Iterator<Item = (usize, usize, f32)> {
    (0..vectors.len()).flat_map(move |a| (0..a).map(move |b| (a, b, dot(vectors.get(a), vectors.get(b)))))
}

fn print_row(name: &str, truth: &Vectors, vectors: &Vectors) {
    let mut scored: Vec<(f32, bool)> = pairs(vectors)
        .map(|(a, b, cosine)| (cosine, dot(truth.get(a), truth.get(b)) > TRUE_ABOVE))
        .filter(|&(cosine, is_true)| is_true || cosine > 0.5)
        .collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let n_true = scored.iter().filter(|(_, is_true)| *is_true).count();
    let at = |threshold: f32| {
        let found = &scored[..scored.partition_point(|(cosine, _)| *cosine >= threshold)];
        let n_right = found.iter().filter(|(_, is_true)| *is_true).count();
        (n_right as f64 / n_true.max(1) as f64, n_right as f64 / found.len().max(1) as f64)
    };
    let f1 = |threshold: f32| {
        let (recall, precision) = at(threshold);
        2.0 * recall * precision / (recall + precision).max(f64::MIN_POSITIVE)
    };
    let steps = (50_u8..100).map(|step| f32::from(step) / 100.0);
    let best = steps.max_by(|&a, &b| f1(a).total_cmp(&f1(b))).unwrap_or_default();
    print!("{name:28} F1 {:.3} at {best:.2}", f1(best));
    for threshold in THRESHOLDS {
        let (recall, precision) = at(threshold);
        print!("  {threshold:.2}: {recall:.2}/{precision:.2}");
    }
    println!();
}
