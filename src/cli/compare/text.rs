//! A comparison for people: a section each for settings, inputs, entries, requests, the funnel and reasons.

use std::path::Path;

use serde_json::Value;

use super::CompareArgs;
use crate::cli::console::{Paint, Painted, Screen, count, counted};
use crate::cli::layout::{Cell, Column, Table, paragraph, words};
use crate::report::compare::{Comparison, Counts, Move};
use crate::report::finished::{FateWords, Finished};
use crate::run::Compared;
use crate::text::listed::{MOST_LISTED, unlisted};
use crate::text::short::shortened;

/// Kinds of moves and reasons shown at most.
const MAX_SHOWN: usize = 20;
/// Characters of a setting's value.
const MAX_VALUE_CHARS: usize = 40;
/// Width of the labels of lines.
const LABEL: usize = 10;

/// All sections.
pub(super) fn text(args: &CompareArgs, compared: &Compared, screen: Screen) -> Painted {
    let Compared { before, after, comparison, .. } = compared;
    let sections = [
        settings(comparison, screen),
        inputs(comparison, after, screen),
        entries(comparison, args.examples, screen),
        requests(comparison, before, after, screen),
        funnel(comparison, screen),
        reasons(comparison, screen),
    ];
    let mut text = runs(args, before, after, screen);
    for section in sections {
        text.add(Paint::Plain, "\n");
        text.append(section);
    }
    text
}

fn line(name: &str, text: &str, screen: Screen) -> Painted {
    paragraph(name, LABEL, &words(text), screen)
}

fn runs(args: &CompareArgs, before: &Finished, after: &Finished, screen: Screen) -> Painted {
    let mut table = Table::new([
        Column::text(""),
        Column::text("pipeline"),
        Column::number("requests"),
        Column::number("entries"),
        Column::path("run"),
    ]);
    let mut row = |word: &str, path: &Path, run: &Finished| {
        let name = run.file.pipeline["name"].as_str().unwrap_or_default().to_owned();
        let requests = count(run.requests.len() as u64);
        let entries = count(run.entries.len() as u64);
        table.row([word.to_owned(), name, requests, entries, path.display().to_string()]);
    };
    row("before", &args.before, before);
    row("after", &args.after, after);
    table.fitted(screen)
}

fn settings(comparison: &Comparison, screen: Screen) -> Painted {
    if comparison.settings.is_empty() {
        return line("settings", "the same", screen);
    }
    let value = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        value => shortened(&value.to_string(), MAX_VALUE_CHARS),
    };
    // A stage that only one of them has is listed once, by its kind.
    let is_part_of_new = |key: &str| {
        let Some((id, name)) = key.split_once('.') else { return false };
        name != "kind" && comparison.settings.iter().any(|other| other.key == format!("{id}.kind"))
    };
    let mut table = Table::new([Column::text("setting"), Column::value("before"), Column::value("after")]);
    let shown =
        comparison.settings.iter().filter(|setting| !is_part_of_new(&setting.key) && setting.key != "stages");
    for setting in shown {
        table.row([setting.key.clone(), value(&setting.before), value(&setting.after)]);
    }
    if table.is_empty() {
        return line("settings", "the same, except for the order of stages", screen);
    }
    table.fitted(screen)
}

fn inputs(comparison: &Comparison, after: &Finished, screen: Screen) -> Painted {
    if comparison.inputs.is_empty() {
        return line("inputs", &format!("the same ({})", count(after.file.inputs.len() as u64)), screen);
    }
    let hash = |hash: &Option<String>| {
        hash.as_ref().map_or_else(|| "-".to_owned(), |hash| hash.chars().take(12).collect())
    };
    let (inputs, baselines): (Vec<_>, Vec<_>) =
        comparison.inputs.iter().partition(|file| file.role == "input");
    let mut table = Table::new([Column::path("inputs"), Column::text("before"), Column::text("after")]);
    for input in inputs.iter().take(MOST_LISTED) {
        table.row([input.path.clone(), hash(&input.before), hash(&input.after)]);
    }
    if let Some(more) = unlisted(inputs.len()) {
        table.row([more, String::new(), String::new()]);
    }
    if !baselines.is_empty() {
        // A dataset has many files, and the settings name the dataset.
        let files = |n: usize| if n == 0 { "-".to_owned() } else { counted(n as u64, "file", "files") };
        let before = baselines.iter().filter(|file| file.before.is_some()).count();
        let after = baselines.iter().filter(|file| file.after.is_some()).count();
        table.row(["of the baseline, that differ".to_owned(), files(before), files(after)]);
    }
    table.fitted(screen)
}

