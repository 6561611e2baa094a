//! What a reader can do next with a run: which decisions release how many rows, each with its command.

use maud::{Markup, html};

use crate::decisions::{OF_AN_ENTRY, possible_decisions};
use crate::engine::vocabulary::{Action, TableId};
use crate::page::table::{self, Column};
use crate::page::{code, number};
use crate::report::model::{FateReport, Report};

/// The most reasons that are listed; `held` lists all.
const MOST: usize = 8;

/// Returns the list; `run` is what commands call the folder.
pub(super) fn next(report: &Report, run: &str) -> Markup {
    let is_held = |fate: &&FateReport| fate.action == Action::Hold.name() && !fate.cascaded;
    let mut held: Vec<&FateReport> = report.fates.iter().filter(is_held).collect();
    held.sort_by(|one, other| other.rows.cmp(&one.rows).then(one.reason.cmp(&other.reason)));
    let unverified = report.entries("unverified", None);
    if held.is_empty() && unverified == 0 {
        return html! { p { "Nothing waits for a decision." } };
    }
    let columns =
        [Column::number("rows"), Column::prose("waits because of"), Column::prose("a decision can")];
    let decide = |decisions: &[&str], more: &str| {
        html! { (decisions.join(", ")) br; code.why { "callsieve held " (run) " " (more) } }
    };
    let entries = (unverified > 0).then(|| {
        vec![
            number(unverified),
            html! { "entries that nobody verified" },
            decide(OF_AN_ENTRY, "--unverified"),
        ]
    });
    let reasons = held.iter().take(MOST).map(|fate| {
        let table =
            if fate.table == TableId::DocLists.name() { TableId::DocLists } else { TableId::Requests };
        vec![
            number(fate.rows),
            html! { (code(&fate.reason)) br; (fate.description) },
            decide(possible_decisions(table, &fate.reason, true), &format!("--reason {}", fate.reason)),
        ]
    });
    html! {
        p { "A decision of a person moves a row from held to the dataset or out of it, and an accepted answer makes an entry scored. A local page shows these rows one by one and writes the decisions down:" }
        p { code.why { "callsieve review " (run) } }
        (table::wide(&columns, entries.into_iter().chain(reasons)))
        @if held.len() > MOST {
            p.soft { "Further reasons: " (held.len() - MOST) ". The command without a reason lists all." }
        }
    }
}
