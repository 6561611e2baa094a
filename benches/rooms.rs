//! Benchmarks of the modules in which a run spends its time, on generated texts. See `whole_run.py` for whole runs.

// Benches are not part of the library's surface, and their set-up cannot fail.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use callsieve::docs::fix::{Safety, fix};
use callsieve::docs::parse::parse;
use callsieve::similarity::rouge::leaders::merge_into_leaders;
use callsieve::similarity::rouge::texts::Texts;
use callsieve::text::profile::Profile;
use callsieve::text::rouge::Threshold;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

const WORDS: [&str; 16] = [
    "harbour",
    "crane",
    "berth",
    "pilot",
    "tide",
    "cargo",
    "manifest",
    "customs",
    "buoy",
    "draught",
    "mooring",
    "ferry",
    "lighthouse",
    "channel",
    "dredger",
    "quay",
];

/// Returns a list of functions, in groups of ten near-duplicates.
fn docs(n: usize) -> Vec<Value> {
    let word = |at: usize| WORDS[at % WORDS.len()];
    let property = |n: usize, at: usize| {
        let text = format!(
            "The {} of the {} number {} at {}",
            word(n / 10 + at),
            word(n / 7 + at),
            at,
            word(n / 10)
        );
        json!({"type": if at.is_multiple_of(2) { "str" } else { "number" }, "description": text})
    };
    let properties: serde_json::Map<String, Value> =
        (0..6).map(|at| (format!("{}_{at}", word(n / 10 + at)), property(n, at))).collect();
    let required: Vec<&String> = properties.keys().take(2).collect();
    let name = format!("{}_{}", word(n / 10), n / 10);
    vec![json!({"name": name, "description": format!("Asks the {} office, case {n}.", word(n)),
        "parameters": {"type": "object", "required": required, "properties": properties}})]
}

fn rooms(criterion: &mut Criterion) {
    let lists: Vec<Vec<Value>> = (0..2000).map(docs).collect();
    let json: Vec<String> = lists.iter().map(|list| json!(list).to_string()).collect();
    let python: Vec<String> = json.iter().map(|text| text.replace('"', "'")).collect();
    let bytes = json.iter().map(|text| text.len() as u64).sum();
    let mut group = criterion.benchmark_group("docs");
    group.throughput(Throughput::Bytes(bytes)).sample_size(20);
    group.bench_function("parse JSON", |bencher| {
        bencher.iter(|| json.iter().filter_map(|text| parse(black_box(text)).ok()).count());
    });
    group.bench_function("parse Python literals", |bencher| {
        bencher.iter(|| python.iter().filter_map(|text| parse(black_box(text)).ok()).count());
    });
    group.bench_function("fix", |bencher| {
        bencher
            .iter(|| lists.iter().map(|list| fix(black_box(list), Safety::Safe).edits.len()).sum::<usize>());
    });
    group.finish();

    let texts = Texts::encode(&json, Profile::Auto);
    let threshold = Threshold::try_from(0.8).unwrap();
    let mut group = criterion.benchmark_group("similarity");
    group.throughput(Throughput::Elements(texts.len() as u64)).sample_size(20);
    group.bench_function("merge into leaders, ROUGE-L > 0.8", |bencher| {
        bencher.iter(|| {
            merge_into_leaders(black_box(&texts), threshold, &|| false)
                .map(|merges| merges.iter().flatten().count())
        });
    });
    group.finish();
}

criterion_group!(benches, rooms);
criterion_main!(benches);
