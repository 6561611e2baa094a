//! The page of two runs: what differs between them, drawn side by side.
//!
//! It has figures and ids only, no text of the log. Its size depends on the number of reasons and settings, not on the
//! number of rows: of each kind of move a few ids are named, and [`crate::report::compare`] lists all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::Value;

use super::pictures::{MOST_BARS, Removed, flow_of};
use crate::bfcl::category::Category;
use crate::engine::corpus::RowId;
use crate::engine::vocabulary::{Action, TableId};
use crate::page::chart::bars::{Bar, Bars, bars};
use crate::page::chart::histogram::{Histogram, Reference, histogram};
use crate::page::chart::{Figure, Unit, figures};
use crate::page::sections::{contents, fold, section};
use crate::page::table::{self, Column};
use crate::page::{code, document_with_script, number, soft};
use crate::report::compare::{Counts, Difference, InputDifference, Move, SideBySide};
use crate::report::distributions::{Bin, Distributions};
use crate::report::finished::{FateWords, Figures, Finished};
use crate::report::model::SETS;
use crate::report::rebuild::without_folders;
use crate::text::figures::{count, counted};
use crate::text::listed::{MOST_LISTED, unlisted};
use crate::text::short::shortened;

/// Ids of requests that the page names for each kind of move.
pub const EXAMPLES: usize = 3;
/// Kinds of moves on the page.
const MOST_MOVES: usize = 100;
/// Characters of the value of a setting.
const MAX_VALUE_CHARS: usize = 200;
/// Characters of a hash.
const HASH_CHARS: usize = 12;

/// Returns the page; `is_dataset` if the runs export entries of a dataset.
pub fn page(of: &SideBySide<'_>, is_dataset: bool) -> String {
    let title = format!("{} and {}: two runs", of.before.run, of.after.run);
    let mut sections = vec![("setup", "Settings and inputs", setup(of))];
    if is_dataset {
        sections.push(("dataset", "What is in the datasets", dataset(of)));
    }
    sections.push(("rows", "What changed for the requests", moves(of, is_dataset)));
    sections.push(("funnel", "What happened to the requests", funnel(of)));
    sections.push(("reasons", "Reasons", reasons(of)));
    let titles: Vec<(&str, &str)> = sections.iter().map(|(id, title, _)| (*id, *title)).collect();
    let first = html! { (head(of, is_dataset)) (contents(&titles)) };
    let sections = sections.into_iter().map(|(id, title, body)| section(id, title, body));
    document_with_script(&title, std::iter::once(first).chain(sections))
}

/// The runs, with their totals.
fn head(of: &SideBySide<'_>, is_dataset: bool) -> Markup {
    let both = |get: &dyn Fn(&Figures) -> u64| of.sides().map(|side| get(side.figures));
    let mut totals = vec![("requests read", both(&|it| it.requests.rows))];
    if is_dataset {
        totals.push(("scored entries", both(&|it| it.entries_in("scored"))));
        totals.push(("unverified entries", both(&|it| it.entries_in("unverified"))));
    } else {
        totals.push(("requests kept", both(&|it| it.requests.kept)));
    }
    totals.push(("requests held", both(&|it| it.requests.held)));
    totals.push(("requests merged", both(&|it| it.requests.merged)));
    totals.push(("requests dropped", both(&|it| it.requests.dropped)));
    totals.push(("doc lists kept", both(&|it| it.doc_lists.kept)));
    let columns =
        [Column::text("in all"), Column::number("before"), Column::number("after"), Column::number("change")];
    let cells = totals
        .into_iter()
        .map(|(what, [old, new])| vec![html! { (what) }, number(old), number(new), change(old, new)]);
    html! {
        h1 { "Two runs side by side" }
        @for (word, side) in ["Before", "After"].iter().zip(of.sides()) {
            p {
                (word) ": " (code(side.run)) " "
                (soft(format!("pipeline {}, callsieve {}, seed {}", side.pipeline, side.version, side.seed)))
            }
        }
        @if !of.differs { p { "The two runs do not differ." } }
        (table::small(&columns, cells))
        p.soft { "Requests are matched by their content, and entries by the request that each was made from." }
    }
}