fn funnel(comparison: &Comparison, screen: Screen) -> Painted {
    if comparison.funnel.iter().all(|step| step.before == step.after) {
        return line("funnel", "the same", screen);
    }
    let mut table = Table::new([
        Column::text("after the step"),
        Column::number("lists before"),
        Column::number("after"),
        Column::number(""),
        Column::number("requests before"),
        Column::number("after"),
        Column::number(""),
    ]);
    let number = |counts: Option<Counts>, get: fn(Counts) -> u64| -> Cell {
        counts.map_or_else(|| "-".into(), |counts| count(get(counts)).into())
    };
    for step in &comparison.funnel {
        let pair = |get: fn(Counts) -> u64| {
            let change = step.before.zip(step.after).map(|(old, new)| change(get(old), get(new)));
            [number(step.before, get), number(step.after, get), change.unwrap_or_else(|| "".into())]
        };
        let lists = pair(|counts| counts.doc_lists);
        table.row([(&step.step).into()].into_iter().chain(lists).chain(pair(|counts| counts.requests)));
    }
    table.fitted(screen)
}

fn reasons(comparison: &Comparison, screen: Screen) -> Painted {
    if comparison.reasons.is_empty() {
        return line("reasons", "the same numbers", screen);
    }
    // The largest change first; among equals the order of the stages.
    let mut reasons: Vec<_> = comparison.reasons.iter().collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.before.abs_diff(reason.after)));
    let mut table = Table::new([
        Column::text("reason"),
        Column::wrapped("stage"),
        Column::wrapped("what"),
        Column::number("before"),
        Column::number("after"),
        Column::number(""),
    ]);
    for reason in reasons.iter().take(MAX_SHOWN) {
        let what = [reason.action, reason.table].join(" ").trim_end().replace('_', " ");
        let counts = [reason.before, reason.after].map(|n| Cell::from(count(n)));
        let texts = [&reason.reason, &reason.stage, &what].map(Cell::from);
        table.row(texts.into_iter().chain(counts).chain([change(reason.before, reason.after)]));
    }
    let mut text = table.fitted(screen);
    text.add(Paint::Heading, &more(comparison.reasons.len(), "reasons"));
    text
}

fn requests(comparison: &Comparison, before: &Finished, after: &Finished, screen: Screen) -> Painted {
    let requests = &comparison.requests;
    let of = |is: fn(&Move) -> bool| -> u64 {
        requests.moves.iter().filter(|found| is(found)).map(|found| found.rows).sum()
    };
    let only_before = of(|found| found.after.is_absent());
    let only_after = of(|found| found.before.is_absent());
    let another = of(|_| true) - only_before - only_after;
    let fates = format!("{} with the same fate, {} with another", count(requests.same), count(another));
    let mut text = line("requests", &fates, screen);
    for (side, rows) in [("before", only_before), ("after", only_after)] {
        if rows > 0 {
            text.append(line("", &format!("{} in the run {side} only", count(rows)), screen));
        }
    }
    if requests.other_leader > 0 {
        let other = format!("{} merged into another request than before", count(requests.other_leader));
        text.append(line("", &other, screen));
    }
    let mut table =
        Table::new([Column::number("requests"), Column::wrapped("before"), Column::wrapped("after")]);
    for found in requests.moves.iter().take(MAX_SHOWN) {
        table.row([count(found.rows).into(), fate(&found.before), fate(&found.after)]);
    }
    if !table.is_empty() {
        let mut rows = table.rows_fitted(screen);
        rows.next().into_iter().for_each(|header| text.append(header));
        for (row, found) in rows.zip(&requests.moves) {
            text.append(row);
            found.ids.iter().for_each(|id| text.append(line("", id, screen)));
        }
        text.add(Paint::Heading, &more(requests.moves.len(), "kinds of moves"));
    }
    if before.merges == after.merges {
        text.append(line("merged", &format!("{}, in both runs", after.merges_sum()), screen));
    } else {
        text.append(line("merged", &format!("before {}", before.merges_sum()), screen));
        text.append(line("", &format!("after  {}", after.merges_sum()), screen));
    }
    text
}

