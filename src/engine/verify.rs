//! Checks that every file of a run folder is as it was written.
//!
//! Each file is read once and held against the checksum in the manifest of its step, or in `run.json` for tables,
//! reports and dataset. Nothing is changed, and no file is read for what it says: damaged ones may say anything.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{At as _, Error, Result, damaged};
use super::forgotten::Forgotten;
use super::layout::{
    DATASET, FORGOTTEN_LIST, INGEST, LOCK, MANIFEST, MARKER, OUTCOME, RUN_FILE, SPOOL, STAGES, step_name,
};
use super::manifest::{read_own, sealed_manifest, sealed_run_file, step_folders};
use super::marker::has_marker;
use super::seal::{Fault, FaultKind, Files, unexpected};

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Verified {
    /// Files that were checked.
    pub files: u64,
    /// Their length as it must be.
    pub bytes: u64,
    /// The run is finished; otherwise only its steps can be checked.
    pub finished: bool,
    /// What is wrong, by file.
    pub faults: Vec<Fault>,
}

/// What ties a step to the one before it; the manifests of ingest and of stages have more.
#[derive(Deserialize)]
struct Link {
    key: String,
    upstream: Option<String>,
}

impl Verified {
    /// No file is damaged or missing, and no command was cut off while it changed some.
    pub fn is_whole(&self) -> bool {
        self.faults.iter().all(|fault| fault.fault == FaultKind::Unexpected)
    }

    fn files(&mut self, files: &Files) {
        self.files += files.names().count() as u64;
        self.bytes += files.bytes();
    }

    fn fault(&mut self, file: impl Into<String>, fault: FaultKind, detail: &str) {
        self.faults.push(Fault::new(file, fault, detail));
    }

