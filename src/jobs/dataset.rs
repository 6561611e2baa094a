//! A Live-style dataset from logs: `pipelines/live.toml` and pipelines like it.

use serde_json::Value;

use super::{FinishedRun, Job, audit};
use crate::engine::error::Result;

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
}
