//! The hits of an audit with other thresholds, and of vectors; which entries a method cannot find.
//!
//! `cargo run --release --example audit_methods -- TRAIN HITS THRESHOLDS EMBEDDER BENCH...` reads a training set of JSON lines,
//! writes its hits as `scripts/audit/score.py` reads them, and prints a table of unscorable entries and the seconds that each part
//! took. THRESHOLDS is TOML such as `query = {words = 0.8}`, or empty; EMBEDDER is the name of one, or `none`.

#![allow(clippy::print_stdout)] // A table for people.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use callsieve::audit::benchmark::{Benchmark, Thresholds};
use callsieve::audit::embedding::VectorIndex;
use callsieve::audit::hit::Hit;
use callsieve::audit::item::{Docs, Item};
use callsieve::audit::row::ComparedWith;
use callsieve::audit::rows::{Fallback, items_of};
use callsieve::docs::parse::parse;
use callsieve::embed::name::EmbedderName;
use callsieve::environment::Environment;
use callsieve::ingest::log_formats::Columns;
use callsieve::ingest::read::{FileFormat, Limits, ReadError, read_blocks};
use rayon::prelude::*;
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, hits, thresholds, embedder, bench @ ..] = &arguments[..] else {
        return Err("expected TRAIN HITS THRESHOLDS EMBEDDER BENCH...".into());
    };
    let thresholds: Thresholds = toml::from_str(thresholds)?;
    thresholds.check()?;
    let bench: Vec<PathBuf> = bench.iter().map(PathBuf::from).collect();
    let (columns, fallback) = (Columns::default(), Fallback::default());
    let start = Instant::now();
    let benchmark = Benchmark::read(&bench, &columns, thresholds, &fallback)?;
    println!("{:.2} s to read {} entries", start.elapsed().as_secs_f64(), benchmark.entries.len());
    let unscorable = benchmark.unscorable();
    let names: Vec<&str> = benchmark.categories.iter().map(|category| category.name.as_str()).collect();
    println!("unscorable: {}", names.join(" "));
    for counts in &unscorable {
        println!(
            "{:16} {:5} of {} {:?}",
            counts.method.name(),
            counts.total(),
            benchmark.entries.len(),
            counts.by_category
        );
    }

    let start = Instant::now();
    let mut rows: Vec<(String, Item)> = Vec::new();
    let train = PathBuf::from(train);
    read_blocks(&train, FileFormat::of(&train), &Limits::default(), &mut |_| {}, &mut |block| {
        let read = items_of(&block, &columns, &fallback).into_iter();
        rows.extend(read.filter_map(|row| Some((row.id.unwrap_or_default(), row.item?))));
        Ok::<_, ReadError>(())
    })?;
    println!("{:.2} s to read {} rows", start.elapsed().as_secs_f64(), rows.len());
    let start = Instant::now();
    let mut found: Vec<Vec<Hit>> =
        rows.par_iter().map(|(_, item)| benchmark.hits_of_messages(item)).collect();
    println!("{:.2} s for messages and calls", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let of_functions = rows.par_iter().map(|(_, item)| match &item.functions {
        Docs::None => Vec::new(),
        Docs::Read(functions) => benchmark.hits_of_functions(functions),
        Docs::Text(text) => {
            benchmark.hits_of_functions(&parse(text).map(|parsed| parsed.functions).unwrap_or_default())
        }
    });
    let of_functions: Vec<Vec<Hit>> = of_functions.collect();
    println!("{:.2} s for functions", start.elapsed().as_secs_f64());
    if embedder != "none" {
        let embedder = embedder.parse::<EmbedderName>()?.open(&Environment::default())?;
        let start = Instant::now();
        let index = VectorIndex::new(&benchmark, &*embedder, &|| false)?;
        println!("{:.2} s for the vectors of {} messages", start.elapsed().as_secs_f64(), index.len());
        let start = Instant::now();
        for (rows, found) in rows.chunks(4096).zip(found.chunks_mut(4096)) {
            let compared = ComparedWith::all(&benchmark, &|| false);
            let items: Vec<(&Item, ComparedWith<'_>)> =
                rows.iter().map(|(_, item)| (item, compared)).collect();
            for (hits, more) in found.iter_mut().zip(index.hits(&items, &*embedder, &|| false)?) {
                hits.extend(more);
            }
        }
        println!("{:.2} s for vectors", start.elapsed().as_secs_f64());
    }
    let mut out = BufWriter::new(std::fs::File::create(hits)?);
    for ((id, _), hits) in
        rows.iter().zip(found.iter().zip(&of_functions).map(|(some, more)| some.iter().chain(more)))
    {
        // A line for each entry of a group, with the score of the one that the hit names.
        for (hit, (entry, number)) in hits.flat_map(|hit| hit.entries().map(move |entry| (hit, entry))) {
            let line = json!({"train_id": id, "bench_id": benchmark.entries[entry as usize].id, "object": hit.object,
                "method": hit.method, "score": hit.score, "verdict": hit.verdict,
                "train_span": {"number": hit.in_row.0, "start": hit.in_row.1.start, "end": hit.in_row.1.end},
                "bench_span": {"number": number, "start": hit.in_entry.1.start, "end": hit.in_entry.1.end}});
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
