//! Prints what is read from API collections: a row for each file, and for the whole collection.
//!
//! ```text
//! cargo run --release -p callsieve-collection --example collect_table -- FOLDER…
//! ```

// What it prints is what it is for.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callsieve_collection::counts::Counts;
use callsieve_collection::{Collection, Read, read_file};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = Vec::new();
    for path in std::env::args_os().skip(1) {
        add_files(Path::new(&path), &mut files)?;
    }
    files.sort();
    let reads: Vec<Read> = files.iter().map(|path| read_file(path)).collect::<Result<_, _>>()?;
    println!(
        "| format | files | tools | functions | parameters | defaults | examples | enums | descriptions | lost | uncounted |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut formats: BTreeMap<&str, (usize, Counts)> = BTreeMap::new();
    for read in &reads {
        let (n_files, counts) = formats.entry(read.format.unwrap_or("none")).or_default();
        *n_files += 1;
        *counts += &read.counts;
    }
    for (format, (n_files, counts)) in &formats {
        print_row(format, *n_files, counts);
    }
    let with_tools = reads.iter().filter(|read| !read.tools.is_empty()).count();
    println!("\n{} files, {with_tools} with tools", reads.len());
    let missing = formats.values().flat_map(|(_, counts)| &counts.missing);
    missing
        .take(40)
        .for_each(|missing| println!("missing {:?} {} × {}", missing.kind, missing.n, missing.item));
    print_collection(&Collection::of(reads));
    Ok(())
}

fn add_files(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        add_files(&entry?.path(), files)?;
    }
    Ok(())
}

fn print_row(name: &str, n_files: usize, counts: &Counts) {
    let cells: Vec<String> =
        counts.named().iter().map(|(_, count)| format!("{} → {}", count.source, count.read)).collect();
    println!(
        "| {name} | {n_files} | {} | {} | {} |",
        cells.join(" | "),
        counts.lost(),
        counts.uncounted_functions
    );
}

fn print_collection(collection: &Collection) {
    let changed = collection.names.iter().filter(|entry| entry.name != entry.function).count();
    let responses =
        collection.tools.iter().flat_map(|tool| &tool.functions).filter(|api| api.response.is_some()).count();
    println!(
        "\ncollection: {} tools, {} functions ({} merged), {responses} with a response schema ({} attached), {changed} names changed",
        collection.tools.len(),
        collection.n_functions(),
        collection.merged_functions,
        collection.attached_responses,
    );
    let mut faults: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for fault in &collection.faults {
        let first = || format!("{} {}: {}", fault.origin.source, fault.origin.at, fault.message);
        faults.entry(fault.kind.code()).or_insert_with(|| (0, first())).0 += 1;
    }
    println!("\n| fault | times | first |\n|---|---|---|");
    for (code, (n, first)) in faults {
        println!("| {code} | {n} | {} |", first.chars().take(160).collect::<String>());
    }
}
