//! The run folder: whose it is, who has it, what is done in it, and how files get there.
//!
//! A run folder is known by its marker, a file that only toolsieve writes. A folder that holds anything else is left
//! alone, and nothing is written or removed through a symbolic link.
//!
//! A step writes into `<name>.partial`. When it ends its files are synced and hashed, the manifest with their
//! checksums is written, and the folder is renamed: a folder without `.partial` is a finished step, whenever the
//! process was killed or the power went. Single files are written beside and renamed. What holds text as it was logged
//! is for its owner alone (on Unix; elsewhere the folder's own rights hold).

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::entries::ENTRIES;
use super::error::{At, Error, Result, damaged};
use super::links::LINKS;
use super::marker::{self, Nature, has_marker, is_link, nature};
use super::others::refuse_others;
use super::seal::{Files, Sealed, names_below, read_sealed, write_sealed};

pub(super) const RUN_FILE: &str = "run.json";
pub(crate) const MANIFEST: &str = "manifest.json";
/// What forgetting records did to the rows of a finished run.
pub(crate) const FORGOTTEN_FATES: &str = "forgotten.parquet";
/// What forgetting records left to know of them.
pub(super) const FORGOTTEN_LIST: &str = "forgotten.json";
pub(super) const DATASET: &str = "dataset";
pub(crate) const INGEST: &str = "ingest";
pub(crate) const STAGES: &str = "stages";
pub(super) const SPOOL: &str = "stdin";

/// What tells a whole run, beside its dataset.
pub(super) const OUTCOME: [&str; 8] = [
    "report.json",
    "report.html",
    "ledger.parquet",
    "rows.parquet",
    "lists.parquet",
    LINKS,
    ENTRIES,
    FORGOTTEN_FATES,
];

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
        Self::take_as(path, env!("CARGO_PKG_NAME"))
    }

    /// The same; `command` is what others are told who find it taken.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_as(path: &Path, command: &str) -> Result<Self> {
        let folder = Self::lock(path, command)?;
        refuse_others(path)?;
        Ok(folder)
    }

    /// Takes the folder of a run that is there; `command` is what others are told who find it taken.
    ///
    /// # Errors
    /// There is no run, or another process has it.
    pub fn take_existing(path: &Path, command: &str) -> Result<Self> {
        match nature(path)? {
            Nature::Run => Self::lock(path, command),
            Nature::Free | Nature::Foreign => Err(Error::NoRun(path.to_owned())),
            Nature::Unmarked => Err(Error::Unmarked(path.to_owned())),
        }
    }

    fn lock(path: &Path, command: &str) -> Result<Self> {
        Ok(Self { path: path.to_owned(), _lock: marker::lock(path, command)? })
    }

    /// Removes everything a run made here, except the list of forgotten records.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn clear(&self) -> Result<()> {
        self.remove_outcome()?;
        for name in [INGEST, STAGES, SPOOL] {
            remove(&self.path.join(name))?;
        }
        self.remove_partial()
    }

    /// Where standard input is copied to, as it was read.
    pub fn spool(&self) -> PathBuf {
        self.path.join(SPOOL)
    }

    /// Removes the copy of standard input; gives its size where there was one.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_spool(&self) -> Result<Option<u64>> {
        let spool = self.spool();
        let Ok(metadata) = fs::symlink_metadata(&spool) else { return Ok(None) };
        remove(&spool)?;
        sync_folder(&self.path)?;
        Ok(Some(metadata.len()))
    }

    /// Removes what tells a whole run, so that nothing of an earlier one is taken for this one's.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove_outcome(&self) -> Result<()> {
        // First what says that the run is finished.
        for name in [RUN_FILE, DATASET].into_iter().chain(OUTCOME) {
            let path = self.path.join(name);
            remove(&path)?;
            remove(&beside(&path))?;
        }
        Ok(())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes stage folders that the pipeline does not have (any more) and steps that were cut off. What is not named
    /// like a step is left alone.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn keep_stages(&self, names: &[String]) -> Result<()> {
        for name in step_folders(&self.path)? {
            if !names.contains(&name) {
                self.remove_outcome()?;
                remove(&self.path.join(STAGES).join(name))?;
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
        let partial = beside(&done);
        let parent = done.parent().unwrap_or(&self.path);
        fs::create_dir_all(parent).at("making", parent)?;
        // The run folder itself may be reached by a link, since somebody named it.
        if parent != self.path && is_link(parent) {
            return Err(Error::Link(parent.to_owned()));
        }
        remove(&partial)?;
        fs::create_dir(&partial).at("making", &partial)?;
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

    /// Removes what steps and commands that were cut off left behind.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove_partial(&self) -> Result<()> {
        for name in [INGEST, DATASET] {
            remove(&beside(&self.path.join(name)))?;
        }
        for name in [RUN_FILE, FORGOTTEN_LIST].into_iter().chain(OUTCOME) {
            let partial = beside(&self.path.join(name));
            // A folder of that name is none of ours.
            if !partial.is_dir() {
                remove(&partial)?;
            }
        }
        for step in step_folders(&self.path)?.iter().filter(|step| is_partial(Path::new(step))) {
            remove(&self.path.join(STAGES).join(step))?;
        }
        for below in [INGEST, STAGES, DATASET] {
            let folder = self.path.join(below);
            if folder.is_dir() && !is_link(&folder) {
                for name in names_below(&folder)?.0.iter().filter(|name| is_partial(Path::new(name))) {
                    remove(&folder.join(name))?;
                }
            }
        }
        Ok(())
    }

    /// The manifest of a finished step; `None` where it is not finished.
    ///
    /// # Errors
    /// There is a manifest, but it cannot be read.
    pub fn manifest<M: DeserializeOwned>(&self, step: &str) -> Result<Option<M>> {
        Ok(self.sealed(step)?.map(|sealed| sealed.value))
    }

    /// The same, with the checksums of the step's files.
    pub(crate) fn sealed<M: DeserializeOwned>(&self, step: &str) -> Result<Option<Sealed<M>>> {
        sealed_manifest(&self.path, step)
    }
}

