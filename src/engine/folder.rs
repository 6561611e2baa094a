//! The run folder: who has it, what is done in it, and how files get there.
//!
//! A step writes into `<name>.partial` and the folder is renamed when its manifest is
//! inside, so a folder without `.partial` is a finished step, whenever the process was killed.
//! Single files are written beside and renamed. What holds text as it was logged is for its owner alone
//! (on Unix; elsewhere the folder's own rights hold).

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::entries::ENTRIES;
use super::error::{At, Error, Result, damaged};

const LOCK: &str = ".lock";
const RUN_FILE: &str = "run.json";
const MANIFEST: &str = "manifest.json";
/// What forgetting records did to the rows of a finished run.
pub(super) const FORGOTTEN_FATES: &str = "forgotten.parquet";

/// A run folder that this process has to itself until it is dropped.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held for its lock.
    _lock: File,
}

impl RunFolder {
    /// Takes a folder for a run, making it where it does not exist.
    ///
    /// # Errors
    /// Another run has it, it holds something that is no run, or it cannot be made.
    pub fn take(path: &Path) -> Result<Self> {
        let command: Vec<String> = std::env::args().collect();
        Self::lock(path, &command.join(" "))
    }

    /// Takes the folder of a run that is there; `command` is what others are told who find it taken.
    ///
    /// # Errors
    /// There is no run, or another process has it.
    pub fn take_existing(path: &Path, command: &str) -> Result<Self> {
        if path.join(LOCK).is_file() { Self::lock(path, command) } else { Err(Error::NoRun(path.to_owned())) }
    }

