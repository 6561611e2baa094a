//! The sections of the page of a collection: what was in the files, and what was left out.

use std::path::Path;

use maud::html;
use serde_json::Value;

use super::counts;
use crate::engine::error::Result;
use crate::instruct::meaning_of;
use crate::page::number;
use crate::page::table::{self, Column};
use crate::report::html::{OwnSections, lines_by_reason};
use crate::report::model::Report;

/// Returns the sections.
///
/// # Errors
/// A file of the run cannot be read.
pub(super) fn sections(folder: &Path, report: &Report) -> Result<OwnSections> {
    let counts = counts(folder)?.unwrap_or_default();
    let figure = |of: &Value, key: &str| of[key].as_u64().unwrap_or_default();
    let items = counts.as_object().into_iter().flatten().filter(|(_, figures)| figures.is_object());
    let items = items.map(|(item, of)| {
        let figures = ["source", "read", "lost"].map(|key| number(figure(of, key)));
        std::iter::once(html! { (item) }).chain(figures).collect()
    });
    let in_files = [
        Column::text("item"),
        Column::number("in the files"),
        Column::number("read"),
        Column::number("lost"),
    ];
    let tools = report.funnel.last().map_or(0, |row| row.doc_lists);
    let tiles = vec![
        ("tools", tools),
        ("names changed", figure(&counts, "renamed")),
        ("functions joined", figure(&counts, "merged_functions")),
    ];
    let sections = vec![
        html! { h2 { "What was in the files" } (table::small(&in_files, items)) },
        html! {
            @if !report.line_reasons.is_empty() {
                h2 { "What was left out" }
                (lines_by_reason(report, "items", meaning_of))
            }
        },
    ];
    Ok(OwnSections { tiles, sections })
}