fn is_partial(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "partial")
}

/// The folders in `stages` that are named like steps, those that were cut off too, in order.
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

/// The manifest of a finished step of a run that need not be ours; `None` where it is not finished.
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
    if path.exists() { read_own(run, &path).map(Some) } else { Ok(None) }
}

/// Reads a sealed file of a run. Builds that marked no folders wrote none.
pub(super) fn read_own<M: DeserializeOwned>(run: &Path, path: &Path) -> Result<Sealed<M>> {
    let sealed = read_sealed(path)?;
    if sealed.is_sealed || !has_marker(run)? {
        Ok(sealed)
    } else {
        Err(damaged(path, "it lacks its checksum"))
    }
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

    /// Ends the step: its files are synced, the manifest with their checksums is written, and the folder gets its name.
    ///
    /// # Errors
    /// A file cannot be written or renamed.
    pub fn finish<M: Serialize>(self, manifest: &M) -> Result<()> {
        let files = Files::of_folder(&self.partial)?;
        write_sealed(&self.partial.join(MANIFEST), manifest, &files)?;
        self.rename()
    }

    /// Ends a step that keeps no manifest of its own; see [`write_run_file`].
    ///
    /// # Errors
    /// The folder cannot be renamed.
    pub fn rename(self) -> Result<()> {
        remove(&self.done)?;
        fs::rename(&self.partial, &self.done).at("renaming", &self.partial)?;
        self.done.parent().map_or(Ok(()), sync_folder)
    }
}

/// Removes a file, a link (never what it leads to) or a folder with all that is in it, where there is one.
fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        // It follows no links on its way down.
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.at("removing", path)
}

/// Where a file is written before it gets its name.
pub(crate) fn beside(path: &Path) -> PathBuf {
    path.with_added_extension("partial")
}

/// Makes a new file in place of what has its name; a link there is replaced, not followed.
///
/// # Errors
/// The file cannot be made.
pub fn create(path: &Path) -> Result<File> {
    new_file(path, File::options().write(true).create_new(true))
}

/// The same, for a file that only its owner may read: it holds text as it was logged.
///
/// # Errors
/// The file cannot be made.
pub fn create_private(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    new_file(path, &options)
}

fn new_file(path: &Path, options: &fs::OpenOptions) -> Result<File> {
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path).at("replacing", path)?;
            options.open(path).at("making", path)
        }
        made => made.at("making", path),
    }
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
pub(crate) fn put_in_place(beside: &Path, path: &Path) -> Result<()> {
    File::open(beside).and_then(|file| file.sync_all()).at("writing", beside)?;
    fs::rename(beside, path).at("renaming", beside)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes sure that renames and removals in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    // Elsewhere a folder cannot be opened like a file; the system keeps its entries.
    if cfg!(unix) {
        // The folder of a bare file name.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
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
    create(&beside)?.write_all(bytes).at("writing", &beside)?;
    fs::rename(&beside, path).at("renaming", &beside)
}

/// Writes a file like [`write_atomic`], and makes sure that it is on disk.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_durable(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = beside(path);
    create(&beside)?.write_all(bytes).at("writing", &beside)?;
    put_in_place(&beside, path)
}