    fn lock(path: &Path, command: &str) -> Result<Self> {
        if path.is_dir()
            && !path.join(LOCK).exists()
            && fs::read_dir(path).at("reading", path)?.next().is_some()
        {
            return Err(Error::NotARun(path.to_owned()));
        }
        fs::create_dir_all(path).at("making", path)?;
        let lock_path = path.join(LOCK);
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&lock_path)
            .at("opening", &lock_path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // Who has it is told as far as it can be read; that it is locked is certain.
                let _ = lock.read_to_string(&mut owner);
                let owner = if owner.is_empty() { "another process".to_owned() } else { owner };
                return Err(Error::Locked { path: path.to_owned(), owner });
            }
            Err(TryLockError::Error(source)) => return Err(source).at("locking", &lock_path),
        }
        lock.set_len(0).at("writing", &lock_path)?;
        write!(lock, "process {}: {command}", std::process::id()).at("writing", &lock_path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Removes everything a run made here, but for the list of forgotten records.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn clear(&self) -> Result<()> {
        self.remove_outcome()?;
        for name in ["ingest", "ingest.partial", "stages"] {
            remove_folder(&self.path.join(name))?;
        }
        remove_file(&self.spool())
    }

    /// Where standard input is copied to, as it was read.
    pub fn spool(&self) -> PathBuf {
        self.path.join("stdin")
    }

    /// Removes the copy of standard input; gives its size where there was one.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_spool(&self) -> Result<Option<u64>> {
        let spool = self.spool();
        let Ok(metadata) = fs::metadata(&spool) else { return Ok(None) };
        remove_file(&spool)?;
        sync_folder(&self.path)?;
        Ok(Some(metadata.len()))
    }

    /// Removes what tells a whole run, so that nothing of an earlier one is taken for this one's.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove_outcome(&self) -> Result<()> {
        remove_folder(&self.path.join("dataset"))?;
        remove_folder(&self.path.join("dataset.partial"))?;
        for name in [
            RUN_FILE,
            "report.json",
            "report.html",
            "ledger.parquet",
            "rows.parquet",
            "lists.parquet",
            ENTRIES,
            FORGOTTEN_FATES,
        ] {
            let path = self.path.join(name);
            remove_file(&path)?;
            remove_file(&beside(&path))?;
        }
        Ok(())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes stage folders that the pipeline does not have (any more) and steps that were cut off.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn keep_stages(&self, names: &[String]) -> Result<()> {
        let stages = self.path.join("stages");
        if !stages.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(&stages).at("reading", &stages)? {
            let entry = entry.at("reading", &stages)?;
            if !names.iter().any(|name| entry.file_name() == name.as_str()) {
                self.remove_outcome()?;
                remove_folder(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Starts a step: an empty folder to write into.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn begin(&self, step: &str) -> Result<Step> {
        let done = self.path.join(step);
        let partial = done.with_file_name(format!(
            "{}.partial",
            done.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
        ));
        remove_folder(&partial)?;
        fs::create_dir_all(&partial).at("making", &partial)?;
        Ok(Step { partial, done })
    }

    /// Starts a step whose folder only its owner may enter.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn begin_private(&self, step: &str) -> Result<Step> {
        let step = self.begin(step)?;
        owner_only(&step.partial, 0o700).at("making", &step.partial)?;
        Ok(step)
    }

    /// Removes what steps that were cut off left behind.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove_partial(&self) -> Result<()> {
        for folder in [self.path.clone(), self.path.join("ingest"), self.path.join("stages")] {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries {
                let path = entry.at("reading", &folder)?.path();
                if path.extension().is_some_and(|extension| extension == "partial") {
                    remove_folder(&path)?;
                    remove_file(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Replaces the manifest of a finished step.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_manifest<M: Serialize>(&self, step: &str, manifest: &M) -> Result<()> {
        write_json(&self.path.join(step).join(MANIFEST), manifest)
    }

    /// The manifest of a finished step; `None` where it is not finished.
    ///
    /// # Errors
    /// There is a manifest, but it cannot be read.
    pub fn manifest<M: DeserializeOwned>(&self, step: &str) -> Result<Option<M>> {
        read_manifest(&self.path, step)
    }
}

/// The manifest of a finished step of a run that need not be ours; `None` where it is not finished.
///
/// # Errors
/// There is a manifest, but it cannot be read.
pub fn read_manifest<M: DeserializeOwned>(run: &Path, step: &str) -> Result<Option<M>> {
    let path = run.join(step).join(MANIFEST);
    if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
}

/// A step being written.
#[derive(Debug)]
pub struct Step {
    partial: PathBuf,
    done: PathBuf,
}

impl Step {
    /// Where a file of the step is written now.
    pub fn file(&self, name: &str) -> PathBuf {
        self.partial.join(name)
    }

    /// Where a file of the step will be once the step is done.
    pub fn done_file(&self, name: &str) -> PathBuf {
        self.done.join(name)
    }

    /// The folder being written.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Ends the step: the manifest is written and the folder gets its name.
    ///
    /// # Errors
    /// A file cannot be written or renamed.
    pub fn finish<M: Serialize>(self, manifest: &M) -> Result<()> {
        write_json(&self.partial.join(MANIFEST), manifest)?;
        self.rename()
    }

    /// Ends a step that keeps no manifest.
    ///
    /// # Errors
    /// The folder cannot be renamed.
    pub fn rename(self) -> Result<()> {
        remove_folder(&self.done)?;
        fs::rename(&self.partial, &self.done).at("renaming", &self.partial)
    }
}

fn remove_folder(path: &Path) -> Result<()> {
    if path.is_dir() { fs::remove_dir_all(path).at("removing", path) } else { Ok(()) }
}

/// The folder that a variable of the environment names, or else the one below `~/.cache/toolsieve`.
pub fn cache_folder(variable: &str, below: &str) -> PathBuf {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder(variable).unwrap_or_else(|| {
        folder("HOME").unwrap_or_else(|| PathBuf::from(".")).join(".cache/toolsieve").join(below)
    })
}

/// Where a file is written before it gets its name.
pub(super) fn beside(path: &Path) -> PathBuf {
    path.with_extension("partial")
}

fn remove_file(path: &Path) -> Result<()> {
    if path.exists() { fs::remove_file(path).at("removing", path) } else { Ok(()) }
}

/// Makes a file that only its owner may read: it holds text as it was logged.
///
/// # Errors
/// The file cannot be made.
pub fn create_private(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).at("making", path)?;
    // A file that was there before keeps the rights it had.
    owner_only(path, 0o600).at("making", path)?;
    Ok(file)
}

#[cfg(unix)]
fn owner_only(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // The same signature as on Unix.
fn owner_only(_path: &Path, _mode: u32) -> std::io::Result<()> {
    Ok(())
}

/// Gives a file that was written beside its place its name, and makes sure that it is on disk: what it replaces
/// must not come back after a crash.
pub(super) fn put_in_place(beside: &Path, path: &Path) -> Result<()> {
    File::open(beside).and_then(|file| file.sync_all()).at("writing", beside)?;
    fs::rename(beside, path).at("renaming", beside)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes sure that renames and removals in a folder are on disk.
fn sync_folder(folder: &Path) -> Result<()> {
    // Elsewhere a folder cannot be opened like a file; the system keeps its entries.
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).at("writing", folder)?;
    }
    Ok(())
}

/// Writes a file beside its place and renames it.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = beside(path);
    #[allow(clippy::disallowed_methods)] // This is the door that the ban names.
    fs::write(&beside, bytes).at("writing", &beside)?;
    fs::rename(&beside, path).at("renaming", &beside)
}

/// Writes a file like [`write_atomic`], and makes sure that it is on disk.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_durable(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomic(path, bytes)?;
    put_in_place(path, path)
}

/// Writes a value as indented JSON with a final newline.
///
/// # Errors
/// The file cannot be written.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| damaged(path, error))?;
    bytes.push(b'\n');
    write_atomic(path, &bytes)
}

/// Reads a JSON file of the run folder.
///
/// # Errors
/// The file cannot be read or is not what it should be.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).at("reading", path)?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, error))
}

/// The run as it was started: what was read, with what, by which version.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunFile {
    /// Version of the program.
    pub version: String,
    /// The pipeline as resolved: defaults, flags and all.
    pub pipeline: serde_json::Value,
    /// The seed.
    pub seed: u64,
    /// The inputs, in the order given.
    pub inputs: Vec<InputFile>,
    /// The files of earlier datasets that were read.
    #[serde(default)]
    pub baselines: Vec<InputFile>,
    /// Steps in order, with the names of their folders.
    pub steps: Vec<String>,
    /// Command line.
    pub command: Vec<String>,
}

