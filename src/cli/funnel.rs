//! The figures of a finished run on the screen: the funnel, the entries by category, what happened to lines and requests.
//!
//! The funnel fits 80 columns. Steps that removed no row are folded into one line below it; `report.json`, the card and
//! the page list them all. A wide screen also shows what each step did.

use super::console::{Paint, Painted, Screen};
use super::layout::{Cell, Column, Table, paragraph, words};
use crate::bfcl::category::Category;
use crate::report::asked::sentence;
use crate::report::funnel::{EXPORT, FunnelRow};
use crate::report::model::{Report, Sum};
use crate::text::figures::{count, counted, percent};

/// Width of the labels of the lines below the tables.
const LABEL: usize = 10;
/// Screens from this width on show what each step did.
const WIDE: usize = 110;

/// The summary of a run.
pub(super) fn summary(report: &Report, screen: Screen) -> Painted {
    let mut text = Painted::new("\n");
    text.append(funnel(report, screen));
    text.append(folded(report, screen));
    if !report.exported.is_empty() || !report.frozen.is_empty() {
        text.add(Paint::Plain, "\n");
        text.append(entries(report, screen));
    }
    text.add(Paint::Plain, "\n");
    text.append(sum("lines", &report.lines_sum(), screen));
    text.append(sum("requests", &report.requests_sum(), screen));
    if let Some(merged) = report.merged_sum() {
        text.append(sum("merged", &merged, screen));
    }
    let ignored = report.decisions_not_applied();
    if !ignored.is_empty() {
        let kinds: Vec<String> = ignored.iter().map(|(kind, n)| format!("{} {kind}", count(*n))).collect();
        let line = format!("{} not applied; see report.json for line and reason", kinds.join(", "));
        text.append(paragraph("decisions", LABEL, &words(&line), screen));
    }
    for warning in report.dominance() {
        text.append(paragraph("warning", LABEL, &words(&warning), screen));
    }
    if report.keeps_names() {
        let line =
            "names of people stay, as none were looked for; docs/redaction.md, “Names and street addresses”";
        text.append(paragraph("personal", LABEL, &words(line), screen));
    }
    for (stage, usage) in &report.language_models {
        text.append(paragraph("model", LABEL, &words(&sentence(stage, usage)), screen));
    }
    let frozen = report.all_frozen();
    if frozen > 0 {
        let all = report.all_entries();
        let parts = vec![(all - frozen, "exported"), (frozen, "frozen, unchanged from the baseline")];
        text.append(sum("entries", &Sum { whole: all, parts }, screen));
    }
    text
}

/// Whether a row of the funnel is shown: the first, the last, those with other counts than the row before, and those of
/// steps that could not compare with all of their public sets, as their descriptions show it.
fn is_shown(report: &Report, at: usize) -> bool {
    let rows = &report.funnel;
    let counts = |row: &FunnelRow| (row.doc_lists, row.requests);
    let lacks_a_set =
        || report.public_sets.iter().any(|set| set.stage == rows[at].step && !set.checked && !set.built_in);
    at == 0 || rows[at].step == EXPORT || counts(&rows[at]) != counts(&rows[at - 1]) || lacks_a_set()
}

fn funnel(report: &Report, screen: Screen) -> Painted {
    let is_wide = screen.width >= WIDE;
    let mut columns = vec![
        Column::text("step"),
        Column::wrapped("after this step"),
        Column::number("doc lists"),
        Column::number("requests"),
        Column::number("share"),
    ];
    columns.extend(is_wide.then(|| Column::wrapped("what the step did")));
    let mut table = Table::new(columns);
    for (_, row) in report.funnel.iter().enumerate().filter(|(at, _)| is_shown(report, *at)) {
        let mut cells: Vec<Cell> = [
            row.step.clone(),
            row.description.clone(),
            count(row.doc_lists),
            count(row.requests),
            percent(row.percent),
        ]
        .map(Cell::from)
        .into();
        cells.extend(is_wide.then(|| report.actions_of(&row.step).into()));
        table.row(cells);
    }
    table.fitted(screen)
}

/// One line for the steps that removed no row, with the number of their edits.
fn folded(report: &Report, screen: Screen) -> Painted {
    let steps: Vec<&str> = report
        .funnel
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_shown(report, *at))
        .map(|(_, row)| row.step.as_str())
        .collect();
    if steps.is_empty() {
        return Painted::default();
    }
    let with_edits = |step: &&str| {
        let of_step = report.stages.iter().filter(|stage| stage.id == *step);
        let n_edits: u64 = of_step.flat_map(|stage| stage.edits.values()).sum();
        if n_edits == 0 {
            (*step).to_owned()
        } else {
            format!("{step} ({})", counted(n_edits, "edit", "edits"))
        }
    };
    let mut pieces = words(&format!("{} removed no row:", counted(steps.len() as u64, "step", "steps")));
    let last = steps.len() - 1;
    let piece = |(at, step): (usize, &&str)| with_edits(step) + if at < last { "," } else { "" };
    pieces.extend(steps.iter().enumerate().map(piece).map(Cell::from));
    paragraph("", 0, &pieces, screen)
}

/// Entries by category: the scored ones, those whose answer or label is unverified, and how many of both are
/// frozen.
fn entries(report: &Report, screen: Screen) -> Painted {
    let mut columns = vec![Column::text("category"), Column::number("scored"), Column::number("unverified")];
    columns.extend((!report.frozen.is_empty()).then(|| Column::number("of these frozen")));
    let n_columns = columns.len();
    let mut table = Table::new(columns);
    for name in Category::ALL.iter().map(|category| category.name()) {
        let of = |set: &str| report.entries(set, Some(name));
        let entries = [of("scored"), of("unverified"), report.frozen(name)];
        if entries.iter().sum::<u64>() > 0 {
            table.row([name.to_owned()].into_iter().chain(entries.map(count)).take(n_columns));
        }
    }
    table.fitted(screen)
}

/// A whole and its parts, each in the colour of what happened to it.
fn sum(name: &str, sum: &Sum, screen: Screen) -> Painted {
    let mut pieces: Vec<Cell> = vec![count(sum.whole).into()];
    for (nth, (n, what)) in sum.parts.iter().enumerate() {
        pieces.push(if nth == 0 { "=" } else { "+" }.into());
        let paint = if *n == 0 { Paint::Plain } else { Paint::of_fate(what) };
        pieces.push(Cell::new(paint, &format!("{} {what}", count(*n))));
    }
    paragraph(name, LABEL, &pieces, screen)
}
