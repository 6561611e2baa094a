//! The contamination audit: which rows of training sets overlap a benchmark.
//!
//! [`AuditOptions::pipeline`] makes the pipeline `pipelines/audit.toml`, which [`crate::run::execute`] runs like any other;
//! [`read`] returns its figures, and [`gates`] checks them.

mod options;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{FinishedRun, Job, has_stage, sink_of};
use crate::audit::outcome::{self, Finished};
use crate::audit::page;
use crate::audit::report::AuditReport;
use crate::engine::disk::read_json;
use crate::engine::error::Result;
use crate::engine::kind::KindSettings as _;
use crate::engine::layout::AUDIT_REPORT;
use crate::export::cleaned::{self, CleanedSets};
use crate::report::funnel::Wording;
use crate::stages::Settings as _;
use crate::stages::drop_benchmark_overlap::DropBenchmarkOverlap;
pub use options::{AuditError, AuditGate, AuditOptions, RECIPE, gates};

/// The job: kept rows are written as they were read, or rows are compared with a benchmark and nothing is written.
#[derive(Debug)]
pub struct Audit;

impl Job for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn is_of(&self, pipeline: &Value) -> bool {
        match sink_of(pipeline) {
            Some(sink) => sink == CleanedSets::NAME,
            None => has_stage(pipeline, DropBenchmarkOverlap::NAME),
        }
    }

    fn write(&self, run: &FinishedRun<'_>) -> Result<()> {
        let paths: Vec<PathBuf> = run.file.inputs.iter().map(|input| PathBuf::from(&input.path)).collect();
        write(run, &if run.is_exported { cleaned::names(&paths) } else { Vec::new() })
    }

    fn wording(&self) -> Wording {
        // An audit makes no dataset that could be compared with BFCL's.
        Wording { exported: Some("rows of the cleaned sets"), has_published: false, ..Wording::default() }
    }

    fn own_page(&self, folder: &Path) -> Result<Option<String>> {
        Ok(read(folder)?.map(|audit| page::page(&audit)))
    }

    /// Returns the statement for a model card.
    fn own_card(&self, folder: &Path) -> Result<Option<String>> {
        Ok(read(folder)?.map(|audit| audit.statement()))
    }

    fn card_is_in_dataset(&self) -> bool {
        false
    }

    /// Sets as they were read have no ids of the run.
    fn erases_entries(&self) -> bool {
        false
    }
}

/// Writes what the first comparison with benchmarks found; nothing if no stage of the run makes one. `cleaned` are the
/// names of the cleaned sets in the dataset, by input.
pub(super) fn write(run: &FinishedRun<'_>, cleaned: &[String]) -> Result<()> {
    let Some(stage) = run.stages.iter().position(|stage| stage.kind == DropBenchmarkOverlap::NAME) else {
        return Ok(());
    };
    let FinishedRun { folder, file, corpus, stages, manifests, cancelled, .. } = *run;
    let finished =
        Finished { folder, inputs: &file.inputs, corpus, stages, manifests, stage, cleaned, cancelled };
    outcome::write(&finished)
}

/// Returns what an audit found, from its run folder; `None` for other runs.
///
/// # Errors
/// The file cannot be read.
pub fn read(run: &Path) -> Result<Option<AuditReport>> {
    let path = run.join(AUDIT_REPORT);
    if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
}
