//! What a run did, in figures: one model, and its writers.
//!
//! Built from the run folder (manifests, tables, dataset) and the events of the ledger, never from what a stage printed,
//! so the screen, `report.json`, the dataset card, the page and the ledger agree, and a finished run can be reported
//! again.
//! `model` holds the figures, `examples` draws rows of each reason for the page, `recipe` ties steps to stages; `markdown` writes the card, `html` the page.
//! `finished` reads a run's figures back, `compare` holds those of two runs side by side.

pub mod asked;
pub mod compare;
pub mod composition;
pub mod croissant;
pub mod distributions;
mod events;
pub mod examples;
pub mod finished;
pub mod funnel;
pub mod html;
pub mod markdown;
mod metadata;
pub mod model;
mod precision;
pub mod published;
mod quote;
pub mod rebuild;
pub mod recipe;
pub mod records;
pub mod senders;
pub mod strata;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize as _;
use serde_json::Value;

use crate::audit::coverage::GROUPED_NOTE;
use crate::engine::corpus::{Corpus, Table};
use crate::engine::delta::StageManifest;
use crate::engine::error::Result;
use crate::engine::forgotten::FORGOTTEN;
use crate::engine::language_model::{ModelUsage, usages};
use crate::engine::layout::INGEST;
use crate::engine::manifest::RunFile;
use crate::engine::raw::IngestManifest;
use crate::engine::runner::{bytes_in, fault_share};
use crate::engine::vocabulary::{Action, RowIx, TableId};
use crate::export::card::Card;
use crate::export::written;
use crate::relevance::operating::{OPERATING_POINT, OperatingPoint};
use crate::stages::Registry;
use crate::stages::redact::Redact;
use callsieve_system::memory::Memory;
pub use events::Tally;
use funnel::Wording;
use model::{Fates, Report, SCHEMA_VERSION, StageReport, Timing};
use senders::Senders;

/// What the report of a finished run is made from.
pub struct Sources<'a> {
    /// The run folder; the dataset is written.
    pub folder: &'a Path,
    /// How it was started.
    pub file: &'a RunFile,
    /// What was read.
    pub ingest: &'a IngestManifest,
    /// What each stage did.
    pub stages: &'a [StageManifest],
    /// The tables after the last stage.
    pub corpus: &'a Corpus,
    /// The kinds of its stages.
    pub registry: &'a Registry,
    /// How the funnel describes what was written.
    pub wording: Wording,
}

/// Builds the report of a finished run, of which every event was counted.
///
/// # Errors
/// A file of the run folder cannot be read.
pub fn report(run: &Sources<'_>, events: Tally<'_>) -> Result<Report> {
    let Sources { folder, file, ingest, stages, corpus, registry, .. } = *run;
    let public_sets: Vec<_> = stages.iter().flat_map(recipe::public_sets).collect();
    let events = events.finish(folder, corpus, &public_sets, registry)?;
    let notes = stages.iter().filter(|stage| !stage.notes.is_empty());
    let entries = composition::entries(corpus)?;
    let n_human = entries.tier.get("human").copied().unwrap_or_default();
    let entries_written = written::counts(folder)?;
    let export = &file.pipeline["export"];
    let redacts: Vec<Option<TableId>> = stages.iter().map(StageManifest::redacts).collect();
    let n_frozen: u64 = entries_written.frozen.iter().map(|(_, n)| n).sum();
    Ok(Report {
        schema_version: SCHEMA_VERSION,
        version: file.version.clone(),
        pipeline: file.pipeline["name"].as_str().unwrap_or_default().to_owned(),
        card: Card::deserialize(&export["card"]).unwrap_or_default(),
        ingest: ingest.counts.clone(),
        line_reasons: ingest.line_reasons.clone(),
        log_formats: ingest.log_formats.clone(),
        funnel: funnel::funnel(run, (!export.is_null()).then_some(n_frozen)),
        recipe: recipe::steps(stages, &public_sets, n_human),
        other_stages: recipe::stages_outside(stages),
        public_sets,
        query_vectors: stages.iter().filter_map(recipe::query_vectors).collect(),
        operating_points: operating_points(stages),
        language_models: language_models(ingest, stages),
        stages: stages.iter().map(stage_report).collect(),
        requests: fates(corpus, TableId::Requests),
        doc_lists: fates(corpus, TableId::DocLists),
        fates: events.fates,
        edits: events.edits,
        redacted: events.redacted,
        composition: composition::composition(corpus)?,
        distributions: distributions::Distributions::of(folder, corpus)?,
        senders: Senders::of(corpus, recipe::is_redacted(&redacts))?,
        entries,
        strata: strata::shares(&file.pipeline, corpus)?,
        exported: entries_written.made.into_iter().collect(),
        frozen: entries_written.frozen.into_iter().collect(),
        fault_share: fault_share(&ingest.counts, corpus),
        notes: notes.map(|stage| (stage.id.clone(), reported(&stage.notes))).collect(),
        rebuild: rebuild::rebuild(file),
        timing: timing(folder, ingest, stages)?,
    })
}

