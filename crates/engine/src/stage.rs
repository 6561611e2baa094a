//! The two stage traits.
//!
//! A stage reads declared columns through a `view` and collects in a `verdict` what should happen to which row, and
//! why. It never touches a file or another row. Only `runner` applies a verdict.

use serde_json::Value;

use super::context::Context;
use super::contract::Contract;
use super::error::Result;
use super::estimate::Estimate;
use super::fingerprint::Fingerprint;
use super::opinion::Opinion;
use super::verdict::Verdict;
use super::view::{Row, View};
use super::vocabulary::RowIx;
use callsieve_text::memo::Memo;

/// A stage that sees its whole table, for joins and groups.
pub trait Stage: Send + Sync {
    /// Returns the columns that the stage reads and writes, and the reasons that it may use.
    fn contract(&self) -> Contract;

    /// Adds everything that the result depends on besides the settings: code version, external files, models.
    ///
    /// # Errors
    /// An external file cannot be read.
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()>;

    /// Checks that what its settings name can be used, such as an environment. It is called before anything of an earlier run is removed.
    ///
    /// # Errors
    /// It cannot; the message says how to go on.
    fn check_ready(&self) -> Result<()> {
        Ok(())
    }

    /// Prepares expensive data that does not depend on rows, such as built-in tables. It runs while the inputs are
    /// read. It may be omitted when a run is resumed.
    fn prepare(&self) {}

    /// Returns the expected work on the kept rows; zero if all work is done on this machine.
    fn estimate(&self, _view: &View<'_>) -> Estimate {
        Estimate::default()
    }

    /// Returns the keys of the rows, if the contract's partition is `Partition::Key`. Rows of equal key are judged in
    /// the same part; a row without a key is a group of its own.
    ///
    /// # Errors
    /// As [`judge`](Self::judge).
    fn keys(&self, _view: &View<'_>, _cx: &Context<'_>) -> Result<Option<Vec<(RowIx, u128)>>> {
        Ok(None)
    }

    /// Joins the notes of several parts into one; `None` if they cannot be joined. By default only equal notes join.
    fn join_notes(&self, _name: &str, notes: Vec<Value>) -> Option<Value> {
        equal_notes(notes)
    }

    /// Judges the kept rows of its table; in a part, only those that [`View::rows`] and [`View::for_each_batch`]
    /// return.
    ///
    /// # Errors
    /// A column cannot be read, or the user asked to stop. A bad row is never an error: it gets a fate.
    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()>;
}

/// Returns the note of several parts if all are equal.
pub fn equal_notes(mut notes: Vec<Value>) -> Option<Value> {
    notes.dedup();
    if notes.len() == 1 { notes.pop() } else { None }
}

/// A stage that judges each row on its own. Rows are streamed in batches and judged in parallel; results are in row
/// order.
pub trait RowStage: Send + Sync {
    /// What the stage needs of a request's doc list, computed once per list; `()` if it needs nothing.
    type Parent: Default + Send + Sync;

    /// See [`Stage::contract`].
    fn contract(&self) -> Contract;

    /// See [`Stage::fingerprint`].
    ///
    /// # Errors
    /// An external file cannot be read.
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()>;

    /// Returns what the stage needs of a doc list. It is called for every kept list if a stage of requests reads
    /// columns of doc lists.
    fn parent(&self, _list: Row<'_>) -> Self::Parent {
        Self::Parent::default()
    }

    /// Returns `true` if many rows have equal cells, as the messages of a log do. Then one opinion is computed for all
    /// rows whose cells of the contract are equal: the stage must look at nothing else, neither at a doc list nor at a
    /// decision.
    fn has_equal_rows(&self) -> bool {
        false
    }

    /// Judges one row; `parent` is the result of [`parent`](Self::parent) for its doc list.
    fn judge_row(&self, row: Row<'_>, parent: &Self::Parent) -> Opinion;
}

/// Adapts a [`RowStage`] to a [`Stage`].
pub struct Rows<S>(pub S);

impl<S: RowStage> Stage for Rows<S> {
    fn contract(&self) -> Contract {
        self.0.contract()
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        self.0.fingerprint(fingerprint)
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let parents =
            if view.reads_parents() { Some(view.parents(cx, |list| self.0.parent(list))?) } else { None };
        let none = S::Parent::default();
        let of_equal_rows = self.0.has_equal_rows().then(|| (Memo::default(), self.contract().reads));
        view.for_each_batch(cx, |batch| {
            let opinions = batch.map_rows(|row| {
                let parent = parents.as_ref().and_then(|parents| parents.of(row.ix()));
                let judge = || self.0.judge_row(row, parent.unwrap_or(&none));
                match &of_equal_rows {
                    Some((memo, columns)) => memo.get_or(row.hash_of(columns), judge),
                    None => judge(),
                }
            })?;
            for (row, opinion) in batch.rows().iter().zip(opinions) {
                out.opinion(*row, opinion)?;
            }
            out.flush(batch.index())
        })
    }
}