    fn step(&mut self, run: &Path, step: &str) -> Result<Option<Link>> {
        let manifest = format!("{step}/{MANIFEST}");
        self.files += 1;
        let sealed = match sealed_manifest::<Link>(run, step) {
            Ok(Some(sealed)) => sealed,
            Ok(None) => {
                self.fault(manifest, FaultKind::Missing, "the step is not finished");
                return Ok(None);
            }
            Err(Error::Damaged { what, .. }) => {
                self.fault(manifest, FaultKind::Damaged, &what);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.files(&sealed.files);
        let folder = run.join(step);
        let faults = [sealed.files.faults(&folder), sealed.files.unexpected(&folder)?].concat();
        self.faults.extend(faults.into_iter().map(|fault| fault.below(step)));
        if sealed.files.is_rewriting() {
            let detail = "a purge or forget was cut off; the same command finishes it";
            self.fault(manifest, FaultKind::Unfinished, detail);
        }
        Ok(Some(sealed.value))
    }

    /// Tables, reports and dataset; gives the names of the stages.
    fn outcome(&mut self, run: &Path) -> Result<Option<Vec<String>>> {
        if !run.join(RUN_FILE).exists() {
            let made = OUTCOME.into_iter().chain([DATASET]).find(|name| run.join(name).exists());
            if let Some(made) = made {
                self.fault(RUN_FILE, FaultKind::Missing, &format!("{made} is there without it"));
            }
            return Ok(None);
        }
        self.files += 1;
        let sealed = match sealed_run_file(run) {
            Ok(sealed) => sealed,
            Err(Error::Damaged { what, .. }) => {
                self.fault(RUN_FILE, FaultKind::Damaged, &what);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.finished = true;
        if is_forgetting(run)? {
            let detail = "a forget was cut off; the same command finishes it";
            self.fault(FORGOTTEN_LIST, FaultKind::Unfinished, detail);
        } else {
            self.files(&sealed.files);
            self.faults.extend(sealed.files.faults(run));
            let in_dataset = |name: &str| name.strip_prefix("dataset/").map(str::to_owned);
            let names: BTreeSet<String> = sealed.files.names().filter_map(in_dataset).collect();
            if run.join(DATASET).is_dir() {
                let found = Files::default().unexpected(&run.join(DATASET))?;
                let new = found.into_iter().filter(|fault| !names.contains(&fault.file));
                self.faults.extend(new.map(|fault| fault.below(DATASET)));
            }
        }
        Ok(Some(sealed.value.steps))
    }

    /// What is in the run folder and in `stages`, and belongs to no run.
    fn strangers(&mut self, run: &Path, steps: &BTreeSet<String>) -> Result<()> {
        let ours = [MARKER, LOCK, RUN_FILE, FORGOTTEN_LIST, SPOOL, INGEST, STAGES, DATASET];
        for name in names_in(run)? {
            if !ours.contains(&&*name) && !OUTCOME.contains(&&*name) {
                self.faults.push(unexpected(name));
            }
        }
        if run.join(STAGES).is_dir() {
            let names = names_in(&run.join(STAGES))?.into_iter().filter(|name| !steps.contains(name));
            self.faults.extend(names.map(|name| unexpected(name).below(STAGES)));
        }
        Ok(())
    }
}

fn names_in(folder: &Path) -> Result<BTreeSet<String>> {
    let names = std::fs::read_dir(folder).at("reading", folder)?;
    names.map(|entry| Ok(entry.at("reading", folder)?.file_name().to_string_lossy().into_owned())).collect()
}

/// Whether a forget was cut off, so that `run.json` no longer fits what it speaks of.
fn is_forgetting(run: &Path) -> Result<bool> {
    Ok(Forgotten::read(run)?.unfinished)
}

/// Checks every file of a run folder.
///
/// # Errors
/// It is no run folder, or cannot be read.
pub fn verify(run: &Path) -> Result<Verified> {
    if !has_marker(run)? {
        let is_run = run.join(RUN_FILE).is_file();
        return Err(if is_run { Error::Unmarked(run.to_owned()) } else { no_run_folder(run) });
    }
    let mut verified = Verified::default();
    let forgotten = run.join(FORGOTTEN_LIST);
    if forgotten.exists() {
        verified.files += 1;
        if let Err(Error::Damaged { what, .. }) = read_own::<Forgotten>(run, &forgotten) {
            verified.fault(FORGOTTEN_LIST, FaultKind::Damaged, &what);
            return Ok(verified);
        }
    }
    let ids = verified.outcome(run)?;
    let is_done = |name: &String| !name.ends_with(".partial");
    let mut steps: BTreeSet<String> = step_folders(run)?.into_iter().filter(is_done).collect();
    steps.extend(ids.iter().flatten().enumerate().map(|(at, id)| step_name(at, id)));
    let has_ingest = verified.finished || run.join(INGEST).exists();
    let mut before = if has_ingest { verified.step(run, INGEST)? } else { None };
    for step in &steps {
        let step = format!("{STAGES}/{step}");
        let link = verified.step(run, &step)?;
        if let (Some(before), Some(link)) = (&before, &link)
            && link.upstream.as_ref() != Some(&before.key)
            && verified.finished
        {
            let detail = "computed from another result of the step before it";
            verified.fault(format!("{step}/{MANIFEST}"), FaultKind::Damaged, detail);
        }
        before = link;
    }
    verified.strangers(run, &steps)?;
    verified.faults.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(verified)
}

fn no_run_folder(run: &Path) -> Error {
    Error::Setting(format!(
        "{} is not a run folder\nhint: name the folder that `toolsieve run` calls \"run\" at its end",
        run.display()
    ))
}

/// Makes sure that those of a finished run's tables, reports and dataset files that are `wanted` are as they were
/// written. One of the dataset that is gone is no damage: the dataset may have been moved away.
///
/// # Errors
/// One is damaged, or lacks.
pub fn check_outcome(run: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    let sealed = sealed_run_file(run)?;
    if is_forgetting(run)? {
        return Ok(());
    }
    let faults = sealed.files.only(wanted).faults(run);
    let is_fault = |fault: &Fault| fault.fault == FaultKind::Damaged || !fault.file.starts_with(DATASET);
    match faults.into_iter().find(is_fault) {
        None => Ok(()),
        Some(Fault { file, detail, .. }) => Err(damaged(&run.join(file), detail)),
    }
}

/// The first fault of those of a finished run's files that are `wanted`, where there is one: what another run builds on must be
/// all there. A file of its dataset that the run did not write is a fault too. Nothing for a folder that is no run's.
///
/// # Errors
/// The run is not finished, or its folder cannot be read.
pub fn fault_of_outcome(run: &Path, wanted: impl Fn(&str) -> bool) -> Result<Option<Fault>> {
    if !run.join(RUN_FILE).exists() && !has_marker(run)? {
        return Ok(None);
    }
    let sealed = sealed_run_file(run)?;
    if is_forgetting(run)? {
        let detail = "a forget was cut off; the same command finishes it";
        return Ok(Some(Fault::new(FORGOTTEN_LIST, FaultKind::Unfinished, detail)));
    }
    let files = sealed.files.only(&wanted);
    let dataset = run.join(DATASET);
    let found = if dataset.is_dir() { Files::default().unexpected(&dataset)? } else { Vec::new() };
    let is_new = |fault: &Fault| wanted(&fault.file) && files.get(&fault.file).is_none();
    let new = found.into_iter().map(|fault| fault.below(DATASET)).find(is_new);
    Ok(files.faults(run).into_iter().next().or(new))
}
