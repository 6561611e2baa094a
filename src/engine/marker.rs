//! Whose a folder is: the marker by which run folders are known, and the lock of the process that works in one.
//!
//! The marker is a file that only toolsieve writes, as the first of a run. A folder without it is taken only if it is
//! empty. A file called `.lock` says nothing: other programs write such files, too. No link stands where a run writes
//! or removes.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use super::disk::{is_link, is_regular, write_durable};
use super::error::{At, Error, Result};
use super::layout::{
    DATASET, FORGOTTEN_LIST, INGEST, LOCK, MANIFEST, MARKER, OUTCOME, RUN_FILE, SPOOL, STAGES, beside,
};
use super::seal::names_below;

const MARKER_START: &str = "toolsieve run folder, format ";
/// Raised when a build can no longer work in folders of the builds before it.
const MARKER_FORMAT: &str = "1";
const MARKER_REST: &str = "`toolsieve run` made this folder, and replaces and removes files in it.\n";
/// Longer than any marker.
const MARKER_BYTES: u64 = 1 << 10;

/// Takes a folder for a run: makes it and marks it where that is still to be done, and locks it. The lock is held while
/// the file is open; `command` is what others are told who find the folder taken.
///
/// # Errors
/// Another process has it, it holds something that is no run, or a link stands in it where a run writes.
pub(super) fn lock(path: &Path, command: &str) -> Result<File> {
    // Before anything is written: the lock has no place in a folder of other things.
    nature(path)?.check(path)?;
    fs::create_dir_all(path).at("making", path)?;
    let lock_path = path.join(LOCK);
    let mut lock = open_lock(&lock_path)?;
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
    // Once more, now that no other run can begin here.
    let nature = nature(path)?;
    nature.check(path)?;
    if nature == Nature::Free {
        let marker = format!("{MARKER_START}{MARKER_FORMAT}\n{MARKER_REST}");
        write_durable(&path.join(MARKER), marker.as_bytes())?;
    }
    refuse_links(path)?;
    lock.set_len(0).at("writing", &lock_path)?;
    write!(lock, "process {}: {command}", std::process::id()).at("writing", &lock_path)?;
    Ok(lock)
}

/// The command line of the run that has or had a folder last; none where another command had it since.
pub(super) fn run_command(path: &Path) -> Option<String> {
    let owner = fs::read_to_string(path.join(LOCK)).ok()?;
    let (_, command) = owner.split_once(": ")?;
    // To go on is not to begin again.
    let command: Vec<&str> = command.split(' ').filter(|word| *word != "--fresh").collect();
    (command.get(1) == Some(&"run")).then(|| command.join(" "))
}

/// What a folder is to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// A run folder.
    Run,
    /// Not there, empty, or begun by a run that was cut off before it could say so.
    Free,
    /// The files of a run, without the marker.
    Unmarked,
    /// Somebody else's.
    Foreign,
}

impl Nature {
    /// Refuses a folder in which no run may work.
    fn check(self, path: &Path) -> Result<()> {
        match self {
            Self::Run | Self::Free => Ok(()),
            Self::Unmarked => Err(Error::Unmarked(path.to_owned())),
            Self::Foreign => Err(Error::NotARun(path.to_owned())),
        }
    }
}

pub(super) fn nature(path: &Path) -> Result<Nature> {
    if !path.is_dir() {
        return Ok(Nature::Free);
    }
    if has_marker(path)? {
        return Ok(Nature::Run);
    }
    for entry in fs::read_dir(path).at("reading", path)? {
        let entry = entry.at("reading", path)?;
        let is_file = entry.file_type().at("reading", path)?.is_file();
        let name = entry.file_name();
        let is_empty = || entry.metadata().at("reading", path).map(|metadata| metadata.len() == 0);
        let is_begun = is_file && (beside(Path::new(MARKER)) == name || name == LOCK && is_empty()?);
        // It may have been marked while it was looked through.
        if !is_begun && has_marker(path)? {
            return Ok(Nature::Run);
        }
        if !is_begun {
            let is_run = path.join(RUN_FILE).is_file() || path.join(INGEST).join(MANIFEST).is_file();
            return Ok(if is_run { Nature::Unmarked } else { Nature::Foreign });
        }
    }
    Ok(Nature::Free)
}

