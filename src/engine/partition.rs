//! How the rows of a step are cut into parts that are judged apart, and how what was said of them is put together.
//!
//! A contract declares which rows must be judged together. From that the runner cuts the kept rows of the stage's table
//! into tasks: each sees the whole run, judges the rows of its part alone, and gives a part of the delta. The parts are
//! put together by replaying them through the one [`Verdict`] of the step, so each of its refusals holds for them too,
//! and the bytes do not depend on the number of parts. On one machine the tasks run one after another, each on all
//! threads, so that one part is in memory at a time; a cluster can run the same tasks anywhere.
//!
//! Deliberately absent: the blocks of a join. Leader clustering decides a pair only when it knows which earlier rows are
//! leaders, so its blocks are no tasks that could be judged apart; such a stage is [`Partition::Whole`].

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::error::{Error, Result};
use super::stage::{Context, Progress, RowIx, Stage};
use super::verdict::{PartDelta, Verdict};
use super::view::View;

/// Which rows of its table a stage must judge together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    /// Each row alone: any rows may be judged apart from the others.
    Rows,
    /// Rows of equal key; see [`Stage::keys`].
    Key,
    /// All rows.
    Whole,
}

impl Partition {
    /// Its name in messages and documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Key => "key",
            Self::Whole => "whole",
        }
    }
}

/// Into how many parts a step is cut at most.
pub type Parts = NonZeroUsize;

/// The rows of one task.
#[derive(Debug)]
pub struct Part {
    holds: Vec<bool>,
    n_rows: usize,
}

impl Part {
    fn of(rows: &[RowIx], n_rows_of_table: usize) -> Self {
        let mut holds = vec![false; n_rows_of_table];
        for &row in rows {
            holds[row as usize] = true;
        }
        Self { holds, n_rows: rows.len() }
    }

    /// The row is judged in this part.
    pub fn holds(&self, row: RowIx) -> bool {
        self.holds.get(row as usize).copied().unwrap_or(false)
    }

    /// Number of its rows.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// It has no rows.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }
}

/// Cuts the kept rows that a view shows into at most so many parts; one part, or none, is no cut at all.
///
/// # Errors
/// The stage's keys cannot be read, or it declares keys and has none.
pub(super) fn cut(
    stage: &dyn Stage,
    id: &str,
    view: &View<'_>,
    parts: Parts,
    cx: &Context<'_>,
) -> Result<Vec<Part>> {
    let n_parts = parts.get();
    let partition = stage.contract().partition;
    if n_parts == 1 || partition == Partition::Whole {
        return Ok(Vec::new());
    }
    let mut rows: Vec<RowIx> = view.rows().collect();
    rows.sort_unstable();
    let n_of_table = view.len();
    let groups: Vec<Vec<RowIx>> = match partition {
        Partition::Whole => return Ok(Vec::new()),
        Partition::Rows => {
            let length = rows.len().div_ceil(n_parts).max(1);
            rows.chunks(length).map(<[RowIx]>::to_vec).collect()
        }
        Partition::Key => {
            let Some(keys) = stage.keys(view, cx)? else {
                let what = "its contract cuts rows by key, and it has no keys".to_owned();
                return Err(Error::Verdict { stage: id.to_owned(), what });
            };
            let keys: FxHashMap<RowIx, u128> = keys.into_iter().collect();
            let mut groups: BTreeMap<u128, Vec<RowIx>> = BTreeMap::new();
            for row in rows {
                let key = keys.get(&row).copied().unwrap_or_else(|| u128::from(row));
                groups.entry(key % n_parts as u128).or_default().push(row);
            }
            groups.into_values().collect()
        }
    };
    Ok(groups.iter().map(|rows| Part::of(rows, n_of_table)).collect())
}

/// Judges the parts one after another and puts what was said of them together in `out`.
///
/// # Errors
/// As [`Stage::judge`]; also where a part speaks of rows of another, or parts note what cannot be joined.
pub(super) fn judge(
    stage: &dyn Stage,
    view: &View<'_>,
    parts: &[Part],
    cx: &Context<'_>,
    out: &mut Verdict<'_>,
) -> Result<()> {
    let progress = WarnsOnce { progress: cx.progress, warned: Mutex::new(BTreeSet::new()) };
    let cx = Context { progress: &progress, ..*cx };
    let mut deltas: Vec<PartDelta> = Vec::with_capacity(parts.len());
    for part in parts {
        let mut verdict = out.of_part(part);
        stage.judge(&view.of_part(part), &cx, &mut verdict)?;
        deltas.push(verdict.into_part());
    }
    let mut notes: BTreeMap<String, Vec<serde_json::Value>> = BTreeMap::new();
    for delta in &mut deltas {
        for (name, note) in std::mem::take(&mut delta.notes) {
            notes.entry(name).or_default().push(note);
        }
    }
    for delta in deltas {
        out.absorb(delta)?;
    }
    for (name, of_parts) in notes {
        let joined = stage.join_notes(&name, of_parts).ok_or_else(|| Error::Verdict {
            stage: out.stage().to_owned(),
            what: format!("its parts note {name:?} differently, and it does not join them"),
        })?;
        out.note(&name, joined);
    }
    Ok(())
}

/// Passes on what is drawn, and each warning once: every part finds the same fault of a file.
struct WarnsOnce<'a> {
    progress: &'a dyn Progress,
    warned: Mutex<BTreeSet<String>>,
}

impl Progress for WarnsOnce<'_> {
    fn begin(&self, step: &str, total: Option<u64>) {
        self.progress.begin(step, total);
    }

    fn advance(&self, rows: u64) {
        self.progress.advance(rows);
    }

    fn end(&self, outcome: &str) {
        self.progress.end(outcome);
    }

    fn warn(&self, message: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert(message.to_owned()) {
            self.progress.warn(message);
        }
    }
}
