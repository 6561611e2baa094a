//! `toolsieve plan`: what a run would do, checked before any data is read.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::PipelineArgs;
use crate::console::{self, table};
use crate::engine::columns::{self, ColumnSpec};
use crate::engine::verify::check_outcome;
use crate::export::earlier::Earlier;
use crate::export::sink::Export;
use crate::ingest::read::Format;
use crate::ingest::source::Reading;
use crate::pipeline::{Override, Pipeline};
use crate::text::visible::visible_line;

/// Loads the pipeline that the arguments name.
pub(super) fn load(args: &PipelineArgs) -> anyhow::Result<Pipeline> {
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
    let mut pipeline = Pipeline::load(args.pipeline.as_deref(), &overrides)?;
    if !args.input.is_empty() {
        pipeline.ingest.inputs.clone_from(&args.input);
    }
    Ok(pipeline)
}

/// Whether an input can be read only once: standard input, or a pipe that has a name.
pub(super) fn is_pipe(input: &Path) -> bool {
    let is_special = || input.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    input.as_os_str() == "-" || is_special()
}

/// There is something to read, and every input is a file that can be opened, or a pipe, once.
///
/// A pipe is not opened: whoever writes into it may wait for that, and then for somebody to read it.
pub(super) fn check_inputs(pipeline: &Pipeline) -> anyhow::Result<()> {
    if pipeline.ingest.inputs.is_empty() {
        bail!("nothing to read\nhint: name files with --input, or under [ingest] in the pipeline");
    }
    if pipeline.ingest.limit.is_some() && pipeline.ingest.sample_rows.is_some() {
        bail!(
            "limit and sample_rows are both set\nhint: the one reads the first records, the other takes some at random"
        );
    }
    let pipes: Vec<&PathBuf> = pipeline.ingest.inputs.iter().filter(|input| is_pipe(input)).collect();
    if let [one, other, ..] = pipes[..] {
        bail!(
            "inputs {} and {} are both pipes, and one can be read\nhint: write them to files, or `cat` them into one",
            one.display(),
            other.display()
        );
    }
    if let [pipe] = pipes[..]
        && !matches!(Reading::of(pipe), Reading::Text(Format::Json | Format::Jsonl))
    {
        bail!("input {}: pipes are read as JSON only\nhint: write it to a file first", pipe.display());
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    for input in &pipeline.ingest.inputs {
        let place = input.canonicalize().unwrap_or_else(|_| input.clone());
        if seen.contains(&place) {
            bail!("input {} is named twice\nhint: every row of it would count twice", input.display());
        }
        seen.push(place);
        if is_pipe(input) {
            continue;
        }
        if input.is_dir() {
            bail!(
                "input {} is a folder\nhint: name its files, e.g. {}/*.jsonl",
                input.display(),
                input.display()
            );
        } else if let Err(error) = std::fs::File::open(input) {
            bail!("input {}: {error}", input.display());
        }
    }
    Ok(())
}

/// Every earlier dataset is there, and is not the one that the run is about to write anew.
pub(super) fn check_baselines(pipeline: &Pipeline, out: Option<&Path>) -> anyhow::Result<()> {
    pipeline.export.as_ref().map_or(Ok(()), Export::check_frozen)?;
    for path in pipeline.baselines() {
        Earlier::open(&path)?;
        if path.join("run.json").is_file() {
            // Question files may have been corrected by hand; tables are nobody's to change.
            check_outcome(&path, |name| name == "rows.parquet" || name.starts_with("dataset/data/"))?;
        }
        let same = |out: &Path| Some(path.canonicalize().ok()? == out.canonicalize().ok()?);
        if out.and_then(same) == Some(true) {
            bail!(
                "baseline {} is the folder this run writes into\nhint: give another folder with --out",
                path.display()
            );
        }
    }
    Ok(())
}

pub(super) fn plan(args: &PipelineArgs) -> anyhow::Result<()> {
    let pipeline = load(args)?;
    check_inputs(&pipeline)?;
    check_baselines(&pipeline, None)?;
    for warning in &pipeline.warnings {
        console::talk(&format!("warning: {warning}"));
    }
    let names =
        |columns: &[ColumnSpec]| columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    let mut have: Vec<ColumnSpec> = columns::PAYLOAD.to_vec();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, instance) in pipeline.stages.iter().enumerate() {
        let contract = instance.stage.contract();
        let there = contract.reads_if_there.iter().filter(|column| have.contains(column));
        let reads: Vec<ColumnSpec> = contract.reads.iter().chain(there).copied().collect();
        let (reads, writes) = (names(&reads), names(&contract.writes));
        have.extend(contract.writes);
        rows.push(vec![
            (at + 1).to_string(),
            instance.id.clone(),
            instance.kind.to_owned(),
            contract.table.name().to_owned(),
            reads,
            writes,
        ]);
    }
    let inputs: Vec<String> =
        pipeline.ingest.inputs.iter().map(|input| input.display().to_string()).collect();
    let export = if pipeline.export.is_some() { "BFCL files and Parquet" } else { "report only" };
    let text = format!(
        "pipeline  {}\ninputs    {}\nseed      {}\n\n{}\nexport    {export}\n",
        pipeline.name,
        visible_line(&inputs.join(", ")),
        pipeline.seed,
        table(&["", "stage", "kind", "judges", "reads", "writes"], &rows, &[0])
    );
    Ok(console::give(&text)?)
}