/// Whether a folder is one of a run: by the file that only toolsieve writes.
///
/// # Errors
/// The marker cannot be read, or is of a newer build.
pub(super) fn has_marker(run: &Path) -> Result<bool> {
    let path = run.join(MARKER);
    if !is_regular(&path) {
        return Ok(false);
    }
    let mut text = Vec::new();
    let file = File::open(&path).at("reading", &path)?;
    file.take(MARKER_BYTES).read_to_end(&mut text).at("reading", &path)?;
    let text = String::from_utf8_lossy(&text);
    match text.lines().next().and_then(|line| line.strip_prefix(MARKER_START)) {
        None => Ok(false),
        Some(MARKER_FORMAT) => Ok(true),
        Some(format) => Err(Error::Setting(format!(
            "{} is a run folder of format {format}, and this build knows format {MARKER_FORMAT}\nhint: use the build that made it, or give another folder with --out",
            run.display()
        ))),
    }
}

/// Opens the lock as a file of this very folder.
fn open_lock(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true).write(true);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made.at("making", path),
    }
    if !is_regular(path) {
        return Err(Error::Link(path.to_owned()));
    }
    let file = options.open(path).at("opening", path)?;
    // What was opened is what is there: nobody put a link in between.
    if is_same(&file, path).at("opening", path)? { Ok(file) } else { Err(Error::Link(path.to_owned())) }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (opened, there) = (file.metadata()?, fs::symlink_metadata(path)?);
    Ok((opened.dev(), opened.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_same(_file: &File, path: &Path) -> std::io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.is_file())
}

/// Refuses a run folder in which a link stands where a run writes or removes.
fn refuse_links(run: &Path) -> Result<()> {
    let ours = [RUN_FILE, FORGOTTEN_LIST, SPOOL, INGEST, STAGES, DATASET].into_iter().chain(OUTCOME);
    for path in ours.flat_map(|name| [run.join(name), beside(&run.join(name))]) {
        if is_link(&path) {
            return Err(Error::Link(path));
        }
    }
    for folder in [INGEST, STAGES, DATASET].map(|name| run.join(name)) {
        if folder.is_dir() {
            let (names, _) = names_below(&folder)?;
            if let Some(link) = names.iter().map(|name| folder.join(name)).find(|path| is_link(path)) {
                return Err(Error::Link(link));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // Tests make folders of other things.
mod tests {
    use super::super::folder::RunFolder;
    use super::*;

    #[test]
    fn a_folder_of_other_things_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "x").unwrap();
        assert!(matches!(RunFolder::take(folder.path()), Err(Error::NotARun(_))));
        for lock in ["", "process 7: poetry lock"] {
            fs::write(folder.path().join(LOCK), lock).unwrap();
            assert!(matches!(RunFolder::take(folder.path()), Err(Error::NotARun(_))), "a lock is no marker");
            assert_eq!(fs::read_to_string(folder.path().join(LOCK)).unwrap(), lock);
        }
        fs::write(folder.path().join(MARKER), "another program's\n").unwrap();
        assert!(matches!(RunFolder::take(folder.path()), Err(Error::NotARun(_))));
        assert!(matches!(RunFolder::take_existing(folder.path(), "x"), Err(Error::NoRun(_))));
    }

    #[test]
    fn a_run_that_was_cut_off_while_it_marked_its_folder_can_begin_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK), "").unwrap();
        fs::write(beside(&folder.path().join(MARKER)), "toolsieve ru").unwrap();
        drop(RunFolder::take(folder.path()).unwrap());
        assert!(has_marker(folder.path()).unwrap());
        drop(RunFolder::take_existing(folder.path(), "x").unwrap());
    }

    #[test]
    fn runs_of_other_builds_are_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RUN_FILE), "{}").unwrap();
        for error in [RunFolder::take(folder.path()), RunFolder::take_existing(folder.path(), "x")] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("has no file .toolsieve") && error.contains("hint: "), "{error}");
        }
        fs::write(folder.path().join(MARKER), format!("{MARKER_START}2\n")).unwrap();
        let error = RunFolder::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains("of format 2, and this build knows format 1"), "{error}");
    }
}
