//! The run folder and the operations on it. Its file names are in `layout`, its records in `manifest`.
//!
//! A run folder has a marker, a file that only callsieve writes. A folder that holds anything else is not touched, and
//! nothing is written or removed through a symbolic link.
//!
//! A step writes into `<name>.partial`. When it ends, its files are synced and hashed, the manifest with their
//! checksums is written, and the folder is renamed. So a folder without `.partial` is a finished step, even after a
//! crash or a power failure. Single files are written under a temporary name and renamed; see `disk`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::disk::{is_link, owner_only, put_in_place, remove, sync_folder};
use super::error::{At, Error, Result};
use super::foreign_files::refuse_foreign_files;
use super::layout::{
    DATASET, EARLIER, FORGOTTEN_LIST, INGEST, MANIFEST, MARKER, OUTCOME, PARTS, RUN_FILE, SPENT, SPOOL,
    STAGES, temporary_path,
};
use super::manifest::{sealed_manifest, step_folders};
use super::marker::{self, Nature, nature};
use super::seal::{Files, Sealed, names_below, write_sealed};

/// The run folder that a path is in, or would be in: the nearest folder above it with the marker of a run.
pub fn run_around(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let existing = absolute.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok())?;
    existing.ancestors().find(|folder| folder.join(MARKER).is_file()).map(Path::to_owned)
}

/// A run folder, locked for this process until the value is dropped.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Keeps the lock.
    _lock: File,
}

impl RunFolder {
    /// Takes a folder for a run, and creates it if it does not exist.
    ///
    /// # Errors
    /// Another process has locked it, it holds something other than a run, or it cannot be created.
    pub fn take(path: &Path) -> Result<Self> {
        Self::take_as(path, "callsieve")
    }

    /// Takes a folder like [`take`](Self::take); other processes that find it locked show `command`.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_as(path: &Path, command: &str) -> Result<Self> {
        let folder = Self::lock(path, command)?;
        refuse_foreign_files(path)?;
        Ok(folder)
    }

    /// Takes the folder of an existing run; other processes that find it locked show `command`.
    ///
    /// # Errors
    /// There is no run, or another process has locked it.
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

    /// Returns `true` if a run ended here, so that its outcome is in the folder.
    pub fn has_finished(&self) -> bool {
        self.path.join(RUN_FILE).is_file()
    }

    /// Returns `true` if records of the run were forgotten.
    pub fn has_forgotten(&self) -> bool {
        self.path.join(FORGOTTEN_LIST).is_file()
    }

    /// Removes everything that runs wrote here, except the list of forgotten records. The decisions of people stay, too.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn clear(&self) -> Result<()> {
        self.remove_outcome()?;
        for name in [EARLIER, INGEST, STAGES, SPOOL, SPENT, PARTS] {
            remove(&self.path.join(name))?;
        }
        self.remove_partial()
    }

    /// Removes the parts of steps that separate processes did.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn remove_parts(&self) -> Result<()> {
        remove(&self.path.join(PARTS))
    }

    /// Removes the parts of a step that is finished, or of a run that is; one that ended too late brought them.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn remove_late_parts(&self, step: &str) -> Result<()> {
        if self.has_finished() {
            return self.remove_parts();
        }
        let folder = step.rsplit_once('/').map_or(step, |(_, name)| name);
        let is_joined = self.path.join(step).join(MANIFEST).is_file();
        if is_joined { remove(&self.path.join(PARTS).join(folder)) } else { Ok(()) }
    }

    /// Returns the path of the file of what the calls of this folder paid language models for.
    pub fn spent(&self) -> PathBuf {
        self.path.join(SPENT)
    }

    /// Returns the path of the copy of standard input.
    pub fn spool(&self) -> PathBuf {
        self.path.join(SPOOL)
    }

    /// Returns the temporary path of the copy while it is written.
    pub fn spool_begun(&self) -> PathBuf {
        temporary_path(&self.spool())
    }

    /// Removes an unfinished copy of standard input.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_spool_begun(&self) -> Result<()> {
        remove(&self.spool_begun())
    }

    /// Renames the complete copy of standard input to its final path.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn finish_spool(&self) -> Result<()> {
        put_in_place(&self.spool_begun(), &self.spool())
    }

    /// Removes the copy of standard input. Returns its size if there was one.
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

    /// Removes the files about a whole run, so that those of an earlier run are not mistaken for those of this one. Those of a finished run
    /// are moved into a folder of their own, which stays until a run has ended here: one that stops loses nothing.
    ///
    /// # Errors
    /// Something cannot be moved or removed.
    pub fn remove_outcome(&self) -> Result<()> {
        let files = || [DATASET].into_iter().chain(OUTCOME);
        let run_file = self.path.join(RUN_FILE);
        if run_file.is_file() {
            let earlier = self.path.join(EARLIER);
            remove(&earlier)?;
            fs::create_dir(&earlier).at("making", &earlier)?;
            // The file that marks the run as finished goes first.
            put_in_place(&run_file, &earlier.join(RUN_FILE))?;
            sync_folder(&self.path)?;
            for path in files().map(|name| self.path.join(name)).filter(|path| path.exists()) {
                let to = earlier.join(path.file_name().unwrap_or_default());
                fs::rename(&path, to).at("renaming", &path)?;
            }
        }
        for name in [RUN_FILE].into_iter().chain(files()) {
            let path = self.path.join(name);
            remove(&path)?;
            remove(&temporary_path(&path))?;
        }
        Ok(())
    }

    /// Returns the dataset of the finished run before one that is not finished, if there is one.
    pub fn earlier_dataset(&self) -> Option<PathBuf> {
        Some(self.path.join(EARLIER).join(DATASET)).filter(|dataset| dataset.is_dir())
    }

    /// Returns the folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes stage folders that are not in the pipeline and interrupted steps. Folders that are not named like a step
    /// are kept.
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
    /// The folder cannot be created.
    pub fn begin(&self, step: &str) -> Result<Step> {
        let done = self.path.join(step);
        let partial = temporary_path(&done);
        let parent = done.parent().unwrap_or(&self.path);
        fs::create_dir_all(parent).at("making", parent)?;
        // The run folder itself may be reached by a link, since the user named it.
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
    /// The folder cannot be created.
    pub fn begin_private(&self, step: &str) -> Result<Step> {
        let step = self.begin(step)?;
        owner_only(&step.partial, 0o700).at("making", &step.partial)?;
        Ok(step)
    }

    /// Removes the files of interrupted steps and commands.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove_partial(&self) -> Result<()> {
        for name in [INGEST, DATASET, SPOOL] {
            remove(&temporary_path(&self.path.join(name)))?;
        }
        for name in [RUN_FILE, FORGOTTEN_LIST].into_iter().chain(OUTCOME) {
            let partial = temporary_path(&self.path.join(name));
            // callsieve writes no folder of that name.
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

    /// Returns the manifest of a finished step; `None` where it is not finished.
    ///
    /// # Errors
    /// There is a manifest, but it cannot be read.
    pub fn manifest<M: DeserializeOwned>(&self, step: &str) -> Result<Option<M>> {
        Ok(self.sealed(step)?.map(|sealed| sealed.value))
    }

    /// Returns the manifest of a finished step with the checksums of its files.
    ///
    /// # Errors
    /// There is a manifest, but it cannot be read.
    pub fn sealed<M: DeserializeOwned>(&self, step: &str) -> Result<Option<Sealed<M>>> {
        sealed_manifest(&self.path, step)
    }
}

fn is_partial(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "partial")
}

