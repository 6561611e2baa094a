//! What a run would do, checked before any data is read.

use std::path::PathBuf;

use super::Error;
use super::inputs::{check_baselines, check_sink, checked_source};
use crate::engine::vocabulary::{ColumnSpec, TableId};
use crate::pipeline::Pipeline;

/// What a run would do.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The pipeline's name.
    pub pipeline: String,
    /// What would be read.
    pub inputs: Vec<PathBuf>,
    /// The seed.
    pub seed: u64,
    /// The stages, in order.
    pub stages: Vec<PlannedStage>,
    /// What would be written, in a few words; `None` for a pipeline that only reports.
    pub export: Option<&'static str>,
    /// Warnings to show before the pipeline runs.
    pub warnings: Vec<String>,
}

/// A stage in its place.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlannedStage {
    /// Its id.
    pub id: String,
    /// The kind's name.
    pub kind: &'static str,
    /// The table that it judges.
    pub table: TableId,
    /// The columns that it reads and that an earlier step provides.
    pub reads: Vec<ColumnSpec>,
    /// The columns that it writes.
    pub writes: Vec<ColumnSpec>,
}

/// Checks a pipeline with its inputs and baselines, without reading the inputs.
///
/// # Errors
/// An input or a baseline is not there, or cannot be opened.
pub fn plan(pipeline: &Pipeline) -> Result<Plan, Error> {
    let (source, skipped) = checked_source(&pipeline.source)?;
    check_baselines(pipeline, None)?;
    check_sink(pipeline, &source)?;
    let mut have: Vec<ColumnSpec> = source.source.columns();
    let mut stages = Vec::new();
    for instance in &pipeline.stages {
        let contract = instance.stage.contract();
        let there = contract.reads_if_there.iter().filter(|column| have.contains(column));
        let reads = contract.reads.iter().chain(there).copied().collect();
        have.extend(&contract.writes);
        stages.push(PlannedStage {
            id: instance.id.clone(),
            kind: instance.kind,
            table: contract.table,
            reads,
            writes: contract.writes,
        });
    }
    Ok(Plan {
        pipeline: pipeline.name.clone(),
        inputs: source.source.files().to_vec(),
        seed: pipeline.seed,
        stages,
        export: pipeline.export.as_ref().map(|export| export.summary),
        warnings: skipped.iter().chain(&pipeline.warnings).cloned().collect(),
    })
}
