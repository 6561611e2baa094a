//! `callsieve plan`: what a run would do, checked before any data is read.

use std::path::PathBuf;

use anyhow::bail;

use super::run::cancelled_by_signal;
use super::{PipelineArgs, model};
use crate::cli::console::{self, Paint, Painted, Screen};
use crate::cli::layout::{paragraph, words};
use crate::pipeline::{Override, Pipeline, SAMPLE_DECISIONS};
use crate::run::{Plan, fetch_inputs, run_name};
use crate::stages::Registry;
use crate::text::listed::listed;

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pipeline: PipelineArgs,

    /// Also reads the logs, and shows what stages would ask language models: requests, tokens and cost. Nothing is sent.
    #[arg(long)]
    cost: bool,

    /// Models and their prices: TOML as configs/models.toml, or the JSON registry of LiteLLM.
    #[arg(long, value_name = "FILE", requires = "cost")]
    prices: Option<PathBuf>,

    /// Prints the requests, tokens and cost as one JSON object.
    #[arg(long, requires = "cost")]
    json: bool,

    /// Counts requests whose answer in the cache could not be used, as a run with this flag sends them.
    #[arg(long, requires = "cost")]
    retry_unusable: bool,
}

/// A pipeline as the arguments set it up.
pub(super) struct Loaded {
    pub(super) pipeline: Pipeline,
    /// The name of its run folder without `--out`.
    pub(super) run_name: String,
}

/// Loads the pipeline that the arguments name, with the inputs that they name. Without either it is the sample.
///
/// # Errors
/// Several pipelines are named, or the named one is invalid.
pub(super) fn load(args: &PipelineArgs, registry: &Registry) -> anyhow::Result<Loaded> {
    let is_pipeline = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let (pipelines, logs): (Vec<&PathBuf>, Vec<&PathBuf>) = args.paths.iter().partition(is_pipeline);
    if let [one, other, ..] = pipelines[..] {
        bail!(
            "{} and {} are both pipelines, but a run has one\nhint: a path that ends in .toml is a pipeline, any other path an input",
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
    let is_sample = pipeline.is_none() && inputs.is_empty();
    if !args.decisions.is_empty() {
        // The sample has answers of its own, which apply too.
        let own = is_sample.then(|| PathBuf::from(SAMPLE_DECISIONS));
        let files: Vec<String> =
            own.iter().chain(&args.decisions).map(|file| file.to_string_lossy().into_owned()).collect();
        let value = match &files[..] {
            [file] => toml::Value::from(file.as_str()),
            files => toml::Value::from(files.to_vec()),
        };
        overrides.push(Override { id: String::new(), key: "decisions".to_owned(), value: value.to_string() });
    }
    if is_sample {
        let pipeline = Pipeline::sample(&overrides, registry)?;
        let run_name = pipeline.name.clone();
        return Ok(Loaded { pipeline, run_name });
    }
    let mut pipeline = Pipeline::load(pipeline, &overrides, registry)?;
    let run_name = if inputs.is_empty() { pipeline.name.clone() } else { run_name(&inputs) };
    if !inputs.is_empty() {
        pipeline.set_inputs(inputs)?;
    }
    fetch_inputs(&mut pipeline, &mut console::print_status)?;
    Ok(Loaded { pipeline, run_name })
}

pub(super) fn plan(args: &PlanArgs, registry: &Registry) -> anyhow::Result<()> {
    if args.cost {
        let planned = model::planned(
            &args.pipeline,
            (args.prices.as_deref(), args.retry_unusable),
            registry,
            cancelled_by_signal()?,
        )?;
        let printed = if args.json {
            console::write_json(&format!("{}\n", model::plan_json(&planned)))
        } else {
            model::print_plan(&planned)
        };
        return Ok(printed?);
    }
    let plan = crate::run::plan(&load(&args.pipeline, registry)?.pipeline)?;
    for warning in &plan.warnings {
        console::print_status(&format!("warning: {warning}"));
    }
    Ok(console::print_painted(&text(&plan, Screen::of_stdout()))?)
}

/// Width of the labels of the plan's lines.
const LABEL: usize = 10;
/// Width of the labels of a stage's lines.
const STAGE_LABEL: usize = 14;

/// The plan: what is read, and each stage with its columns.
fn text(plan: &Plan, screen: Screen) -> Painted {
    let line = |name: &str, text: &str| paragraph(name, LABEL, &words(text), screen);
    let inputs = plan.inputs.iter().map(|input| input.display().to_string());
    let mut text = line("pipeline", &plan.pipeline);
    text.append(line("inputs", &listed(inputs, "files")));
    text.append(line("seed", &plan.seed.to_string()));
    text.add(Paint::Plain, "\n");
    for (at, stage) in plan.stages.iter().enumerate() {
        let kind = if stage.id == stage.kind { String::new() } else { format!(" ({})", stage.kind) };
        text.add(Paint::Plain, &format!("{:2}  ", at + 1));
        text.add(Paint::Title, &stage.id);
        text.add(Paint::Plain, &format!("{kind}, works on {}\n", stage.table.name().replace('_', " ")));
        for (name, columns) in [("    reads", &stage.reads), ("    writes", &stage.writes)] {
            if !columns.is_empty() {
                let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
                text.append(paragraph(name, STAGE_LABEL, &words(&names.join(", ")), screen));
            }
        }
    }
    text.add(Paint::Plain, "\n");
    text.append(line("export", plan.export.unwrap_or("report only")));
    text
}
