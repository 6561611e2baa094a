//! The funnel: what was left after each step, in the recipe's own words, beside what BFCL published.

use serde::{Deserialize, Serialize};

use super::published::Published;
use super::{Sources, recipe};
use crate::engine::forgotten::FORGOTTEN;
use crate::engine::vocabulary::RowIx;

/// The last line of the funnel, where a dataset was written.
pub const EXPORT: &str = "export";

/// One line of the funnel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunnelRow {
    /// The step.
    pub step: String,
    /// What is counted, in the recipe's words where the run did what they say.
    pub description: String,
    /// Doc lists left.
    pub doc_lists: u64,
    /// Requests left.
    pub requests: u64,
    /// Requests left of those read, in percent.
    pub percent: f64,
    /// What BFCL published for the same step on its own log.
    #[serde(default)]
    pub bfcl: Option<Published>,
}

/// The funnel of a finished run; `exported` says that the last rows were written, beside so many frozen entries.
pub(super) fn funnel(run: &Sources<'_>, exported: Option<u64>) -> Vec<FunnelRow> {
    let Sources { ingest, stages, corpus, registry, .. } = *run;
    let counts = &ingest.counts;
    let row = |step: &str, description: &str, doc_lists, requests, bfcl| FunnelRow {
        step: step.to_owned(),
        description: description.to_owned(),
        doc_lists,
        requests,
        percent: super::percent(requests, counts.records),
        bfcl,
    };
    let mut rows = vec![row(
        "ingest",
        "doc–query pairs, and exact same docs as sent",
        counts.doc_lists,
        counts.records,
        recipe::published_pairs(),
    )];
    rows.extend(stages.iter().enumerate().map(|(at, stage)| {
        let kind = registry.kind(&stage.kind);
        let left = kind.map(|kind| (kind.left)(&stage.settings, &stage.notes)).unwrap_or_default();
        let bfcl = recipe::published_after(stages, at);
        row(&stage.id, &left, stage.after.doc_lists, stage.after.requests, bfcl)
    }));
    let (lists, requests) = (corpus.lists.kept() as u64, corpus.requests.kept() as u64);
    let is_forgotten =
        |row: &RowIx| corpus.requests.fate(*row).is_some_and(|fate| fate.reason.code == FORGOTTEN.code);
    if corpus.requests.in_order().iter().any(is_forgotten) {
        rows.push(row("forget", "what was not forgotten since", lists, requests, None));
    }
    if let Some(n_frozen) = exported {
        let entries = if n_frozen > 0 { "entries that this run made" } else { "entries of the dataset" };
        rows.push(row(EXPORT, entries, lists, requests, recipe::published_entries()));
    }
    rows
}
