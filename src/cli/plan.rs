//! `toolsieve plan`: what a run would do, checked before any data is read.

use super::PipelineArgs;
use crate::cli::console::{self, table};
use crate::engine::vocabulary::ColumnSpec;
use crate::pipeline::{Override, Pipeline};
use crate::stages::Registry;
use crate::text::visible::visible_line;

/// Loads the pipeline that the arguments name.
pub(super) fn load(args: &PipelineArgs, registry: &Registry) -> anyhow::Result<Pipeline> {
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
    let mut pipeline = Pipeline::load(args.pipeline.as_deref(), &overrides, registry)?;
    if !args.input.is_empty() {
        pipeline.ingest.inputs.clone_from(&args.input);
    }
    Ok(pipeline)
}

pub(super) fn plan(args: &PipelineArgs, registry: &Registry) -> anyhow::Result<()> {
    let plan = crate::run::plan(&load(args, registry)?)?;
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