fn fate(words: &FateWords) -> Cell {
    let reason = words.reason.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default();
    Cell::new(Paint::of_fate(&words.fate), &format!("{}{reason}", words.fate))
}

fn entries(comparison: &Comparison, examples: usize, screen: Screen) -> Painted {
    let entries = &comparison.entries;
    let number = |n: usize, what: &str| format!("{} {what}", count(n as u64));
    let painted = |n: usize, paint, end: &str, what: &str| {
        Cell::new(if n == 0 { Paint::Plain } else { paint }, &(number(n, what) + end))
    };
    let (n_new, n_gone) = (entries.new.len(), entries.gone.len());
    let counts = [
        format!("{} the same,", count(entries.same)).into(),
        (number(entries.changed.len(), "changed") + ",").into(),
        painted(n_new, Paint::Added, ",", "new"),
        painted(n_gone, Paint::Removed, "", "gone"),
    ];
    let mut text = paragraph("entries", LABEL, &counts, screen);
    if entries.renumbered > 0 {
        text.append(line("", &format!("{} of the same have another id", count(entries.renumbered)), screen));
    }
    for part in ["question", "docs", "answer", "category", "set"] {
        let n = entries.changed.iter().filter(|entry| entry.what.contains(&part)).count();
        if n > 0 {
            text.append(line("", &format!("{} with another {part}", count(n as u64)), screen));
        }
    }
    let mut list = |word: &str, paint: Paint, ids: Vec<String>| {
        for id in ids {
            text.add(Paint::Plain, &format!("{:LABEL$}", ""));
            text.add(paint, &format!("{word:8}"));
            text.add(Paint::Plain, &format!("{id}\n"));
        }
    };
    let changed = entries.changed.iter().take(examples).map(|entry| {
        let was = if entry.before == entry.after { String::new() } else { format!(", was {}", entry.before) };
        format!("{} ({}){was}", entry.after, entry.what.join(", "))
    });
    list("changed", Paint::Plain, changed.collect());
    list("new", Paint::Added, entries.new.iter().take(examples).cloned().collect());
    list("gone", Paint::Removed, entries.gone.iter().take(examples).cloned().collect());
    let mut table = Table::new([
        Column::text("set"),
        Column::text("category"),
        Column::number("before"),
        Column::number("after"),
        Column::number(""),
    ]);
    for of in &comparison.categories {
        let cells = [of.set.clone(), of.category.clone(), count(of.before), count(of.after)].map(Cell::from);
        table.row(cells.into_iter().chain([change(of.before, of.after)]));
    }
    if !table.is_empty() {
        text.append(table.fitted(screen));
    }
    text
}

/// The difference with its sign; empty if there is none.
fn change(before: u64, after: u64) -> Cell {
    match before.cmp(&after) {
        std::cmp::Ordering::Less => Cell::new(Paint::Added, &format!("+{}", count(after - before))),
        std::cmp::Ordering::Greater => Cell::new(Paint::Removed, &format!("-{}", count(before - after))),
        std::cmp::Ordering::Equal => "".into(),
    }
}

fn more(n: usize, what: &str) -> String {
    if n > MAX_SHOWN {
        format!("… and {} more {what}: --json\n", count((n - MAX_SHOWN) as u64))
    } else {
        String::new()
    }
}
