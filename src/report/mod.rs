//! What a run did, in figures: the funnel, and everything counted.
//!
//! Built from manifests and the tables, never from what a stage printed, so the screen,
//! `report.json` and the ledger agree. Only `seconds` and `bytes` vary between two equal
//! runs; they stand apart under `timing`. `finished` reads a run's figures back, `compare`
//! holds those of two runs side by side.

pub mod compare;
pub mod composition;
pub mod finished;
pub mod funnel;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::delta::{FateCount, StageManifest};
use crate::engine::error::Result;
use crate::engine::forgotten::FORGOTTEN;
use crate::engine::payload::IngestCounts;
use crate::engine::runner::{Outcome, fault_share};
use crate::engine::stage::{Action, RowIx, TableId};
use composition::Composition;
use funnel::FunnelRow;

/// The whole report, as written to `report.json`.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Version of the program.
    pub version: &'static str,
    /// The pipeline's name.
    pub pipeline: String,
    /// Lines in, requests and doc lists out.
    pub ingest: IngestCounts,
    /// Lines without a request, by reason.
    pub line_reasons: BTreeMap<String, u64>,
    /// Requests by log shape.
    pub shapes: BTreeMap<String, u64>,
    /// What was left after each step.
    pub funnel: Vec<FunnelRow>,
    /// What each stage did.
    pub stages: Vec<StageReport>,
    /// Every request, by its last fate.
    pub requests: Fates,
    /// Every doc list, by its last fate.
    pub doc_lists: Fates,
    /// What the kept requests are made of.
    pub composition: Composition,
    /// Entries written, by set and category.
    pub exported: BTreeMap<String, u64>,
    /// Entries of an earlier dataset kept as they are, by set and category; no rows of this run.
    pub frozen: BTreeMap<String, u64>,
    /// Share of requests and lines that left because something went wrong.
    pub fault_share: f64,
    /// Wall time and disk by step.
    pub timing: Vec<Timing>,
}

/// What one stage did.
#[derive(Debug, Serialize, Deserialize)]
pub struct StageReport {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// Fates it gave.
    pub fates: Vec<FateCount>,
    /// Edits it made, by reason.
    pub edits: BTreeMap<String, u64>,
    /// What it only showed, by reason.
    pub suggestions: BTreeMap<String, u64>,
}

/// Rows by their last fate; they add up to `rows`.
#[derive(Debug, Default, Serialize)]
pub struct Fates {
    /// All rows.
    pub rows: u64,
    /// Kept to the end; for requests of a pipeline that exports, written.
    pub kept: u64,
    /// Stood for by another.
    pub merged: u64,
    /// Out, for review.
    pub held: u64,
    /// Out.
    pub dropped: u64,
    /// Only the place is left: somebody asked for it.
    pub forgotten: u64,
    /// Rows that are not kept, by reason.
    pub reasons: BTreeMap<&'static str, u64>,
}

/// What a step cost.
#[derive(Debug, Serialize)]
pub struct Timing {
    /// The step.
    pub step: String,
    /// Wall time.
    pub seconds: f64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Builds the report of a finished run.
///
/// # Errors
/// A file of the run folder cannot be read.
pub fn report(pipeline: &str, run: &std::path::Path, outcome: &Outcome) -> Result<Report> {
    let ingest = &outcome.ingest;
    let ingest_bytes = crate::engine::runner::bytes_in(&run.join("ingest"))?;
    let mut timing = vec![Timing { step: "ingest".to_owned(), seconds: ingest.seconds, bytes: ingest_bytes }];
    timing.extend(outcome.stages.iter().map(|stage| Timing {
        step: stage.id.clone(),
        seconds: stage.seconds,
        bytes: stage.bytes,
    }));
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        pipeline: pipeline.to_owned(),
        ingest: ingest.counts.clone(),
        line_reasons: ingest.line_reasons.clone(),
        shapes: ingest.shapes.clone(),
        funnel: funnel::funnel(outcome),
        stages: outcome.stages.iter().map(stage_report).collect(),
        requests: fates(outcome, TableId::Requests),
        doc_lists: fates(outcome, TableId::DocLists),
        composition: composition::composition(&outcome.corpus)?,
        exported: outcome.exported.iter().flat_map(|exported| exported.counts.iter().cloned()).collect(),
        frozen: outcome.exported.iter().flat_map(|exported| exported.frozen.iter().cloned()).collect(),
        fault_share: fault_share(outcome),
        timing,
    })
}

fn stage_report(stage: &StageManifest) -> StageReport {
    StageReport {
        id: stage.id.clone(),
        kind: stage.kind.clone(),
        fates: stage.fates.clone(),
        edits: stage.edits.clone(),
        suggestions: stage.suggestions.clone(),
    }
}

fn fates(outcome: &Outcome, table: TableId) -> Fates {
    let table = outcome.corpus.table(table);
    let mut fates = Fates { rows: table.len() as u64, ..Fates::default() };
    for row in (0..).take(table.len()).map(|row: RowIx| row) {
        let Some(fate) = table.fate(row) else {
            fates.kept += 1;
            continue;
        };
        *match fate.action {
            _ if fate.reason.code == FORGOTTEN.code => &mut fates.forgotten,
            Action::Merge => &mut fates.merged,
            Action::Hold => &mut fates.held,
            Action::Drop => &mut fates.dropped,
        } += 1;
        *fates.reasons.entry(fate.reason.code).or_default() += 1;
    }
    fates
}
