//! Jobs: what a person comes for.
//!
//! A job writes its own files next to the tables of a run, makes its page and its card, and decides which results are not
//! good enough. [`job_of`] finds the job of a pipeline, [`crate::run`] folds over it. Options make the pipeline of
//! a recipe: [`audit::AuditOptions`]. The command line parses options and prints; programs in Rust call the same
//! functions.

pub mod audit;
pub mod collect;
pub mod dataset;
pub mod gate;
pub mod instruct;
pub mod probe;
pub mod retrieve;

use std::path::Path;

use serde_json::Value;

use crate::engine::context::Cancelled;
use crate::engine::corpus::Corpus;
use crate::engine::delta::StageManifest;
use crate::engine::error::Result;
use crate::engine::instance::StageInstance;
use crate::engine::manifest::RunFile;
use crate::report::croissant::Croissant;
use crate::report::funnel::Wording;
use crate::report::html::OwnSections;
use crate::report::model::Report;
use gate::{FailedGate, RowsLeft, RunFacts};

/// A finished run, as a job sees it.
#[derive(Clone, Copy)]
pub struct FinishedRun<'a> {
    /// The run folder.
    pub folder: &'a Path,
    /// How it was started, with its inputs.
    pub file: &'a RunFile,
    /// Its tables after the last stage.
    pub corpus: &'a Corpus,
    /// Its stages.
    pub stages: &'a [StageInstance],
    /// Their manifests.
    pub manifests: &'a [StageManifest],
    /// A dataset is written.
    pub is_exported: bool,
    /// Whether the user asked to stop.
    pub cancelled: Cancelled<'a>,
}

/// What a person comes for.
pub trait Job: Sync {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Returns `true` if a run of this pipeline, as `run.json` holds it, is of this job.
    fn is_of(&self, pipeline: &Value) -> bool;

    /// Writes the files of the job beside the tables of the run. The dataset is written at the same time.
    ///
    /// # Errors
    /// A file cannot be read or written, or the user asked to stop.
    fn write(&self, _run: &FinishedRun<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns how the funnel describes what was written.
    fn wording(&self) -> Wording {
        Wording::default()
    }

    /// Returns `true` if the inputs are logs of requests, so that lines without one are reported while somebody looks.
    fn reads_logs(&self) -> bool {
        true
    }

    /// Returns the gates that the result fails.
    fn gates(&self, run: &RunFacts<'_>) -> Vec<FailedGate> {
        gate::of_inputs(run)
    }

    /// Returns how many rows the source is to make in addition to those that are wanted, if the result has too few and more
    /// can be made; `None` ends the run.
    fn spare_wanted(&self, _left: &RowsLeft<'_>) -> Option<u64> {
        None
    }

    /// Returns the page of the job, which `report.html` holds instead of the report; `None` if it has none.
    ///
    /// # Errors
    /// A file of the job cannot be read.
    fn own_page(&self, _folder: &Path) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns what the page of a run has instead of the recipe and the entries of a dataset; `None` for a dataset.
    ///
    /// # Errors
    /// As [`own_page`](Self::own_page).
    fn own_sections(&self, _folder: &Path, _report: &Report) -> Result<Option<OwnSections>> {
        Ok(None)
    }

    /// Returns the card of the job, in Markdown, instead of that of a dataset; `None` if it has none.
    ///
    /// # Errors
    /// As [`own_page`](Self::own_page).
    fn own_card(&self, _folder: &Path) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns what `croissant.json` says of the dataset; `None` for one made from logs.
    ///
    /// # Errors
    /// As [`own_page`](Self::own_page).
    fn own_metadata(&self, _folder: &Path, _report: &Report) -> Result<Option<Croissant>> {
        Ok(None)
    }

    /// Returns `true` if the card is the `README.md` of the dataset.
    fn card_is_in_dataset(&self) -> bool {
        true
    }

    /// Returns `true` if entries can be removed from the dataset one by one. Otherwise `forget` removes the dataset, and
    /// the next run writes it again.
    fn erases_entries(&self) -> bool {
        true
    }
}

/// All jobs. The last one is that of every pipeline that no other claims.
pub static JOBS: [&dyn Job; 4] = [&audit::Audit, &collect::Collect, &instruct::Instruct, &dataset::Dataset];

/// Returns the job of a pipeline, as `run.json` holds it.
pub fn job_of(pipeline: &Value) -> &'static dyn Job {
    let [.., last] = JOBS;
    JOBS.into_iter().find(|job| job.is_of(pipeline)).unwrap_or(last)
}

/// Returns the kind of the sink of a pipeline; `None` if nothing is written.
fn sink_of(pipeline: &Value) -> Option<&str> {
    let export = pipeline.get("export").filter(|export| !export.is_null())?;
    // Runs of earlier builds have it as `form`.
    ["kind", "form"].iter().find_map(|key| export.get(key)?.as_str()).or(Some(crate::export::KINDS[0].name))
}

/// Returns `true` if a stage of the pipeline is of this kind.
fn has_stage(pipeline: &Value, kind: &str) -> bool {
    let stages = pipeline.get("stages").and_then(Value::as_array);
    stages.into_iter().flatten().any(|stage| stage.get("kind").and_then(Value::as_str) == Some(kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_job_of_a_run_is_that_of_its_sink_and_its_stages() {
        let pipeline = |export: Value, kind: &str| json!({"stages": [{"kind": kind}], "export": export});
        let name = |export: Value, kind: &str| job_of(&pipeline(export, kind)).name();
        assert_eq!(name(json!({"kind": "bfcl"}), "split"), "dataset");
        assert_eq!(name(json!({"id_prefix": "ts"}), "split"), "dataset");
        assert_eq!(name(Value::Null, "split"), "dataset");
        assert_eq!(name(json!({"kind": "as-read"}), "sample"), "audit");
        assert_eq!(name(json!({"form": "as-read"}), "sample"), "audit");
        assert_eq!(name(Value::Null, "drop-benchmark-overlap"), "audit");
        assert_eq!(name(json!({"kind": "bfcl"}), "drop-benchmark-overlap"), "dataset");
        assert_eq!(name(json!({"kind": "of-another-program"}), "split"), "dataset");
    }
}