/// A step being written.
#[derive(Debug)]
pub struct Step {
    partial: PathBuf,
    done: PathBuf,
}

impl Step {
    /// Returns a step that is written in one folder and renamed to another.
    pub(super) fn new(partial: PathBuf, done: PathBuf) -> Self {
        Self { partial, done }
    }

    /// Returns the temporary path of a file of the step.
    pub fn file(&self, name: &str) -> PathBuf {
        self.partial.join(name)
    }

    /// Returns the final path of a file of the step.
    pub fn done_file(&self, name: &str) -> PathBuf {
        self.done.join(name)
    }

    /// Returns the folder being written.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Ends the step: syncs its files, writes the manifest with their checksums, and renames the folder.
    ///
    /// # Errors
    /// A file cannot be written or renamed.
    pub fn finish<M: Serialize>(self, manifest: &M) -> Result<()> {
        self.seal(manifest)?;
        self.rename()
    }

    /// Syncs its files and writes the manifest with their checksums.
    pub(super) fn seal<M: Serialize>(&self, manifest: &M) -> Result<()> {
        let files = Files::of_folder(&self.partial)?;
        write_sealed(&self.partial.join(MANIFEST), manifest, &files)
    }

    /// Returns the folder that it is renamed to.
    pub(super) fn done(&self) -> &Path {
        &self.done
    }

    /// Removes what was written.
    pub(super) fn discard(self) -> Result<()> {
        remove(&self.partial)
    }

    /// Ends a step without a manifest of its own; see [`write_run_file`](super::manifest::write_run_file).
    ///
    /// # Errors
    /// The folder cannot be renamed.
    pub fn rename(self) -> Result<()> {
        remove(&self.done)?;
        fs::rename(&self.partial, &self.done).at("renaming", &self.partial)?;
        self.done.parent().map_or(Ok(()), sync_folder)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::disk::{create_private, is_regular, write_atomic};
    use super::super::layout::{DECISIONS, LOCK, MARKER};
    use super::*;

    #[test]
    fn the_error_of_a_locked_folder_names_its_owner() {
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
        for below in
            [INGEST, DATASET, STAGES, DECISIONS, "stages/01-a", "dataset/data", "decisions/kim.jsonl"]
        {
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
        // A link that appears during a run is replaced or refused; its target stays.
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
    fn decisions_of_people_stay_when_everything_else_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        let file = folder.path().join(DECISIONS).join("kim.jsonl");
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, "{}").unwrap();
        folder.clear().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
        drop(folder);
        RunFolder::take(&home.path().join("run")).unwrap();
        assert_eq!(super::super::verify::verify(&home.path().join("run")).unwrap().faults, []);
    }

    #[test]
    fn folders_that_are_not_named_like_a_step_are_kept() {
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
    fn a_step_exists_only_when_it_is_finished() {
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
