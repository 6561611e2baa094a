//! `toolsieve compare`: what differs between two finished runs, and why.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Ending;
use crate::cli::console::{self, count, table};
use crate::report::compare::{Comparison, Left, Move};
use crate::report::finished::{FateWords, Finished};
use crate::run::{self, Compared};
use crate::text::short::shortened;

/// Moves and reasons shown where all would be too many.
const MAX_SHOWN: usize = 20;
/// Characters of a setting's value.
const MAX_VALUE_CHARS: usize = 40;

/// Arguments of `compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  toolsieve compare out/live out/tweak                    what a changed setting changed
  toolsieve compare out/march out/april --examples 3      with some request ids; `toolsieve why` tells their story
  toolsieve compare out/a out/b --json | jq .entries      everything, as one JSON object
  toolsieve compare out/a out/b --exit-code               exit 1 where they differ")]
pub(super) struct CompareArgs {
    /// Run folder of the first run.
    before: PathBuf,

    /// Run folder of the second run.
    after: PathBuf,

    /// Ids shown for each kind of difference.
    #[arg(long, value_name = "N", default_value_t = 0)]
    examples: usize,

    /// Everything, with all ids, as one JSON object.
    #[arg(long)]
    json: bool,

    /// Exits with 1 where the runs differ.
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn compare(args: &CompareArgs) -> anyhow::Result<Ending> {
    let max_ids = if args.json { usize::MAX } else { args.examples };
    let Compared { before, after, comparison, .. } = run::compare(&args.before, &args.after, max_ids)?;
    let printed = if args.json {
        let mut all = json!({"before": args.before, "after": args.after, "differs": comparison.differs()});
        if let (Some(all), Value::Object(found)) = (all.as_object_mut(), serde_json::to_value(&comparison)?) {
            all.extend(found);
        }
        console::give_json(&format!("{all}\n"))
    } else {
        let mut text = heads(args, &before, &after);
        let parts = [
            settings(&comparison),
            inputs(&comparison, &after),
            entries(&comparison, args.examples),
            requests(&comparison) + &merges(&before, &after),
            funnel(&comparison),
            reasons(&comparison),
        ];
        text += &parts.map(|part| format!("\n{part}")).concat();
        console::print_data(&text)
    };
    let ending = if args.exit_code && comparison.differs() { Ending::GateFailed } else { Ending::Done };
    Ok(ending.after(printed)?)
}

fn heads(args: &CompareArgs, before: &Finished, after: &Finished) -> String {
    let head = |word: &str, path: &Path, run: &Finished| {
        let name = run.file.pipeline["name"].as_str().unwrap_or_default().to_owned();
        let requests = count(run.requests.len() as u64);
        let entries = count(run.entries.len() as u64);
        vec![word.to_owned(), name, requests, entries, path.display().to_string()]
    };
    let rows = [head("before", &args.before, before), head("after", &args.after, after)];
    table(&["", "pipeline", "requests", "entries", "run"], &rows, &[2, 3])
}

fn settings(comparison: &Comparison) -> String {
    if comparison.settings.is_empty() {
        return "settings  the same\n".to_owned();
    }
    let value = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        value => shortened(&value.to_string(), MAX_VALUE_CHARS),
    };
    // A stage that only one of them has is told once, by its kind.
    let is_part_of_new = |key: &str| {
        let Some((id, name)) = key.split_once('.') else { return false };
        name != "kind" && comparison.settings.iter().any(|other| other.key == format!("{id}.kind"))
    };
    let rows: Vec<Vec<String>> = comparison
        .settings
        .iter()
        .filter(|setting| !is_part_of_new(&setting.key) && setting.key != "stages")
        .map(|setting| vec![setting.key.clone(), value(&setting.before), value(&setting.after)])
        .collect();
    if rows.is_empty() {
        return "settings  the same, but for the order of stages\n".to_owned();
    }
    table(&["setting", "before", "after"], &rows, &[])
}

fn inputs(comparison: &Comparison, after: &Finished) -> String {
    if comparison.inputs.is_empty() {
        return format!("inputs    the same ({})\n", after.file.inputs.len());
    }
    let hash = |hash: &Option<String>| {
        hash.as_ref().map_or_else(|| "-".to_owned(), |hash| hash.chars().take(12).collect())
    };
    let (inputs, baselines): (Vec<_>, Vec<_>) =
        comparison.inputs.iter().partition(|file| file.role == "input");
    let mut rows: Vec<Vec<String>> = inputs
        .iter()
        .map(|input| vec![input.path.clone(), hash(&input.before), hash(&input.after)])
        .collect();
    if !baselines.is_empty() {
        // A dataset has many files, and the settings say which dataset it is.
        let files = |n: usize| if n == 0 { "-".to_owned() } else { format!("{} files", count(n as u64)) };
        let before = baselines.iter().filter(|file| file.before.is_some()).count();
        let after = baselines.iter().filter(|file| file.after.is_some()).count();
        rows.push(vec!["of the baseline, that differ".to_owned(), files(before), files(after)]);
    }
    table(&["inputs", "before", "after"], &rows, &[])
}

fn funnel(comparison: &Comparison) -> String {
    if comparison.funnel.iter().all(|step| step.before == step.after) {
        return "funnel    the same\n".to_owned();
    }
    let number = |left: Option<Left>, get: fn(Left) -> u64| {
        left.map_or_else(|| "-".to_owned(), |left| count(get(left)))
    };
    let rows: Vec<Vec<String>> = comparison
        .funnel
        .iter()
        .map(|step| {
            let pair = |get: fn(Left) -> u64| {
                let change = step.before.zip(step.after).map(|(old, new)| change(get(old), get(new)));
                [number(step.before, get), number(step.after, get), change.unwrap_or_default()]
            };
            let lists = pair(|left| left.doc_lists);
            [step.step.clone()].into_iter().chain(lists).chain(pair(|left| left.requests)).collect()
        })
        .collect();
    let header = ["left after", "lists before", "after", "", "requests before", "after", ""];
    table(&header, &rows, &[1, 2, 3, 4, 5, 6])
}