/// The difference with its sign; nothing if there is none.
fn change(before: u64, after: u64) -> Markup {
    html! {
        @if after > before { "+" (count(after - before)) }
        @else if after < before { "−" (count(before - after)) }
    }
}

fn setup(of: &SideBySide<'_>) -> Markup {
    let comparison = of.comparison;
    // Of a stage that only one of them has only the kind is listed.
    let new_stages: BTreeSet<&str> =
        comparison.settings.iter().filter_map(|setting| setting.key.strip_suffix(".kind")).collect();
    let is_shown = |setting: &&Difference| {
        let stage = setting.key.split_once('.').map(|(stage, key)| (new_stages.contains(stage), key));
        !matches!(stage, Some((true, key)) if key != "kind")
    };
    let columns = [Column::key("setting"), Column::prose("before"), Column::prose("after")];
    let rows = comparison
        .settings
        .iter()
        .filter(is_shown)
        .map(|setting| vec![code(&setting.key), value(&setting.before), value(&setting.after)]);
    let hash = |hash: &Option<String>| html! { @if let Some(hash) = hash { (code(hash.get(..HASH_CHARS).unwrap_or(hash))) } @else { "none" } };
    let input = |file: &InputDifference| vec![html! { (file.role) }, hash(&file.before), hash(&file.after)];
    let inputs = comparison.inputs.iter().take(MOST_LISTED).map(input);
    let files = [Column::text("file"), Column::text("before, SHA-256"), Column::text("after, SHA-256")];
    html! {
        @if comparison.settings.is_empty() { p { "The settings are the same." } }
        (table::wide(&columns, rows))
        @if comparison.inputs.is_empty() { p { "The inputs are the same." } }
        (table::wide(&files, inputs))
        @if let Some(more) = unlisted(comparison.inputs.len()) { p.soft { (more) "." } }
    }
}

/// The value of a setting; of absolute paths only the last part.
fn value(value: &Value) -> Markup {
    match value {
        Value::Null => html! { (soft("not set")) },
        value => code(&shortened(&without_paths(value).to_string(), MAX_VALUE_CHARS)),
    }
}

pub(crate) fn without_paths(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_folders(text)),
        Value::Array(items) => items.iter().map(without_paths).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), without_paths(member))).collect()
        }
        other => other.clone(),
    }
}

/// Two counts of each name.
type Pairs<'p> = Vec<(&'p str, [u64; 2])>;

/// Bars of counts before and after, in the order of the pairs; nothing if there are none.
fn pairs_of(
    (id, title, description): (&str, &str, &str),
    (labels_name, values_name): (&str, &str),
    pairs: &Pairs<'_>,
) -> Option<Markup> {
    // What is left out is in the tables of the page.
    let shown = pairs.iter().take(MOST_BARS);
    #[allow(clippy::cast_precision_loss)] // Counts of rows are far below 2^52.
    let all: Vec<Bar<'_>> = shown
        .map(|&(label, [before, after])| Bar {
            label,
            value: before as f64,
            second: Some(after as f64),
            link: None,
        })
        .collect();
    let before = format!("{values_name} before");
    let chart =
        Bars { labels_name, values_name: &before, second_name: Some("after"), unit: Unit::Count, bars: &all };
    (!all.is_empty()).then(|| bars(&Figure { id, title, description }, &chart))
}

/// The counts of names that either side has, those that differ most first.
fn by_change<'p>(sides: [impl Iterator<Item = (&'p str, u64)>; 2]) -> Pairs<'p> {
    let mut all: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (at, side) in sides.into_iter().enumerate() {
        for (name, n) in side {
            all.entry(name).or_default()[at] += n;
        }
    }
    let mut all: Pairs<'p> = all.into_iter().filter(|(_, counts)| *counts != [0, 0]).collect();
    all.sort_by_key(|(_, [before, after])| (Reverse(before.abs_diff(*after)), Reverse(*before.max(after))));
    all
}

