//! The lines of reviewers, folded to the decisions in effect.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::export::Effect;
use super::line::{Line, Verdict};
use super::{EXTENSION, StoreError, check_name, log};

/// The lines of one reviewer, and which of them are in effect: for each row and each doc list the last one that is not undone. An edit of
/// functions that was made from a request is a decision on its doc list.
#[derive(Debug, Clone, Default)]
pub struct History {
    lines: Vec<Line>,
    /// By line: whether it is in effect unless a later one on the same row is.
    is_live: Vec<bool>,
    /// By the row on which they were made: its live lines, in order.
    by_id: BTreeMap<String, Vec<usize>>,
    /// By the row or doc list that they change: its live lines, in order.
    by_target: BTreeMap<String, Vec<usize>>,
}

impl History {
    /// Folds lines. An error has the line, from 1.
    pub(super) fn of(lines: Vec<Line>) -> Result<Self, (usize, String)> {
        let mut history = Self::default();
        for (at, line) in lines.into_iter().enumerate() {
            history.push(line).map_err(|what| (at + 1, what))?;
        }
        Ok(history)
    }

    /// Returns the last decision that was made on a row and not undone.
    pub fn get(&self, id: &str) -> Option<&Line> {
        self.by_id.get(id)?.last().map(|&at| &self.lines[at])
    }

    /// Returns the decisions in effect, by what they change.
    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        self.by_target.values().filter_map(|at| at.last()).map(|&at| &self.lines[at])
    }

    /// Returns all lines.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the number of the next line.
    pub(super) fn next_seq(&self) -> u64 {
        self.lines.len() as u64 + 1
    }

    pub(super) fn push(&mut self, line: Line) -> Result<(), String> {
        if line.seq != self.next_seq() {
            return Err(format!("found the number {}, expected {}", line.seq, self.next_seq()));
        }
        self.apply(&line)?;
        self.lines.push(line);
        Ok(())
    }

    fn apply(&mut self, line: &Line) -> Result<(), String> {
        let at = self.lines.len();
        let Some(undone) = line.undoes else {
            if line.decision == Verdict::Undo {
                return Err("found an undo without \"undoes\", expected the number of a line".to_owned());
            }
            self.by_id.entry(line.id.clone()).or_default().push(at);
            self.by_target.entry(Effect::of(line).target).or_default().push(at);
            self.is_live.push(true);
            return Ok(());
        };
        let index = usize::try_from(undone).ok().and_then(|undone| undone.checked_sub(1));
        let is_of_row = |at: &usize| self.is_live.get(*at) == Some(&true) && self.lines[*at].id == line.id;
        let (Some(index), Verdict::Undo) = (index.filter(is_of_row), line.decision) else {
            return Err(format!("found an undo of line {undone}, which is no decision on the row in effect"));
        };
        self.is_live[index] = false;
        self.is_live.push(false);
        remove(&mut self.by_id, &line.id, index);
        remove(&mut self.by_target, &Effect::of(&self.lines[index]).target, index);
        Ok(())
    }

    /// Returns the lines that an undo takes back: the last live one, or all live ones of its decision on a group.
    pub(super) fn last_batch(&self) -> Vec<&Line> {
        let Some(last) = self.is_live.iter().rposition(|is_live| *is_live).map(|at| &self.lines[at]) else {
            return Vec::new();
        };
        let live =
            self.lines.iter().zip(&self.is_live).filter(|(_, is_live)| **is_live).map(|(line, _)| line);
        match last.batch {
            Some(batch) => live.filter(|line| line.batch == Some(batch)).collect(),
            None => vec![last],
        }
    }

    /// Returns the decisions that were made before the reviewer was shown those of others, by id.
    pub(super) fn blind(&self) -> BTreeMap<&str, &Line> {
        let undone: std::collections::BTreeSet<u64> =
            self.lines.iter().filter(|line| !line.informed).filter_map(|line| line.undoes).collect();
        let is_blind =
            |line: &&Line| !line.informed && line.decision != Verdict::Undo && !undone.contains(&line.seq);
        self.lines.iter().filter(is_blind).map(|line| (line.id.as_str(), line)).collect()
    }
}

/// Removes a line from those of a row.
fn remove(of_rows: &mut BTreeMap<String, Vec<usize>>, row: &str, index: usize) {
    if let Some(live) = of_rows.get_mut(row) {
        live.retain(|&at| at != index);
        if live.is_empty() {
            of_rows.remove(row);
        }
    }
}

/// The decisions of all reviewers of a folder.
#[derive(Debug, Clone, Default)]
pub struct Reviews {
    pub(super) by_reviewer: BTreeMap<String, History>,
}

impl Reviews {
    /// Reads all decisions of a folder without locking them; there are none if it does not exist.
    ///
    /// # Errors
    /// A file cannot be read or is damaged.
    pub fn read(folder: &Path) -> Result<Self, StoreError> {
        let mut by_reviewer = BTreeMap::new();
        if !folder.exists() {
            return Ok(Self { by_reviewer });
        }
        for entry in std::fs::read_dir(folder).map_err(|source| StoreError::io(folder, source))? {
            let path = entry.map_err(|source| StoreError::io(folder, source))?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
            let is_decisions = path.extension().is_some_and(|extension| extension == EXTENSION);
            let Some(reviewer) = name.filter(|name| is_decisions && check_name(name).is_ok()) else {
                continue;
            };
            let lines = log::read(&path, &reviewer)?;
            let history =
                History::of(lines).map_err(|(line, what)| StoreError::damaged(&path, line, what))?;
            by_reviewer.insert(reviewer, history);
        }
        Ok(Self { by_reviewer })
    }

    /// Returns the reviewers, sorted.
    pub fn reviewers(&self) -> impl Iterator<Item = &str> {
        self.by_reviewer.keys().map(String::as_str)
    }

    /// Returns the decisions of a reviewer.
    pub fn of(&self, reviewer: &str) -> Option<&History> {
        self.by_reviewer.get(reviewer)
    }

    /// Returns a digest of the decisions in effect, in hex, for the fingerprint of a run. It depends neither on times nor on the order of
    /// decisions, nor on skipped rows.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        for (reviewer, history) in &self.by_reviewer {
            for line in history.iter().filter(|line| line.decision != Verdict::Skip) {
                let Line { id, table, was, decision, value, why, .. } = line;
                let text = json!([reviewer, id, table, was, decision, value, why]).to_string();
                digest.update(text.len().to_le_bytes());
                digest.update(text);
            }
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