/// Copies a file to `target` by way of `beside`, and makes sure that the copy is on disk.
///
/// # Errors
/// A file cannot be read, written or renamed.
pub fn copy_durable(from: &Path, beside: &Path, target: &Path) -> Result<()> {
    let mut source = File::open(from).at("reading", from)?;
    let mut copy = create(beside)?;
    std::io::copy(&mut source, &mut copy).at("writing", beside)?;
    drop(copy);
    put_in_place(beside, target)
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

/// Writes `run.json`, the last file of a run: with checksums of the tables, the reports and the dataset, which are on
/// disk from then on.
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
    write_sealed(&run.join(RUN_FILE), file, &files)
}

/// Reads `run.json` of a run folder.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn read_run_file(run: &Path) -> Result<RunFile> {
    Ok(sealed_run_file(run)?.value)
}

pub(super) fn sealed_run_file(run: &Path) -> Result<Sealed<RunFile>> {
    let path = run.join(RUN_FILE);
    if path.is_file() { read_own(run, &path) } else { Err(Error::NoRun(run.to_owned())) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::marker::{LOCK, MARKER, is_regular};
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

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_or_removed_through_a_link() {
        use std::os::unix::fs::symlink;
        let home = tempfile::tempdir().unwrap();
        let (run, other) = (home.path().join("run"), home.path().join("other"));
        fs::create_dir(&other).unwrap();
        fs::create_dir(other.join("01-mine")).unwrap();
        fs::write(other.join("precious"), "precious").unwrap();
        drop(RunFolder::take(&run).unwrap());
        for below in [INGEST, DATASET, STAGES, "stages/01-a", "dataset/data"] {
            let path = run.join(below);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(&other, &path).unwrap();
            assert!(matches!(RunFolder::take(&run), Err(Error::Link(_))), "{below}");
            fs::remove_file(&path).unwrap();
        }
        for file in [
            LOCK,
            RUN_FILE,
            "forgotten.json",
            "rows.parquet",
            "dataset/README.md.partial",
            "report.json.partial",
        ] {
            let path = run.join(file);
            let _ = fs::remove_file(&path);
            symlink(other.join("precious"), &path).unwrap();
            assert!(matches!(RunFolder::take(&run), Err(Error::Link(_))), "{file}");
            fs::remove_file(&path).unwrap();
        }
        // A link that comes while the run is at work is replaced, or refused; what it leads to stays.
        let folder = RunFolder::take(&run).unwrap();
        symlink(other.join("precious"), run.join("report.json.partial")).unwrap();
        write_atomic(&run.join("report.json"), b"{}").unwrap();
        symlink(other.join("precious"), run.join(SPOOL)).unwrap();
        create_private(&folder.spool()).unwrap();
        fs::remove_dir_all(run.join(STAGES)).unwrap();
        symlink(&other, run.join(STAGES)).unwrap();
        assert!(matches!(folder.begin("stages/01-a"), Err(Error::Link(_))));
        assert!(matches!(folder.keep_stages(&[]), Err(Error::Link(_))));
        folder.clear().unwrap();
        assert_eq!(fs::read_to_string(other.join("precious")).unwrap(), "precious");
        assert!(other.join("01-mine").is_dir());
        assert!(is_regular(&run.join(MARKER)) && !run.join(STAGES).exists());
    }

    #[test]
    fn what_is_not_named_like_a_step_stays_in_the_folder_of_steps() {
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        for below in ["01-a", "02-b", "02-b.partial", "notes", "3-c"] {
            fs::create_dir_all(folder.path().join(STAGES).join(below)).unwrap();
        }
        folder.keep_stages(&["01-a".to_owned()]).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path().join(STAGES))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["01-a", "3-c", "notes"]);
    }

    #[test]
    fn a_step_is_there_only_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::take(&folder.path().join("run")).unwrap();
        let step = run.begin("stages/01-a").unwrap();
        fs::write(step.file("x"), "1").unwrap();
        let manifest = BTreeMap::from([("key".to_owned(), 7)]);
        let read = || run.manifest::<BTreeMap<String, u8>>("stages/01-a").unwrap();
        assert_eq!(read(), None);
        step.finish(&manifest).unwrap();
        assert_eq!(read(), Some(manifest));
        assert!(run.path().join("stages/01-a/x").is_file());
    }
}
