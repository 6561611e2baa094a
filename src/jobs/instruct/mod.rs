//! Instruction sets: `pipelines/instructions.toml` and pipelines like it.
//!
//! [`GenerateOptions::pipeline`] makes the pipeline for an environment, which [`crate::run::execute`] runs like any other;
//! [`coverage`] returns what a run reached.

mod annotate;
mod card;
mod figures;
mod metadata;
mod options;
mod page;
mod pictures;
mod solutions;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::gate::{FailedGate, RowsLeft, RunFacts};
use super::{Job, sink_of};
use crate::engine::error::Result;
use crate::engine::kind::KindSettings as _;
use crate::engine::language_model::ModelUsage;
use crate::engine::layout::INGEST;
use crate::engine::manifest::read_manifest;
use crate::engine::raw::IngestManifest;
use crate::instruct::sink::InstructionSet;
pub use crate::instruct::source::Coverage;
use crate::instruct::source::{CONDITIONS, COVERAGE};
use crate::report::croissant::Croissant;
use crate::report::funnel::{EXPORT, Wording};
use crate::report::html::OwnSections;
use crate::report::model::Report;
pub use annotate::{AnnotateOptions, JudgeOptions, SOLUTION_STAGES};
pub use options::{GenerateOptions, RECIPE, RECIPE_BY_MODELS, Way};

/// Returns how many instructions of a run have a solution path that passes, with all checks, and how many have paths.
///
/// # Errors
/// A file of the run cannot be read.
pub fn n_solved(run: &Path) -> Result<(u64, u64)> {
    let solutions = solutions::Solutions::of(run)?;
    Ok((solutions.n_solved(), solutions.into_ids().len() as u64))
}

/// Returns the ids of the instructions of a run that have solution paths.
///
/// # Errors
/// A file of the run cannot be read.
pub fn solution_ids(run: &Path) -> Result<Vec<String>> {
    Ok(solutions::Solutions::of(run)?.into_ids())
}

/// The job: rows are made by executing programs, and written in the forms of training programs.
#[derive(Debug)]
pub struct Instruct;

impl Job for Instruct {
    fn name(&self) -> &'static str {
        "instruct"
    }

    fn is_of(&self, pipeline: &Value) -> bool {
        sink_of(pipeline) == Some(InstructionSet::NAME)
    }

    fn own_card(&self, folder: &Path) -> Result<Option<String>> {
        card::card(folder).map(Some)
    }

    fn own_metadata(&self, folder: &Path, report: &Report) -> Result<Option<Croissant>> {
        metadata::metadata(folder, report).map(Some)
    }

    fn own_sections(&self, folder: &Path, report: &Report) -> Result<Option<OwnSections>> {
        page::sections(folder, report).map(Some)
    }

    /// Every form has a line of an instruction.
    fn erases_entries(&self) -> bool {
        false
    }

    fn reads_logs(&self) -> bool {
        false
    }

    fn wording(&self) -> Wording {
        Wording {
            read: "instructions that were made",
            exported: Some("instructions of the set"),
            has_published: false,
        }
    }

    /// Every instruction that is wanted is there. What is added to a run drops some of them, and makes no others.
    fn gates(&self, run: &RunFacts<'_>) -> Vec<FailedGate> {
        let (wanted, exported) = (wanted(run.pipeline), exported(run));
        if exported >= wanted || (run.adds_to_run && unanswered(run) == 0) {
            return Vec::new();
        }
        let models = &run.report.language_models;
        vec![FailedGate::TooFewInstructions {
            exported,
            wanted,
            candidates: run.read.counts.lines,
            asked: !models.is_empty(),
            unanswered: unanswered(run),
        }]
    }

    /// Makes more where stages dropped so many that too few are left.
    fn spare_wanted(&self, left: &RowsLeft<'_>) -> Option<u64> {
        let (wanted, made) = (wanted(left.pipeline), left.read.counts.records);
        let spare = made.saturating_sub(wanted);
        let lacks = wanted.checked_sub(left.kept).filter(|lacks| *lacks > 0)?;
        if is_model_away(left.language_models) {
            return None;
        }
        // Fewer were made than were to be made: the candidates ran out.
        if made < wanted + spare_of(left.pipeline) {
            return None;
        }
        // A few more than the share of dropped rows asks for.
        let more = lacks.saturating_mul(made.max(1)) / left.kept.max(1);
        Some(spare + more + more / 10 + 1)
    }
}

/// Requests to language models that have no answer; of a run that adds to another, only those of what it adds.
fn unanswered(run: &RunFacts<'_>) -> u64 {
    let stages = || run.pipeline["stages"].as_array().into_iter().flatten();
    let is_added = |id: &String| {
        stages().any(|stage| stage["id"] == **id && SOLUTION_STAGES.iter().any(|kind| stage["kind"] == *kind))
    };
    let usages = run.report.language_models.iter().filter(|(id, _)| !run.adds_to_run || is_added(id));
    usages.map(|(_, usage)| usage.failed + usage.not_sent).sum()
}

/// Whether more candidates would have no answer either: most requests fail, or are not sent, as at the limit of cost.
fn is_model_away(usages: &BTreeMap<String, ModelUsage>) -> bool {
    usages.values().any(|usage| usage.failed + usage.not_sent > usage.requests / 2)
}

/// Returns how much of its environment a run reached; `None` for a run of another job.
///
/// # Errors
/// The manifest of the ingest step cannot be read.
pub fn coverage(run: &Path) -> Result<Option<Coverage>> {
    let manifest: Option<IngestManifest> = read_manifest(run, INGEST)?;
    let note = manifest.and_then(|mut manifest| manifest.notes.remove(COVERAGE));
    Ok(note.and_then(|note| serde_json::from_value(note).ok()))
}

/// Returns how the calls of a run were executed; `None` for a run of another job.
fn conditions(run: &Path) -> Result<Option<serde_json::Map<String, Value>>> {
    let manifest: Option<IngestManifest> = read_manifest(run, INGEST)?;
    let note = manifest.and_then(|mut manifest| manifest.notes.remove(CONDITIONS));
    Ok(note.and_then(|note| note.as_object().cloned()))
}

/// The number of instructions that were exported.
fn exported(run: &RunFacts<'_>) -> u64 {
    let funnel = &run.report.funnel;
    funnel.last().filter(|row| row.step == EXPORT).map_or(0, |row| row.requests)
}

/// The number of instructions that a pipeline is to export.
fn wanted(pipeline: &Value) -> u64 {
    pipeline["ingest"]["accept"].as_u64().unwrap_or_default()
}

/// The number that it makes in addition.
fn spare_of(pipeline: &Value) -> u64 {
    pipeline["ingest"]["spare"].as_u64().unwrap_or_default()
}
