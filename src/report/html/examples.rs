//! The examples of a page: for each reason some rows, side by side with what they are compared with.

use maud::{Markup, html};

use crate::engine::corpus::RowId;
use crate::engine::vocabulary::Action;
use crate::page::sections::fold;
use crate::page::table::{self, Column};
use crate::page::{code, soft};
use crate::report::examples::{Marked, Shown};
use crate::report::model::{EditReport, FateReport, rows_of};
use crate::text::figures::{count, counted};

/// The examples of fates of one action, folded by reason.
pub(super) fn of_fates<'r>(fates: impl Iterator<Item = &'r FateReport>, run: &str) -> Markup {
    let folded = fates.map(|fate| {
        let headings = match fate.action.as_str() {
            action if action == Action::Merge.name() => ["merged row", "row that represents it"],
            action if action == Action::Hold.name() => ["row", "what the stage saw"],
            _ => ["row", "evidence"],
        };
        let all = rows_of(fate.rows, &fate.table);
        of_reason(&fate.reason, &all, headings, &fate.examples, run)
    });
    group(folded.collect())
}

/// The examples of edits, folded by reason.
pub(super) fn of_edits(edits: &[EditReport], run: &str) -> Markup {
    let folded = edits.iter().map(|edit| {
        let all = counted(edit.edits, "edit", "edits");
        of_reason(&edit.reason, &all, ["before", "after"], &edit.examples, run)
    });
    group(folded.collect())
}

fn group(folded: Vec<Markup>) -> Markup {
    let n = folded.iter().filter(|markup| !markup.0.is_empty()).count();
    html! {
        @if n > 0 {
            (fold(&format!("Examples of {}, drawn at random", counted(n as u64, "reason", "reasons")), html! {
                div.examples { @for reason in folded { (reason) } }
            }))
        }
    }
}

fn of_reason(reason: &str, all: &str, headings: [&'static str; 2], examples: &[Shown], run: &str) -> Markup {
    if examples.is_empty() {
        return Markup::default();
    }
    let [here, beside] = headings;
    let columns = [Column::prose(here), Column::prose(beside)];
    let summary = format!("{reason}: {} of {all}", count(examples.len() as u64));
    fold(&summary, table::wide(&columns, examples.iter().map(|example| cells(example, run))))
}

fn cells(example: &Shown, run: &str) -> Vec<Markup> {
    let Shown { row_id, score, here, beside, name, evidence } = example;
    vec![
        html! {
            @if !here.is_empty() { (marked(here, false)) br; }
            code.why { "callsieve why " (run) " " (RowId::short(row_id)) }
        },
        html! {
            @if !beside.is_empty() { (marked(beside, true)) br; }
            @if let Some(evidence) = evidence { span.quote { (evidence) } br; }
            @if let Some(name) = name { (code(short(name))) " " }
            @if let Some((metric, score)) = score { (soft(format!("{metric} {score:.3}"))) }
        },
    ]
}

/// The start of an id of a row, and other names as they are.
fn short(name: &str) -> &str {
    if RowId::number(name).is_some() { RowId::short(name) } else { name }
}

fn marked(pieces: &Marked, is_new: bool) -> Markup {
    html! {
        span.quote {
            @for piece in pieces {
                @if !piece.is_different { (piece.text) }
                @else if is_new { ins { (piece.text) } }
                @else { del { (piece.text) } }
            }
        }
    }
}
