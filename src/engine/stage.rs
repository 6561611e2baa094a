//! The two stage traits.
//!
//! A stage looks at declared columns and says what should happen to which row and
//! why; it never touches a file or another row. Only `runner` acts on what it says.
//! What a stage says is collected in `verdict`; what it sees comes from `view`.

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

/// A stage that sees its whole table: joins and groups.
pub trait Stage: Send + Sync {
    /// What it reads, writes and may say.
    fn contract(&self) -> Contract;

    /// Adds what its answers depend on besides its settings: code version, external files, models.
    ///
    /// # Errors
    /// An external file cannot be read.
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()>;

    /// Makes ready what takes its time and no row decides, such as tables of the whole program. It is called beside the
    /// reading of the inputs, and a stage whose run is resumed may do without it.
    fn prepare(&self) {}

    /// How much it expects to do on the kept rows; nothing where all its work is done on this machine.
    fn estimate(&self, _view: &View<'_>) -> Estimate {
        Estimate::default()
    }

    /// The keys of the rows, where the contract's partition is `Partition::Key`: rows of equal key are judged in
    /// the same part. A row without a key is one of its own.
    ///
    /// # Errors
    /// As [`judge`](Self::judge).
    fn keys(&self, _view: &View<'_>, _cx: &Context<'_>) -> Result<Option<Vec<(RowIx, u128)>>> {
        Ok(None)
    }

    /// One note made of those of some parts; `None` where they cannot be joined. Equal ones are one.
    fn join_notes(&self, _name: &str, mut notes: Vec<Value>) -> Option<Value> {
        notes.dedup();
        if notes.len() == 1 { notes.pop() } else { None }
    }

    /// Judges the kept rows of its table: of a part only those that [`View::rows`] and [`View::for_each_batch`] give.
    ///
    /// # Errors
    /// A column cannot be read, or the user asked to stop. A bad row is never an error: it gets a fate.
    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()>;
}

/// A stage that judges each row on its own: streamed in batches, in parallel, answers in row order.
pub trait RowStage: Send + Sync {
    /// What it needs of a request's doc list, made once for all requests of the list; `()` where it needs nothing.
    type Parent: Default + Send + Sync;

    /// See [`Stage::contract`].
    fn contract(&self) -> Contract;

    /// See [`Stage::fingerprint`].
    ///
    /// # Errors
    /// An external file cannot be read.
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()>;

    /// What it needs of a doc list. It is called for every kept one where a stage of requests reads columns of theirs.
    fn parent(&self, _list: Row<'_>) -> Self::Parent {
        Self::Parent::default()
    }

    /// Judges one row; `parent` is what [`parent`](Self::parent) made of its doc list.
    fn judge_row(&self, row: Row<'_>, parent: &Self::Parent) -> Opinion;
}

/// Lets a [`RowStage`] stand where a [`Stage`] is wanted.
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
        view.for_each_batch(cx, |batch| {
            let opinions = batch.map_rows(|row| {
                let parent = parents.as_ref().and_then(|parents| parents.of(row.ix()));
                self.0.judge_row(row, parent.unwrap_or(&none))
            })?;
            for (row, opinion) in batch.rows().iter().zip(opinions) {
                out.opinion(*row, opinion)?;
            }
            out.flush(batch.index())
        })
    }
}
