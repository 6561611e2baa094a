//! The ownership of a folder: the marker file of run folders, and the lock of the process that works in one.
//!
//! Only callsieve writes the marker, as the first file of a run. A folder without it is used only if it is empty. A
//! file called `.lock` proves nothing, because other programs write such files too. A folder with a symbolic link where
//! a run writes or removes is refused.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use super::disk::{check_access, is_link, is_regular, write_durable};
use super::error::{At, Error, Result};
use super::layout::{
    DATASET, DECISIONS, EARLIER, FORGOTTEN_LIST, FORMER_MARKER, INGEST, LOCK, MANIFEST, MARKER, OUTCOME,
    PARTS, RUN_FILE, RUN_FORMAT, SPOOL, STAGES, temporary_path,
};
use super::seal::names_below;

const MARKER_START: &str = "callsieve run folder, format ";
const MARKER_REST: &str = "`callsieve run` made this folder, and replaces and removes files in it.\n";
/// Longer than any marker.
const MARKER_BYTES: u64 = 1 << 10;

/// Takes a folder for a run: creates and marks it if necessary, and locks it. The lock is held while the file is open;
/// other processes that find the folder locked show `command`.
///
/// # Errors
/// Another process has locked it, it holds something other than a run, or it has a link where a run writes.
pub(super) fn lock(path: &Path, command: &str) -> Result<File> {
    // This comes before anything is written: no lock is written into a folder of other things.
    nature(path)?.check(path)?;
    fs::create_dir_all(path).at("making", path)?;
    let lock_path = path.join(LOCK);
    let mut lock = open_lock(&lock_path)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            // The owner is shown if it can be read; the folder is locked in any case.
            let _ = lock.read_to_string(&mut owner);
            let owner = if owner.is_empty() { "another process".to_owned() } else { owner };
            return Err(Error::Locked { path: path.to_owned(), owner });
        }
        Err(TryLockError::Error(source)) => return Err(source).at("locking", &lock_path),
    }
    // Checked again, now that no other run can begin here.
    let nature = nature(path)?;
    nature.check(path)?;
    if nature == Nature::Free {
        let marker = format!("{MARKER_START}{RUN_FORMAT}\n{MARKER_REST}");
        write_durable(&path.join(MARKER), marker.as_bytes())?;
    }
    refuse_links(path)?;
    lock.set_len(0).at("writing", &lock_path)?;
    write!(lock, "process {}: {command}", std::process::id()).at("writing", &lock_path)?;
    Ok(lock)
}

/// Returns the command line of the last run in a folder; `None` if another command has worked in it since.
pub(super) fn run_command(path: &Path) -> Option<String> {
    // Another command would do again what processes have done.
    if path.join(PARTS).is_dir() {
        return Some(format!("callsieve merge {}", path.display()));
    }
    let owner = fs::read_to_string(path.join(LOCK)).ok()?;
    let (_, command) = owner.split_once(": ")?;
    // With `--fresh` the run would begin again.
    let command: Vec<&str> = command.split(' ').filter(|word| *word != "--fresh").collect();
    (command.get(1) == Some(&"run")).then(|| command.join(" "))
}

/// Returns `true` for a run folder, finished or not, of any build that writes markers.
pub fn is_run(path: &Path) -> bool {
    is_regular(&path.join(MARKER))
}

/// The state of a folder that a run may work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// A run folder.
    Run,
    /// Missing, empty, or left by a run that was interrupted before it wrote the marker.
    Free,
    /// The files of a run, without the marker.
    Unmarked,
    /// A folder of other files.
    Foreign,
}

