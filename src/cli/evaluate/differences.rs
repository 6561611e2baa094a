//! The entries on which two systems differ, for people and as JSON lines.

use std::io;

use serde_json::{Value, json};

use crate::cli::console::{self, Paint, Painted, Screen, counted};
use crate::cli::layout::{Cell, labelled};
use crate::evaluate::dataset::Dataset;
use crate::evaluate::differences::{Difference, differences};
use crate::evaluate::output::raw;
use crate::evaluate::{Row, SystemScore};
use crate::text::short::shortened;

/// Width of the labels.
const LABEL: usize = 8;

/// Characters of the message of a verdict.
const MAX_MESSAGE: usize = 160;

pub(super) fn print(
    is_json: bool,
    dataset: &Dataset,
    a: &SystemScore<'_>,
    b: &SystemScore<'_>,
) -> io::Result<()> {
    let all = differences(a, b);
    if is_json {
        let lines: String = all.iter().map(|pair| format!("{}\n", line(dataset, pair))).collect();
        return console::write_json(&lines);
    }
    let screen = Screen::of_stdout();
    let mut text = Painted::default();
    for pair in &all {
        text.append(shown(dataset, (a.name, b.name), pair, screen));
    }
    let decided = all.iter().filter(|pair| pair.is_decided()).count() as u64;
    let total = counted(all.len() as u64, "output differs", "outputs differ");
    text.add(
        Paint::Plain,
        &format!("{total}, {decided} of them in the verdict; ▸ marks what the other does not have\n"),
    );
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
        for line in own {
            let marked = line.iter().map(|piece| {
                let is_new = !other.iter().flatten().any(|known| known == piece);
                let text = if is_new { format!("▸{piece}") } else { piece.clone() };
                Cell::new(if is_new { Paint::Warning } else { Paint::Plain }, &text)
            });
            let marked: Vec<Cell> = marked.flat_map(Cell::split_words).collect();
            text.append(labelled(&"    ".into(), 6, &marked, screen));
        }
        if let Some(message) = row.scored.error.first().filter(|_| !row.scored.valid) {
            let message = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
            let message = Cell::new(Paint::Heading, &shortened(&message, MAX_MESSAGE)).split_words();
            text.append(labelled(&"    ".into(), 4, &message, screen));
        }
    }
    let truth = truth(dataset, pair.a);
    if !truth.is_null() {
        for (nth, line) in pieces(truth).into_iter().enumerate() {
            let label = if nth == 0 { "  truth" } else { "" };
            let line: Vec<Cell> =
                line.into_iter().flat_map(|piece| Cell::from(piece).split_words()).collect();
            text.append(labelled(&Cell::new(Paint::Heading, label), LABEL, &line, screen));
        }
    }
    text.add(Paint::Plain, "\n");
    text
}

/// Returns calls as pieces to compare, a line for each call, or for each turn of several: the name of each function, then its
/// arguments.
fn pieces(calls: &Value) -> Vec<Vec<String>> {
    let Value::Array(list) = calls else {
        return vec![vec![text_of(calls)]];
    };
    let is_of_turns = !list.is_empty() && list.iter().all(Value::is_array);
    let mut lines = Vec::new();
    for (nth, call) in list.iter().enumerate() {
        let mut line = Vec::new();
        if is_of_turns {
            line.push(format!("turn {}:", nth + 1));
            add_leaves(call, &mut line);
        } else {
            add_call(call, &mut line);
        }
        lines.push(line);
    }
    if lines.is_empty() {
        lines.push(vec!["(no call)".to_owned()]);
    }
    lines
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn add_call(call: &Value, line: &mut Vec<String>) {
    let Value::Object(members) = call else {
        line.push(text_of(call));
        return;
    };
    for (name, arguments) in members {
        line.push(format!("{name}:"));
        match arguments {
            Value::Object(arguments) => {
                line.extend(arguments.iter().map(|(key, value)| format!("{key}={value}")));
            }
            other => line.push(text_of(other)),
        }
    }
}

/// Adds the calls of the steps of a turn.
fn add_leaves(step: &Value, line: &mut Vec<String>) {
    match step {
        Value::Array(steps) => steps.iter().for_each(|step| add_leaves(step, line)),
        call => add_call(call, line),
    }
}
