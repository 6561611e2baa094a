//! The sections of the page of an instruction set: strata with an example each, rejected candidates, how calls were executed.

use std::path::Path;

use maud::{Markup, html};

use super::figures::{Figures, Yield, conditions_in_words, figures, yields};
use super::pictures::pictures;
use super::solutions::Solutions;
use super::{Coverage, conditions, coverage};
use crate::engine::error::Result;
use crate::instruct::meaning_of;
use crate::page::table::{self, Column};
use crate::page::{code, number, soft};
use crate::report::html::{OwnSections, lines_by_reason};
use crate::report::model::Report;
use crate::text::figures::count;
use callsieve_programs::stratum::Counts;

/// Returns the sections.
///
/// # Errors
/// A file of the run cannot be read.
pub(super) fn sections(folder: &Path, report: &Report) -> Result<OwnSections> {
    let (figures, coverage, conditions) = (figures(folder)?, coverage(folder)?, conditions(folder)?);
    let mut tiles = vec![("candidates", report.ingest.lines), ("instructions", figures.n)];
    tiles.push(("with a value of an earlier result", figures.n_dependent));
    tiles.extend(coverage.as_ref().map(|coverage| ("functions called", coverage.reached as u64)));
    let environment: Vec<String> =
        figures.environments.iter().map(|(name, n)| format!("{name}: {} instructions", count(*n))).collect();
    let how = conditions.map(|conditions| conditions_in_words(&conditions)).unwrap_or_default();
    let yields = yields(&serde_json::json!({ "notes": report.notes }));
    let sections = vec![
        pictures(&figures, coverage.as_ref(), &yields),
        strata(&figures, coverage.as_ref()),
        rejected(report),
        of_models(&yields),
        Solutions::of(folder)?.section(&serde_json::to_value(report).unwrap_or_default()),
        html! {
            h2 { "Environment" }
            ul { @for line in environment.iter().chain(&how) { li { (line) } } }
        },
        coverage.as_ref().map(unreached).unwrap_or_default(),
    ];
    Ok(OwnSections { tiles, sections })
}

fn strata(figures: &Figures, coverage: Option<&Coverage>) -> Markup {
    let columns = [
        Column::key("stratum"),
        Column::number("candidates"),
        Column::number("accepted"),
        Column::number("in the set"),
        Column::prose("example"),
    ];
    // Only programs are drawn by stratum.
    let drawn = |name: &str| {
        let strata = coverage.iter().flat_map(|coverage| &coverage.strata);
        strata.into_iter().find(|(stratum, _)| stratum.name() == name).map(|(_, counts)| counts)
    };
    let names: Vec<&str> = match coverage {
        Some(coverage) => coverage.strata.keys().map(|stratum| stratum.name()).collect(),
        None => figures.strata.keys().map(String::as_str).collect(),
    };
    let rows = names.into_iter().map(|name| {
        let example = figures.examples.get(name);
        let of =
            |count: fn(&Counts) -> u64| drawn(name).map(|counts| number(count(counts))).unwrap_or_default();
        vec![
            code(name),
            of(|counts| counts.drawn),
            of(|counts| counts.accepted),
            number(figures.strata.get(name).copied().unwrap_or_default()),
            html! {
                @if let Some((message, calls)) = example {
                    span.quote { (message) }
                    @for call in calls { br; (code(call)) }
                    @if calls.is_empty() { br; (soft("no call")) }
                }
            },
        ]
    });
    html! {
        h2 { "Strata" }
        p.soft { "The example is the first instruction, with its gold calls; $1.id is the id in the result of the first call." }
        (table::wide(&columns, rows))
    }
}

/// What models were asked for, and what became of it.
fn of_models(yields: &[Yield]) -> Markup {
    let columns = [
        Column::key("stage"),
        Column::key("stratum"),
        Column::key("model"),
        Column::number("asked"),
        Column::number("passed"),
        Column::prose("others"),
    ];
    let rows = yields.iter().map(|one| {
        let (asked, passed) = (number(one.asked), number(one.passed));
        vec![
            code(&one.stage),
            code(&one.stratum),
            code(&one.model),
            asked,
            passed,
            html! { (one.reasons_in_words()) },
        ]
    });
    html! {
        @if !yields.is_empty() {
            h2 { "What models wrote" }
            (table::wide(&columns, rows))
        }
    }
}

fn rejected(report: &Report) -> Markup {
    html! {
        h2 { "Rejected candidates" }
        p.soft { "A candidate is rejected if its calls fail, are not all needed, or are not determined by what the user writes." }
        (lines_by_reason(report, "candidates", meaning_of))
    }
}

fn unreached(coverage: &Coverage) -> Markup {
    let columns = [Column::key("function"), Column::prose("why")];
    let rows =
        coverage.unreached.iter().map(|function| vec![code(&function.function), html! { (function.why()) }]);
    html! {
        @if !coverage.unreached.is_empty() {
            h2 { "Functions that no instruction calls" }
            (table::wide(&columns, rows))
        }
    }
}