impl Nature {
    /// Refuses a folder that no run may work in.
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
        let is_begun = is_file && (temporary_path(Path::new(MARKER)) == name || name == LOCK && is_empty()?);
        // Another process may have marked it meanwhile.
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

/// Returns `true` if a folder has the marker of a run.
///
/// # Errors
/// The marker cannot be read, or is of a build with another format or of the former name.
pub(super) fn has_marker(run: &Path) -> Result<bool> {
    let path = run.join(MARKER);
    check_access(&path)?;
    if !is_regular(&path) {
        return if is_regular(&run.join(FORMER_MARKER)) {
            Err(Error::FormerName(run.to_owned()))
        } else {
            Ok(false)
        };
    }
    let mut text = Vec::new();
    let file = File::open(&path).at("reading", &path)?;
    file.take(MARKER_BYTES).read_to_end(&mut text).at("reading", &path)?;
    let text = String::from_utf8_lossy(&text);
    match text.lines().next().and_then(|line| line.strip_prefix(MARKER_START)) {
        None => Ok(false),
        Some(format) => check_format(run, format).map(|()| true),
    }
}

/// Refuses a run of another format than this build reads.
///
/// # Errors
/// It has another format; the hint is another one for earlier formats.
pub(super) fn check_format(run: &Path, format: &str) -> Result<()> {
    let is_earlier = match format.parse::<u32>() {
        Ok(RUN_FORMAT) => return Ok(()),
        Ok(number) => number < RUN_FORMAT,
        Err(_) => false,
    };
    let hint = if is_earlier {
        "its ids have an earlier form; make the run again from its inputs, in another folder (--out), and forget there again what was forgotten here"
    } else {
        "use the build that wrote it, or give another folder with --out"
    };
    Err(Error::Setting(format!(
        "{} is a run folder of format {format}, and this build supports format {RUN_FORMAT}\nhint: {hint}",
        run.display()
    )))
}

/// Opens the lock file, which must be in this folder itself.
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
    // The opened file must be the one at the path, not the target of a link that was put there meanwhile.
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

/// Refuses a run folder that has a symbolic link where a run writes or removes.
fn refuse_links(run: &Path) -> Result<()> {
    let ours = [RUN_FILE, EARLIER, FORGOTTEN_LIST, SPOOL, INGEST, STAGES, PARTS, DATASET, DECISIONS];
    let ours = ours.into_iter().chain(OUTCOME);
    for path in ours.flat_map(|name| [run.join(name), temporary_path(&run.join(name))]) {
        if is_link(&path) {
            return Err(Error::Link(path));
        }
    }
    for folder in [INGEST, STAGES, DATASET, EARLIER, DECISIONS].map(|name| run.join(name)) {
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
    fn a_run_of_the_former_name_is_named_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FORMER_MARKER), "toolsieve run folder, format 2\n").unwrap();
        fs::write(folder.path().join("run.json"), "{}").unwrap();
        let error = lock(folder.path(), "run").unwrap_err().to_string();
        assert!(error.contains("a run folder of toolsieve, the former name of callsieve\nhint: "), "{error}");
        assert!(!folder.path().join(LOCK).exists() && !folder.path().join(MARKER).exists());
    }

    #[test]
    fn a_folder_of_other_things_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "x").unwrap();
        assert!(matches!(RunFolder::take(folder.path()), Err(Error::NotARun(_))));
        for lock in ["", "process 7: poetry lock"] {
            fs::write(folder.path().join(LOCK), lock).unwrap();
            assert!(
                matches!(RunFolder::take(folder.path()), Err(Error::NotARun(_))),
                "a lock is not a marker"
            );
            assert_eq!(fs::read_to_string(folder.path().join(LOCK)).unwrap(), lock);
        }
        fs::write(folder.path().join(MARKER), "another program's\n").unwrap();
        assert!(matches!(RunFolder::take(folder.path()), Err(Error::NotARun(_))));
        assert!(matches!(RunFolder::take_existing(folder.path(), "x"), Err(Error::NoRun(_))));
    }

    #[test]
    fn a_run_that_was_interrupted_while_it_marked_its_folder_can_begin_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK), "").unwrap();
        fs::write(temporary_path(&folder.path().join(MARKER)), "callsieve ru").unwrap();
        drop(RunFolder::take(folder.path()).unwrap());
        assert!(has_marker(folder.path()).unwrap());
        drop(RunFolder::take_existing(folder.path(), "x").unwrap());
    }

    #[test]
    fn runs_of_other_builds_are_refused_with_a_hint() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RUN_FILE), "{}").unwrap();
        for error in [RunFolder::take(folder.path()), RunFolder::take_existing(folder.path(), "x")] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("has no valid file .callsieve") && error.contains("hint: "), "{error}");
        }
        for (format, hint) in
            [("1", "make the run again from its inputs"), ("3", "use the build that wrote it")]
        {
            fs::write(folder.path().join(MARKER), format!("{MARKER_START}{format}\n")).unwrap();
            let error = RunFolder::take(folder.path()).unwrap_err().to_string();
            let expected = format!("of format {format}, and this build supports format 2\nhint: ");
            assert!(error.contains(&expected) && error.contains(hint), "{error}");
        }
    }
}
