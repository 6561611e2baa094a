//! A Live-style dataset from logs: `pipelines/live.toml` and pipelines like it.

use std::path::Path;

use serde_json::Value;

use super::{FinishedRun, Job, audit};
use crate::engine::error::Result;
use crate::report::model::Report;
use crate::report::{html, markdown};

/// The job. A run that no other job claims is of this one, also if it writes no dataset.
#[derive(Debug)]
pub struct Dataset;

impl Job for Dataset {
    fn name(&self) -> &'static str {
        "dataset"
    }

    fn is_of(&self, _pipeline: &Value) -> bool {
        true
    }

    /// Writes what a comparison with benchmarks found, if a stage makes one.
    fn write(&self, run: &FinishedRun<'_>) -> Result<()> {
        audit::write(run, &[])
    }

    fn page(&self, folder: &Path, report: &Report) -> Result<String> {
        Ok(html::page(report, &folder.display().to_string()))
    }

    fn card(&self, _folder: &Path, report: &Report) -> Result<String> {
        Ok(markdown::card(report))
    }
}
