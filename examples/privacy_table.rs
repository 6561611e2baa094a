//! Prints how well personal values are found in the labelled sentences of `tests/privacy`: precision and recall by kind.
//!
//! `cargo run --example privacy_table [FILE] [--misses]`

use std::collections::BTreeMap;
use std::path::Path;

use callsieve::privacy::{Names, PrivacyKind, Scanner};

const FILES: [&str; 6] =
    ["open.jsonl", "aside.jsonl", "written.jsonl", "written_aside.jsonl", "typed.jsonl", "typed_aside.jsonl"];

/// A secret can be announced as a key or as a token, so the two are one.
fn one_kind(kind: PrivacyKind) -> PrivacyKind {
    if kind == PrivacyKind::Token { PrivacyKind::Key } else { kind }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let show_misses = arguments.iter().any(|argument| argument == "--misses");
    let named = arguments.iter().find(|argument| !argument.starts_with("--"));
    let files = named.map_or(FILES.to_vec(), |name| vec![name.as_str()]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/privacy");
    for file in files {
        let text = std::fs::read_to_string(folder.join(file)).expect("the set is in the repository");
        table(file, &text, show_misses);
    }
}

#[derive(Default)]
struct Counts {
    labelled: usize,
    found: usize,
    right: usize,
}

// Counts of some hundred sentences.
#[allow(clippy::print_stdout, clippy::cast_precision_loss)]
fn table(file: &str, text: &str, show_misses: bool) {
    let scanner = Scanner::new(&PrivacyKind::ALL, None, Names::default());
    let mut counts: BTreeMap<PrivacyKind, Counts> = BTreeMap::new();
    let (mut look_alikes, mut touched) = (0, 0);
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let sentence = row["text"].as_str().expect("a text");
        let labels: Vec<(PrivacyKind, usize, usize)> =
            serde_json::from_value::<Vec<(String, usize, usize)>>(row["spans"].clone())
                .expect("spans")
                .into_iter()
                .map(|(kind, start, end)| {
                    (one_kind(PrivacyKind::from_name(&kind).expect("a kind")), start, end)
                })
                .collect();
        let found: Vec<(PrivacyKind, usize, usize)> = scanner
            .scan(sentence)
            .iter()
            .filter(|value| value.is_personal())
            .map(|value| (one_kind(value.kind), value.start, value.end))
            .collect();
        for label in &labels {
            let count = counts.entry(label.0).or_default();
            count.labelled += 1;
            count.right += usize::from(found.contains(label));
        }
        for value in &found {
            counts.entry(value.0).or_default().found += 1;
        }
        if row["looks"].is_string() {
            look_alikes += 1;
            touched += usize::from(!found.is_empty());
        }
        if show_misses && found != labels {
            println!("{sentence:?}\n  labelled {labels:?}\n  found    {found:?}");
        }
    }
    println!("{file}: {look_alikes} look-alikes, {touched} of them changed\n");
    println!("| kind | labelled | found | right | precision | recall |\n|---|---|---|---|---|---|");
    for (kind, count) in counts {
        let share = |whole: usize| 100.0 * count.right as f64 / whole.max(1) as f64;
        println!(
            "| {} | {} | {} | {} | {:.1} | {:.1} |",
            kind.name(),
            count.labelled,
            count.found,
            count.right,
            share(count.found),
            share(count.labelled)
        );
    }
    println!();
}
