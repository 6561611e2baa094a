//! Decisions of reviewers on disk: one file of JSON lines for each reviewer, to which lines are only added.
//!
//! A decision is on disk when [`Store::decide`] returns. After a crash the file has every decision that was returned, and perhaps one
//! more; an incomplete last line is removed when the file is opened. All other damage is refused. Undoing adds a line, too.
//! [`Reviews`] reads all files of a folder, also while servers write them, and has what several reviewers agree on.

mod agreement;
mod error;
mod export;
mod forget;
mod history;
mod line;
mod log;

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use agreement::{Disagreement, PairAgreement};
pub use error::StoreError;
pub use export::{Export, Made};
pub use forget::forget;
pub use history::{History, Reviews};
pub use line::{Draft, Line, Verdict};

use self::log::{Log, open_private, sync_folder};

/// Longest name of a reviewer, in characters.
const MAX_NAME_CHARS: usize = 64;
/// The extension of files of decisions.
pub const EXTENSION: &str = "jsonl";

/// The decisions of one reviewer, open for more. No other process can open them at the same time.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    reviewer: String,
    log: Log<File>,
    history: History,
    shown: Shown,
    /// Locked until the store is dropped, or the process ends.
    _lock: File,
}

impl Store {
    /// Opens the decisions of a reviewer in a folder, and creates both if they are missing.
    ///
    /// # Errors
    /// The name is none of a file, another process has the decisions open, or the file cannot be written or is damaged.
    pub fn open(folder: &Path, reviewer: &str) -> Result<Self, StoreError> {
        check_name(reviewer)?;
        let is_new_folder = !folder.exists();
        fs::create_dir_all(folder).map_err(|source| StoreError::io(folder, source))?;
        if is_new_folder && let Some(parent) = folder.parent() {
            sync_folder(parent).map_err(|source| StoreError::io(parent, source))?;
        }
        let lock = lock(folder, reviewer)?;
        let path = folder.join(format!("{reviewer}.{EXTENSION}"));
        let (log, lines) = log::open(&path, reviewer)?;
        let history = History::of(lines).map_err(|(line, what)| StoreError::damaged(&path, line, what))?;
        let shown = Shown::open(&folder.join(format!("{reviewer}.shown")))?;
        Ok(Self {
            folder: folder.to_owned(),
            reviewer: reviewer.to_owned(),
            log,
            history,
            shown,
            _lock: lock,
        })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the reviewer.
    pub fn reviewer(&self) -> &str {
        &self.reviewer
    }

    /// Returns the decisions, folded.
    pub fn state(&self) -> &History {
        &self.history
    }

    /// Adds a decision on a row. It is on disk when the function returns.
    ///
    /// # Errors
    /// The decision is none of a row, or the file cannot be written.
    pub fn decide(&mut self, draft: Draft, time: &str) -> Result<Line, StoreError> {
        if draft.decision == Verdict::Undo {
            return Err(StoreError::Rule("use undo to take a decision back"));
        }
        let line = self.line(draft, time, 0);
        self.add(vec![line.clone()])?;
        Ok(line)
    }

    /// Adds decisions on several rows, all or none of them. They are on disk when the function returns.
    ///
    /// # Errors
    /// A decision is none of a row, or the file cannot be written.
    pub fn decide_all(&mut self, drafts: Vec<Draft>, time: &str) -> Result<(), StoreError> {
        if drafts.iter().any(|draft| draft.decision == Verdict::Undo) {
            return Err(StoreError::Rule("use undo to take a decision back"));
        }
        let lines = (0..).zip(drafts).map(|(nth, draft)| self.line(draft, time, nth)).collect();
        self.add(lines)
    }

    /// Adds the same decision on rows of a group, one line for each. They are on disk when the function returns.
    ///
    /// # Errors
    /// A decision is not `drop` or `relabel`, or the file cannot be written.
    pub fn decide_group(
        &mut self,
        group: &str,
        drafts: Vec<Draft>,
        time: &str,
    ) -> Result<Vec<Line>, StoreError> {
        if drafts.iter().any(|draft| !draft.decision.is_for_groups()) {
            return Err(StoreError::Rule("only drop and relabel can be decided for a group"));
        }
        let batch = self.history.next_seq();
        let line = |(nth, draft)| Line {
            group: Some(group.to_owned()),
            batch: Some(batch),
            ..self.line(draft, time, nth)
        };
        let lines: Vec<Line> = (0..).zip(drafts).map(line).collect();
        self.add(lines.clone())?;
        Ok(lines)
    }

    /// Takes the last decision back that is still in effect, and with a decision on a group all of its lines. Returns the lines that
    /// say so.
    ///
    /// # Errors
    /// There is no decision, or the file cannot be written.
    pub fn undo(&mut self, time: &str) -> Result<Vec<Line>, StoreError> {
        let undone: Vec<Line> = self.history.last_batch().into_iter().cloned().collect();
        if undone.is_empty() {
            return Err(StoreError::Rule("there is no decision to take back"));
        }
        let undo = |(nth, undone): (u64, Line)| {
            let draft = Draft::new(undone.id, undone.table, undone.was, Verdict::Undo);
            Line { undoes: Some(undone.seq), group: undone.group, ..self.line(draft, time, nth) }
        };
        let lines: Vec<Line> = (0..).zip(undone).map(undo).collect();
        self.add(lines.clone())?;
        Ok(lines)
    }

    /// Notes that the reviewer is shown what others decided on these rows. Later decisions on them do not count for agreement. The note
    /// is on disk when the function returns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn note_shown<'a>(&mut self, ids: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
        self.shown.add(ids)
    }

