//! The sealed files of a run: the manifests of its steps, and `run.json`.
//!
//! A step whose folder has a manifest is finished. `run.json` is the last file that a run writes. The checksums of both
//! are checked when they are read; see `seal`.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::disk::{check_access, is_link, remove, sync_folder};
use super::error::{At, Error, Result, damaged};
use super::fingerprint::sha256_until;
use super::layout::{DATASET, EARLIER, MANIFEST, OUTCOME, RUN_FILE, STAGES};
use super::marker::{check_format, has_marker, run_command};
use super::seal::{Files, Sealed, names_below, read_sealed, write_sealed};

/// The content of `run.json`: inputs, pipeline and version of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunFile {
    /// Version of the program.
    pub version: String,
    /// The format of the run folder; builds of format 1 did not write it.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The pipeline as resolved, with defaults and flags.
    pub pipeline: serde_json::Value,
    /// The seed.
    pub seed: u64,
    /// The inputs, in the order given.
    pub inputs: Vec<InputFile>,
    /// The files of earlier datasets that were read.
    #[serde(default)]
    pub baselines: Vec<InputFile>,
    /// The folder names of the steps, in order.
    pub steps: Vec<String>,
    /// Command line.
    pub command: Vec<String>,
    /// How many decisions of reviewers, which are in the run folder, were given to the stages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reviewed: u64,
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn first_format() -> u32 {
    1
}

/// An input file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// The path as given.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

impl InputFile {
    /// Returns a file with its hash and its size, until the user asks to stop.
    ///
    /// # Errors
    /// The file cannot be read, or the user asked to stop.
    pub fn read(path: &Path, cancelled: &dyn Fn() -> bool) -> Result<Self> {
        let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
        Ok(Self { path: path.display().to_string(), sha256: sha256_until(path, cancelled)?, bytes })
    }
}

/// Writes `run.json`, the last file of a run, with checksums of the tables, the reports and the dataset. It syncs these
/// to disk first.
///
/// # Errors
/// A file cannot be read or written.
pub fn write_run_file(run: &Path, file: &RunFile) -> Result<()> {
    let dataset = run.join(DATASET);
    let (names, folders) = if dataset.is_dir() { names_below(&dataset)? } else { (Vec::new(), Vec::new()) };
    let in_dataset = names.into_iter().map(|name| format!("{DATASET}/{name}"));
    let files = Files::of_names(run, OUTCOME.map(str::to_owned).into_iter().chain(in_dataset).collect())?;
    if dataset.is_dir() {
        folders.iter().map(|below| dataset.join(below)).try_for_each(|folder| sync_folder(&folder))?;
        sync_folder(&dataset)?;
    }
    write_sealed(&run.join(RUN_FILE), file, &files)?;
    remove(&run.join(EARLIER))
}

/// Reads `run.json` of a run folder.
///
/// # Errors
/// There is none, it cannot be read, or the run has another format.
pub fn read_run_file(run: &Path) -> Result<RunFile> {
    Ok(sealed_run_file(run)?.value)
}

/// Reads `run.json` of a run folder or, while a run in it is not finished, of the run before it.
///
/// # Errors
/// As [`read_run_file`].
pub fn read_run_file_or_earlier(run: &Path) -> Result<RunFile> {
    let earlier = run.join(EARLIER);
    match read_run_file(run) {
        Err(Error::Unfinished { .. }) if earlier.join(RUN_FILE).is_file() => {
            Ok(sealed_run_file_in(run, &earlier)?.value)
        }
        read => read,
    }
}

pub(super) fn sealed_run_file(run: &Path) -> Result<Sealed<RunFile>> {
    let path = run.join(RUN_FILE);
    check_access(&path)?;
    if path.is_file() {
        return sealed_run_file_in(run, run);
    }
    let path = run.to_owned();
    let is_begun = has_marker(run)?;
    Err(if is_begun { Error::Unfinished { command: run_command(run), path } } else { Error::NoRun(path) })
}

/// Reads the `run.json` in a folder of a run.
pub(super) fn sealed_run_file_in(run: &Path, folder: &Path) -> Result<Sealed<RunFile>> {
    let sealed: Sealed<RunFile> = read_own(run, &folder.join(RUN_FILE))?;
    check_format(run, &sealed.value.format.to_string())?;
    Ok(sealed)
}

/// Returns the manifest of a finished step of any run; `None` if it is not finished.
///
/// # Errors
/// There is a manifest, but it cannot be read, or a file of the step is not as it was written.
pub fn read_manifest<M: DeserializeOwned>(run: &Path, step: &str) -> Result<Option<M>> {
    let Some(Sealed { value, files, .. }) = sealed_manifest(run, step)? else { return Ok(None) };
    let folder = run.join(step);
    match files.faults(&folder).into_iter().next() {
        None => Ok(Some(value)),
        Some(fault) => Err(damaged(&folder.join(&fault.file), fault.detail)),
    }
}

pub(super) fn sealed_manifest<M: DeserializeOwned>(run: &Path, step: &str) -> Result<Option<Sealed<M>>> {
    let path = run.join(step).join(MANIFEST);
    check_access(&path)?;
    if path.exists() { read_own(run, &path).map(Some) } else { Ok(None) }
}

/// Reads a sealed file of a run. Early builds, which wrote no folder markers, wrote no checksums either.
pub(super) fn read_own<M: DeserializeOwned>(run: &Path, path: &Path) -> Result<Sealed<M>> {
    let sealed = read_sealed(path)?;
    if sealed.is_sealed || !has_marker(run)? {
        Ok(sealed)
    } else {
        Err(damaged(path, "the checksum is missing"))
    }
}

/// Returns the folders in `stages` that are named like steps, in order, including those of interrupted steps.
pub(super) fn step_folders(run: &Path) -> Result<Vec<String>> {
    let stages = run.join(STAGES);
    let mut names = Vec::new();
    if is_link(&stages) {
        return Err(Error::Link(stages));
    }
    if !stages.is_dir() {
        return Ok(names);
    }
    for entry in fs::read_dir(&stages).at("reading", &stages)? {
        let entry = entry.at("reading", &stages)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        let is_step = digits >= 2 && name.as_bytes().get(digits) == Some(&b'-');
        if is_step && entry.file_type().at("reading", &stages)?.is_dir() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