fn dataset(of: &SideBySide<'_>) -> Markup {
    let named = |map: fn(&Figures) -> &BTreeMap<String, u64>| {
        by_change(of.sides().map(|side| map(side.figures).iter().map(|(name, n)| (name.as_str(), *n))))
    };
    let mut drawn = Vec::new();
    for (set, _) in SETS {
        let of_category = |category: &Category| {
            let name = category.name();
            (name, of.sides().map(|side| side.figures.entries_of(set, name)))
        };
        let pairs: Pairs<'_> = Category::ALL.iter().map(of_category).filter(|(_, n)| *n != [0, 0]).collect();
        let title = if set == "scored" { "Scored entries" } else { "Unverified entries" };
        drawn.extend(pairs_of((set, &format!("{title} by category"), ""), ("category", "entries"), &pairs));
    }
    let held = by_change(of.sides().map(|side| side.held.iter().map(|(name, n)| (name.as_str(), *n))));
    let about = "The category that the functions and the recorded calls lead to.";
    drawn.extend(pairs_of(("held", "Held requests by category", about), ("category", "requests"), &held));
    drawn.extend(pairs_of(
        ("tiers", "Entries by tier", ""),
        ("tier", "entries"),
        &named(|it| &it.entries.tier),
    ));
    drawn.extend(pairs_of(
        ("languages", "Entries by language", ""),
        ("language", "entries"),
        &named(|it| &it.entries.language),
    ));
    drawn.extend(sizes(of));
    html! { (figures(drawn)) (entries(of)) }
}

/// How large the things of both datasets are.
fn sizes(of: &SideBySide<'_>) -> Vec<Markup> {
    type Get = for<'d> fn(&'d Distributions) -> &'d [Bin];
    let all: [(&str, &str, &str, Get); 3] = [
        ("functions", "Functions of an entry", "functions", |it| &it.functions_of_entries),
        ("parameters", "Parameters of a function", "parameters", |it| &it.parameters_of_functions),
        ("words", "Words of a query", "words", |it| &it.words_of_queries),
    ];
    let drawn = all.into_iter().filter_map(|(id, title, bins_name, get)| {
        let [before, after] = of.sides().map(|side| get(&side.figures.distributions));
        // The bins of both begin alike, and one may have more.
        let longer = if before.len() > after.len() { before } else { after };
        let count_at = |bins: &[Bin], at: usize| bins.get(at).map_or(0, |bin| bin.count);
        let bins: Vec<(&str, u64)> =
            longer.iter().enumerate().map(|(at, bin)| (bin.label.as_str(), count_at(before, at))).collect();
        let counts: Vec<u64> = (0..longer.len()).map(|at| count_at(after, at)).collect();
        let reference = Some(Reference { name: "after", counts: &counts });
        let chart = Histogram { things: "before", bins_name, bins: &bins, reference };
        let figure = Figure { id, title, description: "Shares of each dataset." };
        (!bins.is_empty()).then(|| histogram(&figure, &chart))
    });
    drawn.collect()
}

/// Which entries are the same.
fn entries(of: &SideBySide<'_>) -> Markup {
    let entries = &of.comparison.entries;
    let with = |part: &str| entries.changed.iter().filter(|entry| entry.what.contains(&part)).count() as u64;
    let parts = ["question", "docs", "answer", "category", "set"].map(|part| (part, with(part)));
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(part, n)| format!("{} with another {part}", count(*n)))
        .collect();
    html! {
        p {
            (counted(entries.same, "entry is", "entries are")) " the same in both, "
            (count(entries.changed.len() as u64)) " differ"
            @if !parts.is_empty() { " (" (parts.join(", ")) ")" }
            ", " (count(entries.gone.len() as u64)) " only in the first, "
            (count(entries.new.len() as u64)) " only in the second."
            @if entries.renumbered > 0 {
                " " (count(entries.renumbered)) " of the same have another id."
            }
        }
    }
}