    fn line(&self, draft: Draft, time: &str, nth: u64) -> Line {
        let Draft { id, table, was, decision, value, why, reason } = draft;
        let informed = self.shown.ids.contains(&id);
        let (time, reviewer) = (time.to_owned(), self.reviewer.clone());
        let seq = self.history.next_seq() + nth;
        Line {
            seq,
            time,
            reviewer,
            id,
            table,
            was,
            decision,
            value,
            why,
            reason,
            informed,
            group: None,
            batch: None,
            undoes: None,
        }
    }

    fn add(&mut self, lines: Vec<Line>) -> Result<(), StoreError> {
        self.log.append(&line::text_of(&lines))?;
        for line in lines {
            self.history.push(line).expect("a line made here follows the earlier ones");
        }
        Ok(())
    }
}

/// The rows of which the reviewer saw what others decided.
#[derive(Debug)]
struct Shown {
    log: Log<File>,
    ids: BTreeSet<String>,
}

impl Shown {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let (log, bytes) = log::open_lines(path)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Self { log, ids: text.lines().map(str::to_owned).collect() })
    }

    fn add<'a>(&mut self, ids: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
        let new: BTreeSet<&str> = ids.into_iter().filter(|id| !self.ids.contains(*id)).collect();
        if new.is_empty() {
            return Ok(());
        }
        self.log.append(new.iter().flat_map(|id| [*id, "\n"]).collect::<String>().as_bytes())?;
        self.ids.extend(new.into_iter().map(str::to_owned));
        Ok(())
    }
}

/// Checks that a name of a reviewer can be the name of a file.
///
/// # Errors
/// It is empty or long, begins with a dot, or has other characters than letters, digits, `-`, `_` and `.`.
pub fn check_name(reviewer: &str) -> Result<(), StoreError> {
    let is_allowed = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let is_name = !reviewer.is_empty()
        && reviewer.chars().count() <= MAX_NAME_CHARS
        && !reviewer.starts_with('.')
        && reviewer.chars().all(is_allowed);
    if is_name { Ok(()) } else { Err(StoreError::Name(reviewer.to_owned())) }
}

fn lock(folder: &Path, reviewer: &str) -> Result<File, StoreError> {
    let path = folder.join(format!("{reviewer}.lock"));
    let file = open_private(&path, true).map_err(|source| StoreError::io(&path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked(reviewer.to_owned())),
        // The folder of a network may have no locks.
        Err(TryLockError::Error(source)) if source.kind() == ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(source)) => Err(StoreError::io(&path, source)),
    }
}

#[cfg(test)]
mod tests;