fn reasons(comparison: &Comparison) -> String {
    if comparison.reasons.is_empty() {
        return "reasons   named as often\n".to_owned();
    }
    // The largest change first; among equals the order of the stages.
    let mut reasons: Vec<_> = comparison.reasons.iter().collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.before.abs_diff(reason.after)));
    let rows: Vec<Vec<String>> = reasons
        .iter()
        .take(MAX_SHOWN)
        .map(|reason| {
            let what = [reason.action, reason.table].join(" ").trim_end().replace('_', " ");
            let (before, after) = (count(reason.before), count(reason.after));
            let change = change(reason.before, reason.after);
            vec![reason.stage.clone(), reason.reason.clone(), what, before, after, change]
        })
        .collect();
    table(&["stage", "reason", "what", "before", "after", ""], &rows, &[3, 4, 5])
        + &more(comparison.reasons.len(), "reasons")
}

fn requests(comparison: &Comparison) -> String {
    let requests = &comparison.requests;
    let of = |is: fn(&Move) -> bool| -> u64 {
        requests.moves.iter().filter(|found| is(found)).map(|found| found.rows).sum()
    };
    let only_before = of(|found| found.after.is_absent());
    let only_after = of(|found| found.before.is_absent());
    let another = of(|_| true) - only_before - only_after;
    let mut text =
        format!("requests  {} met the same fate, {} another\n", count(requests.same), count(another));
    for (side, rows) in [("before", only_before), ("after", only_after)] {
        if rows > 0 {
            text += &format!("          {} are in the run {side} only\n", count(rows));
        }
    }
    if requests.other_leader > 0 {
        text += &format!(
            "          {} were merged into another request than before\n",
            count(requests.other_leader)
        );
    }
    let rows: Vec<Vec<String>> = requests
        .moves
        .iter()
        .take(MAX_SHOWN)
        .map(|found| vec![count(found.rows), fate(&found.before), fate(&found.after)])
        .collect();
    if rows.is_empty() {
        return text;
    }
    let shown = table(&["requests", "before", "after"], &rows, &[0]);
    let mut lines = shown.lines();
    text += &lines.next().map(|header| format!("{header}\n")).unwrap_or_default();
    for (line, found) in lines.zip(&requests.moves) {
        text += &format!("{line}\n");
        text += &found.ids.iter().map(|id| format!("          {id}\n")).collect::<String>();
    }
    text + &more(requests.moves.len(), "kinds of moves")
}

/// Where merged requests ended: one that went into a held or dropped one is in no dataset.
fn merges(before: &Finished, after: &Finished) -> String {
    if before.merges == after.merges {
        return format!("merged    in both {}\n", after.merges_sum());
    }
    format!("merged    before {}\n          after  {}\n", before.merges_sum(), after.merges_sum())
}

fn fate(words: &FateWords) -> String {
    words.reason.as_ref().map_or_else(|| words.fate.clone(), |reason| format!("{} {reason}", words.fate))
}

fn entries(comparison: &Comparison, examples: usize) -> String {
    let entries = &comparison.entries;
    let number = |n: usize| count(n as u64);
    let mut text = format!(
        "entries   {} the same, {} changed, {} new, {} gone\n",
        count(entries.same),
        number(entries.changed.len()),
        number(entries.new.len()),
        number(entries.gone.len())
    );
    if entries.renumbered > 0 {
        text += &format!("          {} of the same have another id\n", count(entries.renumbered));
    }
    for part in ["question", "docs", "answer", "category", "set"] {
        let n = entries.changed.iter().filter(|entry| entry.what.contains(&part)).count();
        if n > 0 {
            text += &format!("          {} with another {part}\n", number(n));
        }
    }
    let list = |word: &str, ids: Vec<String>| -> String {
        ids.into_iter().map(|id| format!("          {word:8}{id}\n")).collect()
    };
    let changed = entries.changed.iter().take(examples).map(|entry| {
        let was = if entry.before == entry.after { String::new() } else { format!(", was {}", entry.before) };
        format!("{} ({}){was}", entry.after, entry.what.join(", "))
    });
    text += &list("changed", changed.collect());
    text += &list("new", entries.new.iter().take(examples).cloned().collect());
    text += &list("gone", entries.gone.iter().take(examples).cloned().collect());
    let rows: Vec<Vec<String>> = comparison
        .categories
        .iter()
        .map(|of| {
            let change = change(of.before, of.after);
            vec![of.set.clone(), of.category.clone(), count(of.before), count(of.after), change]
        })
        .collect();
    if rows.is_empty() {
        text
    } else {
        text + &table(&["set", "category", "before", "after", ""], &rows, &[2, 3, 4])
    }
}

/// How many more, with a sign; nothing where it is the same.
fn change(before: u64, after: u64) -> String {
    match before.cmp(&after) {
        std::cmp::Ordering::Less => format!("+{}", count(after - before)),
        std::cmp::Ordering::Greater => format!("-{}", count(before - after)),
        std::cmp::Ordering::Equal => String::new(),
    }
}

fn more(n: usize, what: &str) -> String {
    if n > MAX_SHOWN { format!("… and {} more {what}: --json\n", n - MAX_SHOWN) } else { String::new() }
}
