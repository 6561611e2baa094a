//! The entries on which two systems differ, for people and as JSON lines.

use std::io;

use serde_json::{Value, json};

use crate::cli::console::{self, Paint, Painted, Screen, counted};
use crate::cli::layout::{Cell, labelled};
use crate::evaluate::dataset::Dataset;
use crate::evaluate::differences::{Difference, differences};
use crate::evaluate::output::raw;
use crate::evaluate::{Row, SystemScore};

/// Width of the labels.
const LABEL: usize = 8;

pub(super) fn print(
    is_json: bool,
    dataset: &Dataset,
    a: &SystemScore<'_>,
    b: &SystemScore<'_>,
) -> io::Result<()> {
    let all = differences(a, b);
    if is_json {
        let lines: String = all.iter().map(|pair| format!("{}\n", line(dataset, pair))).collect();
        return console::give_json(&lines);
    }
    let screen = Screen::of_stdout();
    let mut text = Painted::default();
    for pair in &all {
        text.append(shown(dataset, (a.name, b.name), pair, screen));
    }
    let decided = all.iter().filter(|pair| pair.is_decided()).count() as u64;
    let total = counted(all.len() as u64, "output differs", "outputs differ");
    text.add(Paint::Plain, &format!("{total}, {decided} of them in the verdict\n"));
    console::print_painted(&text)
}

fn truth<'d>(dataset: &'d Dataset, row: &Row<'_>) -> &'d Value {
    let (category, at) = row.scored.place;
    &dataset.categories[category].entries[at].ground_truth
}

/// Returns the decoded calls, or the output if it cannot be decoded.
fn calls(row: &Row<'_>) -> Value {
    if row.scored.decoded.is_null() { raw(&row.result.output) } else { row.scored.decoded.clone() }
}

fn line(dataset: &Dataset, pair: &Difference<'_, '_>) -> Value {
    let side = |row: &Row<'_>| json!({"valid": row.scored.valid, "error_type": row.scored.error_type, "calls": calls(row)});
    json!({
        "id": pair.a.result.id, "sample": pair.a.result.sample, "a": side(pair.a), "b": side(pair.b),
        "ground_truth": truth(dataset, pair.a),
    })
}

fn shown(dataset: &Dataset, names: (&str, &str), pair: &Difference<'_, '_>, screen: Screen) -> Painted {
    let mut text = Painted::default();
    let sample = pair.a.result.sample.as_ref().map_or_else(String::new, |sample| format!(" sample {sample}"));
    text.add(Paint::Title, &format!("{}{sample}\n", pair.a.result.id));
    let (of_a, of_b) = (pieces(&calls(pair.a)), pieces(&calls(pair.b)));
    for (name, row, own, other) in [(names.0, pair.a, &of_a, &of_b), (names.1, pair.b, &of_b, &of_a)] {
        let verdict = row.scored.error_type.as_deref().unwrap_or("correct");
        let paint = if row.scored.valid { Paint::Kept } else { Paint::Dropped };
        text.append(labelled(&"  ".into(), 2, &[name.into(), Cell::new(paint, verdict)], screen));
        let marked = own.iter().map(|piece| {
            let is_new = !other.contains(piece);
            let text = if is_new { format!("▸{piece}") } else { piece.clone() };
            Cell::new(if is_new { Paint::Warning } else { Paint::Plain }, &text)
        });
        let marked: Vec<Cell> = marked.flat_map(Cell::split_words).collect();
        text.append(labelled(&"    ".into(), 4, &marked, screen));
    }
    let truth = truth(dataset, pair.a);
    if !truth.is_null() {
        let pieces: Vec<Cell> =
            pieces(truth).into_iter().flat_map(|piece| Cell::from(piece).split_words()).collect();
        text.append(labelled(&Cell::new(Paint::Heading, "  truth"), LABEL, &pieces, screen));
    }
    text.add(Paint::Plain, "\n");
    text
}

/// Returns calls as pieces to compare: the name of each function, then its arguments.
fn pieces(calls: &Value) -> Vec<String> {
    let Value::Array(list) = calls else {
        return vec![calls.as_str().map_or_else(|| calls.to_string(), str::to_owned)];
    };
    let mut pieces = Vec::new();
    for call in list {
        let Value::Object(members) = call else {
            pieces.push(call.to_string());
            continue;
        };
        for (name, arguments) in members {
            pieces.push(format!("{name}:"));
            match arguments {
                Value::Object(arguments) => {
                    pieces.extend(arguments.iter().map(|(key, value)| format!("{key}={value}")));
                }
                other => pieces.push(other.to_string()),
            }
        }
    }
    if pieces.is_empty() {
        pieces.push("(no call)".to_owned());
    }
    pieces
}
