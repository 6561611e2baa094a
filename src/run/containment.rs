//! Refuses outputs inside run folders, where callsieve replaces and removes files.
//!
//! A run reads nothing from its own folder: it would remove its input before it reads it. A run folder is in no other run
//! folder, and so is no output that a person names. Links are followed, so another spelling of a path changes nothing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Error;
use super::error::refuse;
use crate::engine::folder::run_around;
use crate::engine::instance::SourceInstance;
use crate::engine::marker::is_run;
use crate::pipeline::Pipeline;

/// Settings of stages that name files or folders.
const PATH_SETTINGS: [&str; 10] = [
    "benchmarks",
    "bindings",
    "collection",
    "dir",
    "environment",
    "names",
    "run",
    "soft_votes",
    "weights",
    "wording",
];

/// Checks that a run into this folder is in no other run folder, and reads nothing that is in the folder itself.
///
/// # Errors
/// The folder is in another run folder, or an input, a baseline or another file of the pipeline is in it.
pub(super) fn check_apart(pipeline: &Pipeline, source: &SourceInstance, out: &Path) -> Result<(), Error> {
    let Ok(real) = out.canonicalize() else { return refuse_run_in_run(out, out) };
    refuse_run_in_run(out, &real)?;
    let inputs = source.source.files().iter().filter(|input| input.as_os_str() != "-");
    let baselines = pipeline.baselines();
    let settings = pipeline.stages.iter().map(|stage| &stage.settings).chain([&source.settings]);
    let others = settings.flat_map(|settings| {
        let named = PATH_SETTINGS.iter().filter_map(|key| settings.get(*key));
        named.flat_map(texts).map(|path| ("file", Path::new(path)))
    });
    let read = inputs
        .map(|input| ("input", input.as_path()))
        .chain(baselines.iter().map(|baseline| ("baseline", baseline.as_path())))
        .chain(pipeline.decisions_files.iter().map(|file| ("file of decisions", file.as_path())))
        .chain(others);
    for (what, path) in read {
        let is_inside = path.canonicalize().is_ok_and(|found| found != real && found.starts_with(&real));
        if is_inside {
            return refuse(format!(
                "{what} {}: this is inside the run folder {} that this run writes into and removes files from\nhint: give another folder with --out, or copy what is read to a place outside",
                path.display(),
                out.display()
            ));
        }
    }
    Ok(())
}

/// The texts of a setting: one, or a list of them.
fn texts(setting: &Value) -> impl Iterator<Item = &str> {
    let list = setting.as_array().map(Vec::as_slice).unwrap_or_default();
    setting.as_str().into_iter().chain(list.iter().filter_map(Value::as_str))
}

fn refuse_run_in_run(out: &Path, real: &Path) -> Result<(), Error> {
    let Some(run) = run_around(real) else { return Ok(()) };
    refuse(format!(
        "run folder {}: this is inside the run folder {}, where callsieve replaces and removes files\nhint: give a folder outside it with --out",
        out.display(),
        run.display()
    ))
}

/// Checks the outputs that a person names, each with its flag: none replaces an input or another output, or is in a run
/// folder. Every flag that names a file to write is checked here before anything is written.
///
/// # Errors
/// One is an input or another output under any name, or in a run folder.
pub fn check_outputs(outputs: &[(&str, &Path)], inputs: &[PathBuf]) -> Result<(), Error> {
    for (at, (flag, out)) in outputs.iter().enumerate() {
        check_output(flag, out, inputs)?;
        if let Some((other, _)) = outputs[..at].iter().find(|(_, path)| is_same_output(path, out)) {
            return refuse(format!(
                "{}: this is the file of {other}, too\nhint: name another file with {flag}",
                out.display()
            ));
        }
    }
    Ok(())
}

/// Checks that an output that a person names with a flag replaces no input, and is in no run folder.
///
/// # Errors
/// It is one of the inputs under any name, or in a run folder.
pub fn check_output(flag: &str, out: &Path, inputs: &[PathBuf]) -> Result<(), Error> {
    let shown = out.display();
    let real = out.canonicalize().unwrap_or_else(|_| out.to_owned());
    let run = if is_run(&real) { Some(real.clone()) } else { run_around(out).or_else(|| run_around(&real)) };
    if let Some(run) = run {
        return refuse(format!(
            "{shown}: this is inside the run folder {}, where callsieve replaces and removes files\nhint: name a file outside it with {flag}",
            run.display()
        ));
    }
    if let Some(input) = inputs.iter().find(|input| is_same_file(input, &real)) {
        return refuse(format!(
            "{shown}: this is the input {}, which would be overwritten\nhint: name another file with {flag}",
            input.display()
        ));
    }
    Ok(())
}

/// Whether two outputs are one file, there already or not. Devices and pipes can take several.
fn is_same_output(one: &Path, other: &Path) -> bool {
    if one.metadata().is_ok_and(|facts| !facts.is_file()) {
        return false;
    }
    is_same_file(one, other) || std::path::absolute(one).ok() == std::path::absolute(other).ok()
}

/// Whether two paths lead to one file, by links of either kind.
fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) {
        use std::os::unix::fs::MetadataExt as _;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
