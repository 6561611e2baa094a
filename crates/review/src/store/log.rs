//! A file to which lines are only added, each synced before the call returns.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::StoreError;
use super::line::Line;

/// What a log writes to; tests have one that fails.
pub(super) trait Medium {
    /// Writes at the end.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Returns once everything is on disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Removes everything after this number of bytes.
    fn cut(&mut self, n_bytes: u64) -> io::Result<()>;
}

impl Medium for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, n_bytes: u64) -> io::Result<()> {
        self.set_len(n_bytes)
    }
}

/// A file to which lines are only added.
#[derive(Debug)]
pub(super) struct Log<M> {
    path: PathBuf,
    medium: M,
    n_bytes: u64,
    /// A write failed: what is on disk is unknown until the file is read again.
    is_broken: bool,
}

impl<M: Medium> Log<M> {
    /// Adds whole lines. They are on disk when the function returns.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        if self.is_broken {
            return Err(StoreError::Broken(self.path.clone()));
        }
        if let Err(source) = self.medium.write(lines).and_then(|()| self.medium.sync()) {
            self.is_broken = true;
            // Best effort: the caller is told that nothing was saved. What remains is read at the next start.
            let _ = self.medium.cut(self.n_bytes);
            return Err(StoreError::io(&self.path, source));
        }
        self.n_bytes += lines.len() as u64;
        Ok(())
    }
}

/// Opens a file of decisions: removes an incomplete last line, and returns the others.
pub(super) fn open(path: &Path, reviewer: &str) -> Result<(Log<File>, Vec<Line>), StoreError> {
    let (mut log, bytes) = open_file(path)?;
    let (lines, n_whole) = parse(path, reviewer, &bytes)?;
    let n_whole = n_whole as u64;
    if n_whole < log.n_bytes {
        let mut repair = || {
            log.medium.cut(n_whole)?;
            log.medium.sync()
        };
        repair().map_err(|source| StoreError::io(path, source))?;
        log.n_bytes = n_whole;
    }
    Ok((log, lines))
}

/// Opens a file of plain lines, and returns the whole ones; an incomplete last line is removed.
pub(super) fn open_lines(path: &Path) -> Result<(Log<File>, Vec<u8>), StoreError> {
    let (mut log, mut bytes) = open_file(path)?;
    bytes.truncate(whole_lines(&bytes));
    if (bytes.len() as u64) < log.n_bytes {
        log.medium.cut(bytes.len() as u64).map_err(|source| StoreError::io(path, source))?;
        log.n_bytes = bytes.len() as u64;
    }
    Ok((log, bytes))
}

fn open_file(path: &Path) -> Result<(Log<File>, Vec<u8>), StoreError> {
    let at = |source| StoreError::io(path, source);
    let is_new = !path.exists();
    let mut medium = open_private(path, false).map_err(at)?;
    if is_new && let Some(folder) = path.parent() {
        sync_folder(folder).map_err(at)?;
    }
    let mut bytes = Vec::new();
    medium.read_to_end(&mut bytes).map_err(at)?;
    let n_bytes = bytes.len() as u64;
    Ok((Log { path: path.to_owned(), medium, n_bytes, is_broken: false }, bytes))
}

/// Reads a file of decisions without changing it; an incomplete last line is left out.
pub(super) fn read(path: &Path, reviewer: &str) -> Result<Vec<Line>, StoreError> {
    let bytes = std::fs::read(path).map_err(|source| StoreError::io(path, source))?;
    Ok(parse(path, reviewer, &bytes)?.0)
}

/// Returns the lines of a file, and how many bytes they take.
fn parse(path: &Path, reviewer: &str, bytes: &[u8]) -> Result<(Vec<Line>, usize), StoreError> {
    let n_whole = whole_lines(bytes);
    let mut lines = Vec::new();
    for (at, text) in bytes[..n_whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let number = at + 1;
        let line: Line = serde_json::from_slice(text).map_err(|error| {
            StoreError::damaged(path, number, format!("found no decision, expected one: {error}"))
        })?;
        if line.reviewer != reviewer {
            let what = format!("found the reviewer {:?}, expected {reviewer:?}", line.reviewer);
            return Err(StoreError::damaged(path, number, what));
        }
        lines.push(line);
    }
    Ok((lines, n_whole))
}

/// A line without its line end was never confirmed to anybody.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// Opens a file that only its owner may read, because edits hold texts of the log, and creates it if it is missing.
pub(super) fn open_private(path: &Path, is_empty: bool) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).read(true);
    if is_empty {
        options.write(true).truncate(false)
    } else {
        options.append(true)
    };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Syncs the entries of a folder to disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    // On other systems a folder cannot be opened like a file.
    if cfg!(unix) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// Records what is done to it, and fails at one of the steps.
    #[derive(Default)]
    struct Recorder {
        steps: Rc<RefCell<Vec<String>>>,
        fails_at: Option<&'static str>,
    }

    impl Recorder {
        fn step(&self, name: &'static str, shown: String) -> io::Result<()> {
            self.steps.borrow_mut().push(shown);
            if self.fails_at == Some(name) { Err(io::Error::other("no space")) } else { Ok(()) }
        }
    }

    impl Medium for Recorder {
        fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.step("write", format!("write {}", bytes.len()))
        }

        fn sync(&mut self) -> io::Result<()> {
            self.step("sync", "sync".to_owned())
        }

        fn cut(&mut self, n_bytes: u64) -> io::Result<()> {
            self.step("cut", format!("cut {n_bytes}"))
        }
    }

    fn log(fails_at: Option<&'static str>) -> (Log<Recorder>, Rc<RefCell<Vec<String>>>) {
        let medium = Recorder { fails_at, ..Recorder::default() };
        let steps = Rc::clone(&medium.steps);
        (Log { path: PathBuf::from("a"), medium, n_bytes: 5, is_broken: false }, steps)
    }

    #[test]
    fn a_line_is_synced_after_it_is_written_and_before_the_next() {
        let (mut log, steps) = log(None);
        log.append(b"ab\n").unwrap();
        log.append(b"c\n").unwrap();
        assert_eq!(*steps.borrow(), ["write 3", "sync", "write 2", "sync"]);
        assert_eq!(log.n_bytes, 10);
    }

    #[test]
    fn nothing_is_written_after_a_failed_write_or_sync() {
        for (fails_at, expected) in
            [("write", &["write 3", "cut 5"][..]), ("sync", &["write 3", "sync", "cut 5"][..])]
        {
            let (mut log, steps) = log(Some(fails_at));
            assert!(matches!(log.append(b"ab\n"), Err(StoreError::Io { .. })));
            assert!(matches!(log.append(b"ab\n"), Err(StoreError::Broken(_))));
            assert_eq!(*steps.borrow(), expected);
        }
    }
}
