//! Checks that every file of a run folder is unchanged.
//!
//! Each file is read once and compared with the checksum in the manifest of its step, or in `run.json` for tables,
//! reports and dataset. Nothing is changed. The content of the files is not interpreted, because damaged files may hold
//! anything.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{At as _, Error, Result, damaged};
use super::forgotten::Forgotten;
use super::layout::{
    DATASET, DECISIONS, EARLIER, FORGOTTEN_LIST, INGEST, LOCK, MANIFEST, MARKER, OUTCOME, PARTS, RUN_FILE,
    SPENT, SPOOL, STAGES, step_name,
};
use super::manifest::{read_own, sealed_manifest, sealed_run_file, step_folders};
use super::marker::has_marker;
use super::seal::{Files, SealFault, SealFaultKind, unexpected};

/// The result of a check.
#[derive(Debug, Default, Serialize)]
pub struct Verified {
    /// Files that were checked.
    pub files: u64,
    /// Their expected length in bytes.
    pub bytes: u64,
    /// The run is finished; otherwise only its steps can be checked.
    pub finished: bool,
    /// The faults, by file.
    pub faults: Vec<SealFault>,
}

/// The keys that connect a step with the one before it; the manifests hold more.
#[derive(Deserialize)]
struct StepKeys {
    key: String,
    upstream: Option<String>,
}

impl Verified {
    /// Returns `true` if no file is damaged or missing and no command was interrupted while it changed some.
    pub fn is_whole(&self) -> bool {
        self.faults.iter().all(|fault| fault.fault == SealFaultKind::Unexpected)
    }

    fn files(&mut self, files: &Files) {
        self.files += files.names().count() as u64;
        self.bytes += files.bytes();
    }

    fn fault(&mut self, file: impl Into<String>, fault: SealFaultKind, detail: &str) {
        self.faults.push(SealFault::new(file, fault, detail));
    }

    fn step(&mut self, run: &Path, step: &str) -> Result<Option<StepKeys>> {
        let manifest = format!("{step}/{MANIFEST}");
        self.files += 1;
        let sealed = match sealed_manifest::<StepKeys>(run, step) {
            Ok(Some(sealed)) => sealed,
            Ok(None) => {
                self.fault(manifest, SealFaultKind::Missing, "the step is not finished");
                return Ok(None);
            }
            Err(Error::Damaged { what, .. }) => {
                self.fault(manifest, SealFaultKind::Damaged, &what);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.files(&sealed.files);
        let folder = run.join(step);
        let faults = [sealed.files.faults(&folder), sealed.files.unexpected(&folder)?].concat();
        self.faults.extend(faults.into_iter().map(|fault| fault.below(step)));
        if sealed.files.is_rewriting() {
            let detail = "a purge or forget was interrupted; the same command finishes it";
            self.fault(manifest, SealFaultKind::Unfinished, detail);
        }
        Ok(Some(sealed.value))
    }

    /// Checks tables, reports and dataset. Returns the names of the stages.
    fn outcome(&mut self, run: &Path) -> Result<Option<Vec<String>>> {
        if !run.join(RUN_FILE).exists() {
            let made = OUTCOME.into_iter().chain([DATASET]).find(|name| run.join(name).exists());
            if let Some(made) = made {
                self.fault(RUN_FILE, SealFaultKind::Missing, &format!("{made} exists without it"));
            }
            return Ok(None);
        }
        self.files += 1;
        let sealed = match sealed_run_file(run) {
            Ok(sealed) => sealed,
            Err(Error::Damaged { what, .. }) => {
                self.fault(RUN_FILE, SealFaultKind::Damaged, &what);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.finished = true;
        if is_forgetting(run)? {
            let detail = "a forget was interrupted; the same command finishes it";
            self.fault(FORGOTTEN_LIST, SealFaultKind::Unfinished, detail);
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

    /// Finds entries of the run folder and of `stages` that belong to no run.
    fn strangers(&mut self, run: &Path, steps: &BTreeSet<String>) -> Result<()> {
        let ours = [
            MARKER,
            LOCK,
            RUN_FILE,
            EARLIER,
            FORGOTTEN_LIST,
            SPOOL,
            SPENT,
            INGEST,
            STAGES,
            PARTS,
            DATASET,
            DECISIONS,
        ];
        if self.finished && run.join(PARTS).exists() {
            let detail = "raw text of parts of a run that is finished; `callsieve purge --raw` removes it";
            self.fault(PARTS, SealFaultKind::Unfinished, detail);
        }
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

/// Returns `true` if a forget was interrupted, so that `run.json` no longer matches the files.
fn is_forgetting(run: &Path) -> Result<bool> {
    Ok(Forgotten::read(run)?.unfinished)
}

/// Checks every file of a run folder.
///
/// # Errors
/// It is not a run folder, or cannot be read.
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
            verified.fault(FORGOTTEN_LIST, SealFaultKind::Damaged, &what);
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
            verified.fault(format!("{step}/{MANIFEST}"), SealFaultKind::Damaged, detail);
        }
        before = link;
    }
    verified.strangers(run, &steps)?;
    verified.faults.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(verified)
}

fn no_run_folder(run: &Path) -> Error {
    Error::Setting(format!(
        "{} is not a run folder\nhint: give the folder that `callsieve run` prints as \"run\" at its end",
        run.display()
    ))
}

/// Checks that the `wanted` tables, reports and dataset files of a finished run are unchanged. A missing dataset file
/// is not damage, because the dataset may have been moved.
///
/// # Errors
/// A file is damaged or missing.
pub fn check_outcome(run: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    let sealed = sealed_run_file(run)?;
    if is_forgetting(run)? {
        return Ok(());
    }
    let faults = sealed.files.only(wanted).faults(run);
    let is_fault =
        |fault: &SealFault| fault.fault == SealFaultKind::Damaged || !fault.file.starts_with(DATASET);
    match faults.into_iter().find(is_fault) {
        None => Ok(()),
        Some(SealFault { file, detail, .. }) => Err(damaged(&run.join(file), detail)),
    }
}

/// Returns the first fault of the `wanted` files of a finished run, because a run that another one builds on must be
/// complete. A file in its dataset that the run did not write is a fault too. `None` for a folder without a run.
///
/// # Errors
/// The run is not finished, or its folder cannot be read.
pub fn fault_of_outcome(run: &Path, wanted: impl Fn(&str) -> bool) -> Result<Option<SealFault>> {
    if !run.join(RUN_FILE).exists() && !has_marker(run)? {
        return Ok(None);
    }
    let sealed = sealed_run_file(run)?;
    if is_forgetting(run)? {
        let detail = "a forget was interrupted; the same command finishes it";
        return Ok(Some(SealFault::new(FORGOTTEN_LIST, SealFaultKind::Unfinished, detail)));
    }
    let files = sealed.files.only(&wanted);
    let dataset = run.join(DATASET);
    let found = if dataset.is_dir() { Files::default().unexpected(&dataset)? } else { Vec::new() };
    let is_new = |fault: &SealFault| wanted(&fault.file) && files.get(&fault.file).is_none();
    let new = found.into_iter().map(|fault| fault.below(DATASET)).find(is_new);
    Ok(files.faults(run).into_iter().next().or(new))
}
