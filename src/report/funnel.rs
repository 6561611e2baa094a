//! The funnel: what was left after each step, in the recipe's own words.

use serde::{Deserialize, Serialize};

use crate::engine::forgotten::FORGOTTEN;
use crate::engine::runner::Outcome;
use crate::stages;

/// One line of the funnel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunnelRow {
    /// The step.
    pub step: String,
    /// What is counted, in the recipe's words.
    pub what: String,
    /// Doc lists left.
    pub doc_lists: u64,
    /// Requests left.
    pub requests: u64,
    /// Requests left of those read, in percent.
    pub percent: f64,
}

/// The funnel of a finished run.
pub fn funnel(outcome: &Outcome) -> Vec<FunnelRow> {
    let counts = &outcome.ingest.counts;
    // Counts of rows are far below 2^52, so the division is exact enough.
    #[allow(clippy::cast_precision_loss)]
    let percent = |requests: u64| {
        if counts.records == 0 { 0.0 } else { 100.0 * requests as f64 / counts.records as f64 }
    };
    let row = |step: &str, what: &str, doc_lists, requests| FunnelRow {
        step: step.to_owned(),
        what: what.to_owned(),
        doc_lists,
        requests,
        percent: percent(requests),
    };
    let mut rows =
        vec![row("ingest", "doc–query pairs, and exact same docs as sent", counts.doc_lists, counts.records)];
    rows.extend(outcome.stages.iter().map(|stage| {
        let left = stages::kind(&stage.kind).map_or("", |kind| kind.left);
        row(&stage.id, left, stage.after.doc_lists, stage.after.requests)
    }));
    let requests = &outcome.corpus.requests;
    let is_forgotten = |row| requests.fate(row).is_some_and(|fate| fate.reason.code == FORGOTTEN.code);
    if requests.in_order().iter().any(|&row| is_forgotten(row)) {
        let kept = [outcome.corpus.lists.kept() as u64, requests.kept() as u64];
        rows.push(row("forget", "what was not forgotten since", kept[0], kept[1]));
    }
    if let Some(exported) = &outcome.exported {
        let lists = outcome.corpus.lists.kept() as u64;
        rows.push(row("export", "entries of the dataset", lists, exported.rows.len() as u64));
    }
    rows
}