/// The fate of a request, in words.
fn fate(words: &FateWords) -> String {
    match &words.reason {
        Some(reason) => format!("{}: {reason}", words.fate),
        None => words.fate.clone(),
    }
}

/// Requests whose fates differ.
fn moves(of: &SideBySide<'_>, is_dataset: bool) -> Markup {
    let requests = &of.comparison.requests;
    let all = &requests.moves;
    let sum = |is: &dyn Fn(&Move) -> bool| all.iter().filter(|it| is(it)).map(|it| it.rows).sum::<u64>();
    let only_before = sum(&|it| it.after.is_absent());
    let only_after = sum(&|it| it.before.is_absent());
    let others = sum(&|_| true) - only_before - only_after;
    let is_kept = |words: &FateWords| matches!(words.fate.as_str(), "exported" | "kept");
    let kept = if is_dataset { "in the dataset" } else { "kept" };
    let gone = named_moves(all.iter().filter(|it| is_kept(&it.before)), |it| &it.after);
    let new = named_moves(all.iter().filter(|it| is_kept(&it.after)), |it| &it.before);
    let drawn = [
        ("gone", format!("Only {kept} before, by what happened to them after"), gone),
        ("new", format!("Only {kept} after, by what happened to them before"), new),
    ];
    let drawn: Vec<Markup> =
        drawn.iter().filter_map(|(id, title, counts)| one_of(id, title, counts)).collect();
    let columns = [
        Column::number("requests"),
        Column::phrase("before"),
        Column::phrase("after"),
        Column::prose("some of them"),
    ];
    let rows = all.iter().take(MOST_MOVES).map(|it| {
        // The history of a request that one run does not have is in the other.
        let run = if it.after.is_absent() { of.before.run } else { of.after.run };
        let ids = it.ids.iter().take(EXAMPLES);
        vec![
            number(it.rows),
            said(&it.before),
            said(&it.after),
            html! {
                @for id in ids { code.why { "callsieve why " (run) " " (RowId::short(id)) } " " }
            },
        ]
    });
    html! {
        p {
            (counted(requests.same, "request has", "requests have")) " the same fate in both, "
            (count(others)) " another."
            @if only_before > 0 { " " (count(only_before)) " are in the first run only." }
            @if only_after > 0 { " " (count(only_after)) " are in the second run only." }
            @if requests.other_leader > 0 {
                " Of the same fate, " (count(requests.other_leader)) " are merged into another request."
            }
        }
        @if !drawn.is_empty() { (figures(drawn)) }
        @if !all.is_empty() {
            (fold("Every change of a fate, with some requests", table::filtered(&[], &columns, rows)))
        }
        @if all.len() > MOST_MOVES {
            p.soft { "And " (count((all.len() - MOST_MOVES) as u64)) " other kinds of changes; --json lists all." }
        }
    }
}

/// A fate with its stage.
fn said(words: &FateWords) -> Markup {
    html! {
        (words.fate)
        @if let Some(reason) = &words.reason { ": " (code(reason)) }
        @if let Some(stage) = &words.stage { br; (soft(stage)) }
    }
}

/// The rows of moves by one of their ends, most first.
fn named_moves<'m>(
    moves: impl Iterator<Item = &'m Move>,
    end: fn(&Move) -> &FateWords,
) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    moves.for_each(|it| *counts.entry(fate(end(it))).or_default() += it.rows);
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    counts
}

/// Bars of one count each.
fn one_of(id: &str, title: &str, counts: &[(String, u64)]) -> Option<Markup> {
    let shown = counts.iter().take(MOST_BARS);
    #[allow(clippy::cast_precision_loss)] // Counts of rows are far below 2^52.
    let all: Vec<Bar<'_>> =
        shown.map(|(label, n)| Bar { label, value: *n as f64, second: None, link: None }).collect();
    let chart = Bars {
        labels_name: "fate",
        values_name: "requests",
        second_name: None,
        unit: Unit::Count,
        bars: &all,
    };
    (!all.is_empty()).then(|| bars(&Figure { id, title, description: "" }, &chart))
}

