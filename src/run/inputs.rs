//! Checks that what a pipeline reads is there, and copies what can be read only once.

use std::io;
use std::path::{Path, PathBuf};

use super::Error;
use super::error::refuse;
use crate::engine::disk::create_private;
use crate::engine::error::At as _;
use crate::engine::folder::RunFolder;
use crate::engine::verify::check_outcome;
use crate::export::earlier::Earlier;
use crate::export::sink::Export;
use crate::ingest::read::Format;
use crate::ingest::source::{Ingest, Reading};
use crate::pipeline::Pipeline;

/// Whether an input can be read only once: standard input, or a pipe that has a name.
fn is_pipe(input: &Path) -> bool {
    let is_special = || input.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    input.as_os_str() == "-" || is_special()
}

/// There is something to read, and every input is a file that can be opened, or a pipe, once.
///
/// A pipe is not opened: whoever writes into it may wait for that, and then for somebody to read it.
pub(super) fn check_inputs(ingest: &Ingest) -> Result<(), Error> {
    if ingest.inputs.is_empty() {
        return refuse("nothing to read\nhint: name files with --input, or under [ingest] in the pipeline");
    }
    if ingest.limit.is_some() && ingest.sample_rows.is_some() {
        return refuse(
            "limit and sample_rows are both set\nhint: the one reads the first records, the other takes some at random",
        );
    }
    let pipes: Vec<&PathBuf> = ingest.inputs.iter().filter(|input| is_pipe(input)).collect();
    if let [one, other, ..] = pipes[..] {
        return refuse(format!(
            "inputs {} and {} are both pipes, and one can be read\nhint: write them to files, or `cat` them into one",
            one.display(),
            other.display()
        ));
    }
    if let [pipe] = pipes[..]
        && !matches!(Reading::of(pipe), Reading::Text(Format::Json | Format::Jsonl))
    {
        return refuse(format!(
            "input {}: pipes are read as JSON only\nhint: write it to a file first",
            pipe.display()
        ));
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    for input in &ingest.inputs {
        let place = input.canonicalize().unwrap_or_else(|_| input.clone());
        if seen.contains(&place) {
            return refuse(format!(
                "input {} is named twice\nhint: every row of it would count twice",
                input.display()
            ));
        }
        seen.push(place);
        if !is_pipe(input) {
            check_file(input)?;
        }
    }
    Ok(())
}

fn check_file(input: &Path) -> Result<(), Error> {
    let shown = input.display();
    if input.is_dir() {
        return refuse(format!("input {shown} is a folder\nhint: name its files, e.g. {shown}/*.jsonl"));
    }
    match std::fs::File::open(input) {
        Err(error) => refuse(format!("input {shown}: {error}")),
        Ok(_) => Ok(()),
    }
}

/// Every earlier dataset is there, and is not the one that the run is about to replace.
pub(super) fn check_baselines(pipeline: &Pipeline, out: Option<&Path>) -> Result<(), Error> {
    pipeline.export.as_ref().map_or(Ok(()), Export::check_frozen)?;
    for path in pipeline.baselines() {
        Earlier::open(&path)?;
        if path.join("run.json").is_file() {
            // Question files may have been corrected by hand; tables are nobody's to change.
            check_outcome(&path, |name| name == "rows.parquet" || name.starts_with("dataset/data/"))?;
        }
        let same = |out: &Path| Some(path.canonicalize().ok()? == out.canonicalize().ok()?);
        if out.and_then(same) == Some(true) {
            return refuse(format!(
                "baseline {} is the folder this run writes into\nhint: give another folder with --out",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Copies standard input, or a pipe that has a name, into the run folder, so that it is read like a file and can be
/// read again. Nothing of the run is written yet, and a pipe may never end.
pub(super) fn spool_pipe(ingest: &mut Ingest, folder: &RunFolder) -> Result<(), Error> {
    let spooled = folder.spool();
    for input in ingest.inputs.iter_mut().filter(|input| is_pipe(input)) {
        let mut file = create_private(&spooled)?;
        if *input == Path::new("-") {
            io::copy(&mut io::stdin().lock(), &mut file).at("copying standard input to", &spooled)?;
        } else {
            let mut pipe = std::fs::File::open(&*input).at("reading", input)?;
            io::copy(&mut pipe, &mut file).at("reading", input)?;
        }
        input.clone_from(&spooled);
    }
    Ok(())
}