/// Returns the notes of a stage without those that hold its results row by row.
fn reported(notes: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let is_reported = |(name, _): &(&String, &Value)| *name != GROUPED_NOTE;
    notes.iter().filter(is_reported).map(|(name, note)| (name.clone(), note.clone())).collect()
}

/// What the source and the stages asked language models, by step.
pub(crate) fn language_models(
    ingest: &IngestManifest,
    stages: &[StageManifest],
) -> BTreeMap<String, ModelUsage> {
    let steps = stages.iter().map(|stage| (stage.id.as_str(), &stage.notes));
    usages(std::iter::once((INGEST, &ingest.notes)).chain(steps)).collect()
}

/// The thresholds by which stages judged relevance, by stage.
fn operating_points(stages: &[StageManifest]) -> BTreeMap<String, OperatingPoint> {
    let noted = |stage: &StageManifest| {
        Some((stage.id.clone(), OperatingPoint::deserialize(stage.notes.get(OPERATING_POINT)?).ok()?))
    };
    stages.iter().filter_map(noted).collect()
}

/// A share in percent; 0 of nothing.
// Counts of rows are far below 2^52, so the division is exact enough.
#[allow(clippy::cast_precision_loss)]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn timing(folder: &Path, ingest: &IngestManifest, stages: &[StageManifest]) -> Result<Vec<Timing>> {
    let bytes = bytes_in(&folder.join("ingest"))?;
    let of_step = |step: &str, seconds, memory: Option<Memory>, bytes| Timing {
        step: step.to_owned(),
        seconds,
        memory: memory.map(|memory| memory.resident),
        peak_memory: memory.map(|memory| memory.peak),
        bytes,
    };
    let mut timing = vec![of_step("ingest", ingest.seconds, ingest.memory, bytes)];
    timing.extend(stages.iter().map(|stage| of_step(&stage.id, stage.seconds, stage.memory, stage.bytes)));
    Ok(timing)
}

fn stage_report(stage: &StageManifest) -> StageReport {
    StageReport {
        redacts: stage.redacts(),
        finds_names: stage.redacts().is_some()
            && Redact::deserialize(&stage.settings).is_ok_and(|redact| redact.finds_names()),
        id: stage.id.clone(),
        kind: stage.kind.clone(),
        fates: stage.fates.clone(),
        edits: stage.edits.clone(),
        suggestions: stage.suggestions.clone(),
    }
}

/// The row at the end of a row's merges; the row itself if it was not merged.
pub(crate) fn end_of_merges(table: &Table, mut row: RowIx) -> RowIx {
    while let Some(into) =
        table.fate(row).filter(|fate| fate.action == Action::Merge).and_then(|fate| fate.into)
    {
        row = into;
    }
    row
}

fn fates(corpus: &Corpus, table: TableId) -> Fates {
    let table = corpus.table(table);
    let mut fates = Fates { rows: table.len() as u64, ..Fates::default() };
    for row in (0..).take(table.len()).map(|row: RowIx| row) {
        let Some(fate) = table.fate(row) else {
            fates.kept += 1;
            continue;
        };
        *match fate.action {
            _ if fate.reason.code == FORGOTTEN.code => &mut fates.forgotten,
            Action::Merge => {
                fates.merged_into_not_exported += u64::from(!table.is_kept(end_of_merges(table, row)));
                &mut fates.merged
            }
            Action::Hold => &mut fates.held,
            Action::Drop => &mut fates.dropped,
        } += 1;
        *fates.reasons.entry(fate.reason.code).or_default() += 1;
    }
    fates
}