/// The flows of both runs, and the counts after each step.
fn funnel(of: &SideBySide<'_>) -> Markup {
    let flow = |word: &str, id: &str, run: &Finished| {
        let title = format!("{word}: from requests read to requests kept");
        let removed: Vec<Removed<'_>> = removed(run).collect();
        let figure = Figure { id, title: &title, description: "Only steps that remove requests are drawn." };
        flow_of(&figure, "requests", &run.funnel, &removed, None)
    };
    let [before, after] = of.runs;
    let flows: Vec<Markup> = [flow("Before", "flow-before", before), flow("After", "flow-after", after)]
        .into_iter()
        .flatten()
        .collect();
    let columns = [
        Column::key("after the step"),
        Column::number("requests before"),
        Column::number("after"),
        Column::number("change"),
        Column::number("doc lists before"),
        Column::number("after"),
        Column::number("change"),
    ];
    let cells = of.comparison.funnel.iter().map(|step| {
        let pair = |get: fn(Counts) -> u64| {
            let shown = |counts: Option<Counts>| html! { @if let Some(counts) = counts { (count(get(counts))) } @else { "–" } };
            let change = step.before.zip(step.after).map(|(old, new)| change(get(old), get(new)));
            [shown(step.before), shown(step.after), change.unwrap_or_default()]
        };
        let mut cells = vec![code(&step.step)];
        cells.extend(pair(|counts| counts.requests));
        cells.extend(pair(|counts| counts.doc_lists));
        cells
    });
    html! {
        @if !flows.is_empty() { (figures(flows)) }
        (fold("All steps", table::wide(&columns, cells)))
    }
}

/// The requests that the stages of a run remove, by stage and reason.
fn removed(run: &Finished) -> impl Iterator<Item = Removed<'_>> {
    run.stages.iter().flat_map(|stage| {
        let of_requests = stage.fates.iter().filter(|fate| fate.table == TableId::Requests);
        of_requests.map(|fate| Removed {
            step: &stage.id,
            action: fate.action,
            reason: &fate.reason,
            rows: fate.rows,
        })
    })
}

/// Why requests were removed, in both runs.
fn reasons(of: &SideBySide<'_>) -> Markup {
    let mut drawn = Vec::new();
    for (action, id, title) in [
        (Action::Hold, "why-held", "Held requests by reason"),
        (Action::Drop, "why-dropped", "Dropped requests by reason"),
        (Action::Merge, "why-merged", "Merged requests by reason"),
    ] {
        let counts = of
            .runs
            .map(|run| removed(run).filter(move |it| it.action == action).map(|it| (it.reason, it.rows)));
        let about = "Those that differ most first.";
        drawn.extend(pairs_of((id, title, about), ("reason", "requests"), &by_change(counts)));
    }
    let mut differing: Vec<_> = of.comparison.reasons.iter().collect();
    differing.sort_by_key(|it| Reverse(it.before.abs_diff(it.after)));
    let columns = [
        Column::key("reason"),
        Column::text("stage"),
        Column::text("action"),
        Column::text("rows of"),
        Column::number("before"),
        Column::number("after"),
        Column::number("change"),
    ];
    let rows = differing.iter().map(|it| {
        vec![
            code(&it.reason),
            html! { (it.stage) },
            html! { (it.action) },
            html! { (it.table.replace('_', " ")) },
            number(it.before),
            number(it.after),
            change(it.before, it.after),
        ]
    });
    html! {
        @if !drawn.is_empty() { (figures(drawn)) }
        @if differing.is_empty() {
            p { "Every reason has the same number of rows in both." }
        } @else {
            (fold(
                &format!("{} with another number of rows", counted(differing.len() as u64, "reason", "reasons")),
                table::filtered(&["stage", "action"], &columns, rows),
            ))
        }
    }
}