/// An input file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// As given.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// Writes `run.json`.
///
/// # Errors
/// The file cannot be written.
pub fn write_run_file(run: &Path, file: &RunFile) -> Result<()> {
    write_json(&run.join(RUN_FILE), file)
}

/// Reads `run.json` of a run folder.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn read_run_file(run: &Path) -> Result<RunFile> {
    let path = run.join(RUN_FILE);
    if !path.is_file() {
        return Err(Error::NoRun(run.to_owned()));
    }
    read_json(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_is_told_who_has_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let first = RunFolder::take(&path).unwrap();
        let error = RunFolder::take(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        drop(first);
        RunFolder::take(&path).unwrap();
    }

    #[test]
    fn a_folder_of_other_things_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "x").unwrap();
        assert!(matches!(RunFolder::take(folder.path()), Err(Error::NotARun(_))));
    }

    #[test]
    fn a_step_is_there_only_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::take(&folder.path().join("run")).unwrap();
        let step = run.begin("stages/01-a").unwrap();
        fs::write(step.file("x"), "1").unwrap();
        assert_eq!(run.manifest::<u8>("stages/01-a").unwrap(), None);
        step.finish(&7_u8).unwrap();
        assert_eq!(run.manifest::<u8>("stages/01-a").unwrap(), Some(7));
        assert!(run.path().join("stages/01-a/x").is_file());
    }
}
