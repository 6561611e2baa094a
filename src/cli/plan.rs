//! `toolsieve plan`: what a run would do, checked before any data is read.

use std::path::PathBuf;

use anyhow::bail;

use super::PipelineArgs;
use crate::cli::console::{self, table};
use crate::engine::vocabulary::ColumnSpec;
use crate::pipeline::{Override, Pipeline};
use crate::run::run_name;
use crate::stages::Registry;
use crate::text::visible::visible_line;

/// A pipeline as the arguments set it up.
pub(super) struct Loaded {
    pub(super) pipeline: Pipeline,
    /// The name of its run folder where `--out` gives none.
    pub(super) run_name: String,
}

/// Loads the pipeline that the arguments name, with the inputs that they name. Without either it is the sample.
///
/// # Errors
/// Several pipelines are named, or the one that is named is not as it must be.
pub(super) fn load(args: &PipelineArgs, registry: &Registry) -> anyhow::Result<Loaded> {
    let is_pipeline = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let (pipelines, logs): (Vec<&PathBuf>, Vec<&PathBuf>) = args.paths.iter().partition(is_pipeline);
    if let [one, other, ..] = pipelines[..] {
        bail!(
            "{} and {} are both pipelines, and one can be run\nhint: a path that ends in .toml is a pipeline, any other an input",
            one.display(),
            other.display()
        );
    }
    let inputs: Vec<PathBuf> = logs.into_iter().chain(&args.input).cloned().collect();
    let pipeline = pipelines.first().map(|path| path.as_path());
    let key = |key: &str, value: &str| Override {
        id: "baseline".to_owned(),
        key: key.to_owned(),
        value: toml::Value::from(value).to_string(),
    };
    let mut overrides = args.set.clone();
    overrides.extend(args.baseline.iter().map(|run| key("run", &run.to_string_lossy())));
    overrides.extend(args.freeze.then(|| key("mode", "freeze")));
    overrides.extend(
        args.decisions
            .iter()
            .map(|file| Override { id: String::new(), ..key("decisions", &file.to_string_lossy()) }),
    );
    if pipeline.is_none() && inputs.is_empty() {
        let pipeline = Pipeline::sample(&overrides, registry)?;
        let run_name = pipeline.name.clone();
        return Ok(Loaded { pipeline, run_name });
    }
    let mut pipeline = Pipeline::load(pipeline, &overrides, registry)?;
    let run_name = if inputs.is_empty() { pipeline.name.clone() } else { run_name(&inputs) };
    if !inputs.is_empty() {
        pipeline.ingest.inputs = inputs;
    }
    Ok(Loaded { pipeline, run_name })
}

pub(super) fn plan(args: &PipelineArgs, registry: &Registry) -> anyhow::Result<()> {
    let plan = crate::run::plan(&load(args, registry)?.pipeline)?;
    for warning in &plan.warnings {
        console::print_status(&format!("warning: {warning}"));
    }
    let names =
        |columns: &[ColumnSpec]| columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    let row = |(at, stage): (usize, &crate::run::PlannedStage)| {
        vec![
            (at + 1).to_string(),
            stage.id.clone(),
            stage.kind.to_owned(),
            stage.table.name().to_owned(),
            names(&stage.reads),
            names(&stage.writes),
        ]
    };
    let rows: Vec<Vec<String>> = plan.stages.iter().enumerate().map(row).collect();
    let inputs: Vec<String> = plan.inputs.iter().map(|input| input.display().to_string()).collect();
    let export = if plan.exports { "BFCL files and Parquet" } else { "report only" };
    let text = format!(
        "pipeline  {}\ninputs    {}\nseed      {}\n\n{}\nexport    {export}\n",
        plan.pipeline,
        visible_line(&inputs.join(", ")),
        plan.seed,
        table(&["", "stage", "kind", "judges", "reads", "writes"], &rows, &[0])
    );
    Ok(console::print_data(&text)?)
}
