//! The funnel: the counts after each step, described in the recipe's words, next to what BFCL published.

use serde::{Deserialize, Serialize};

use super::published::Published;
use super::{Sources, recipe};
use crate::engine::forgotten::FORGOTTEN;
use crate::engine::vocabulary::RowIx;

/// The last row of the funnel of a run that wrote a dataset.
pub const EXPORT: &str = "export";

/// One line of the funnel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunnelRow {
    /// The step.
    pub step: String,
    /// What is true of the rows after the step, in the recipe's words if the run did what they describe.
    pub description: String,
    /// Kept doc lists.
    pub doc_lists: u64,
    /// Kept requests.
    pub requests: u64,
    /// Kept requests, in percent of those read.
    pub percent: f64,
    /// What BFCL published for the same step on its own log.
    #[serde(default)]
    pub bfcl: Option<Published>,
}

/// How the funnel describes what a job wrote.
#[derive(Debug, Clone, Copy)]
pub struct Wording {
    /// What the rows are called that were read.
    pub read: &'static str,
    /// What the rows are called that are written; `None`: entries of the dataset.
    pub exported: Option<&'static str>,
    /// The counts are shown next to those that BFCL published.
    pub has_published: bool,
}

impl Default for Wording {
    fn default() -> Self {
        Self { read: "doc–query pairs as logged", exported: None, has_published: true }
    }
}

/// Builds the funnel of a finished run. `exported` is the number of frozen entries of its dataset, if it wrote one.
pub(super) fn funnel(run: &Sources<'_>, exported: Option<u64>) -> Vec<FunnelRow> {
    let Sources { ingest, stages, corpus, registry, wording, .. } = *run;
    let counts = &ingest.counts;
    let row = |step: &str, description: &str, doc_lists, requests, bfcl: Option<Published>| FunnelRow {
        step: step.to_owned(),
        description: description.to_owned(),
        doc_lists,
        requests,
        percent: super::percent(requests, counts.records),
        bfcl: bfcl.filter(|_| wording.has_published),
    };
    let mut rows =
        vec![row("ingest", wording.read, counts.doc_lists, counts.records, recipe::published_pairs())];
    rows.extend(stages.iter().enumerate().map(|(at, stage)| {
        let kind = registry.kind(&stage.kind);
        let left = kind.map(|kind| (kind.funnel_label)(&stage.settings, &stage.notes)).unwrap_or_default();
        let bfcl = recipe::published_after(stages, at);
        row(&stage.id, &left, stage.after.doc_lists, stage.after.requests, bfcl)
    }));
    let (lists, requests) = (corpus.lists.kept() as u64, corpus.requests.kept() as u64);
    let is_forgotten =
        |row: &RowIx| corpus.requests.fate(*row).is_some_and(|fate| fate.reason.code == FORGOTTEN.code);
    if corpus.requests.in_order().iter().any(is_forgotten) {
        rows.push(row("forget", "without forgotten records", lists, requests, None));
    }
    if let Some(n_frozen) = exported {
        let of_dataset = if n_frozen > 0 { "new entries of the dataset" } else { "entries of the dataset" };
        let entries = wording.exported.unwrap_or(of_dataset);
        rows.push(row(EXPORT, entries, lists, requests, recipe::published_entries()));
    }
    rows
}
