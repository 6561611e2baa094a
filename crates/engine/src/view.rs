//! The input of a stage: the rows of its table, usually the kept ones, and the columns that it declared.

use rayon::prelude::*;
use serde::de::DeserializeOwned;

use super::context::{Cancel, Context};
use super::contract::Contract;
use super::corpus::{BatchCells, Corpus, RowId, Table};
use super::decided::Decided;
use super::decision::{Decision, DecisionKind};
use super::division::StagePart;
use super::error::{Error, Result};
use super::manifest::InputFile;
use super::vocabulary::{ColumnSpec, Likeness, RowIx, TableId};
use callsieve_text::content_hash::ContentHasher;

/// The kept rows of one table.
pub struct View<'a> {
    corpus: &'a Corpus,
    table: TableId,
    reads: Vec<ColumnSpec>,
    /// The rows to judge, if not all.
    part: Option<&'a StagePart>,
    decided: Option<&'a Decided<'a>>,
    /// The kinds of decisions that the stage applies.
    takes: Vec<DecisionKind>,
}

impl<'a> View<'a> {
    /// Returns the view that a contract allows.
    pub fn new(corpus: &'a Corpus, contract: &Contract) -> Self {
        let reads = contract.reads.iter().chain(&contract.reads_if_there).copied().collect();
        let takes = contract.decisions.clone();
        Self { corpus, table: contract.table, reads, part: None, decided: None, takes }
    }

    /// Adds the decisions of people on rows of its table.
    #[must_use]
    pub fn with_decided(self, decided: &'a Decided<'a>) -> Self {
        Self { decided: Some(decided), ..self }
    }

    /// Restricts the rows to judge to those of a part.
    pub(super) fn of_part<'b>(&self, part: &'b StagePart) -> View<'b>
    where
        'a: 'b,
    {
        View { part: Some(part), ..self.whole() }
    }

    /// Returns the view of all rows, for stages that need to know rows outside their part.
    #[must_use]
    pub fn whole(&self) -> View<'a> {
        let (reads, takes) = (self.reads.clone(), self.takes.clone());
        View { corpus: self.corpus, table: self.table, reads, part: None, decided: self.decided, takes }
    }

    /// Returns the view of the same contract on the parent table.
    #[must_use]
    pub fn parent(&self) -> View<'a> {
        View { table: TableId::DocLists, decided: None, ..self.whole() }
    }

    /// Returns the view of the same contract on the child table.
    #[must_use]
    pub fn children(&self) -> View<'a> {
        View { table: TableId::Requests, decided: None, ..self.whole() }
    }

    /// Returns the inputs that the rows were read from, by their number.
    pub fn inputs(&self) -> &'a [InputFile] {
        &self.corpus.inputs
    }

    fn table(&self) -> &'a Table {
        self.corpus.table(self.table)
    }

    /// Returns the number of rows of the table, whatever their fate.
    pub(super) fn len(&self) -> usize {
        self.table().len()
    }

    /// Returns the kept rows to judge, in canonical order.
    pub fn rows(&self) -> impl Iterator<Item = RowIx> + 'a {
        let (table, part) = (self.table(), self.part);
        let is_in_part = move |row: RowIx| part.is_none_or(|part| part.holds(row));
        table.in_order().iter().copied().filter(move |&row| table.is_kept(row) && is_in_part(row))
    }

    /// Returns `true` if the row is kept and to be judged here.
    pub fn is_judged(&self, row: RowIx) -> bool {
        self.is_kept(row) && self.part.is_none_or(|part| part.holds(row))
    }

    /// Returns `true` if the row is in the working set.
    pub fn is_kept(&self, row: RowIx) -> bool {
        self.table().is_kept(row)
    }

    /// Returns the row's content id.
    pub fn row_id(&self, row: RowIx) -> RowId {
        self.table().row_id(row)
    }

    /// Returns the row's place in canonical order; smaller is earlier.
    pub fn position(&self, row: RowIx) -> u32 {
        self.table().position(row)
    }

    /// Returns the doc list a request has now.
    pub fn list_of(&self, request: RowIx) -> RowIx {
        self.corpus.list[request as usize]
    }

    /// Returns the doc list a request was sent with.
    pub fn origin_of(&self, request: RowIx) -> RowIx {
        self.corpus.origin[request as usize]
    }

    /// Returns the list that a list was merged into, if the reason of the merge has at least this likeness.
    pub fn list_merged_into(&self, list: RowIx, least: Likeness) -> Option<RowIx> {
        let fate = self.corpus.lists.fate(list)?;
        fate.into.filter(|_| fate.reason.likeness >= Some(least))
    }

    /// Returns the request at the end of a request's merges, or the request itself; `None` if a merge on the way has
    /// less than the likeness `least`.
    pub fn head_of(&self, request: RowIx, least: Likeness) -> Option<RowIx> {
        let requests = &self.corpus.requests;
        let mut head = request;
        while let Some((into, reason)) = requests.fate(head).and_then(|fate| Some((fate.into?, fate.reason)))
        {
            if reason.likeness < Some(least) {
                return None;
            }
            head = into;
        }
        Some(head)
    }

    /// Returns `true` if the stage reads columns of the parent table.
    pub(super) fn reads_parents(&self) -> bool {
        self.table == TableId::Requests && self.reads.iter().any(|column| column.table == TableId::DocLists)
    }

    /// Returns the result of `read` for each kept doc list, computed once for all of its requests.
    ///
    /// # Errors
    /// As [`View::for_each_batch`].
    pub fn parents<T: Send>(
        &self,
        cx: &Context<'_>,
        read: impl Fn(Row<'_>) -> T + Sync,
    ) -> Result<Parents<'a, T>> {
        let lists = self.parent();
        lists.joined(cx, |list| lists.is_kept(list), read)
    }

    /// Returns the result of `read` for each doc list, kept or not.
    ///
    /// # Errors
    /// As [`View::for_each_batch`].
    pub fn all_parents<T: Send>(
        &self,
        cx: &Context<'_>,
        read: impl Fn(Row<'_>) -> T + Sync,
    ) -> Result<Parents<'a, T>> {
        self.parent().joined(cx, |_| true, read)
    }

    fn joined<T: Send>(
        &self,
        cx: &Context<'_>,
        wanted: impl Fn(RowIx) -> bool,
        read: impl Fn(Row<'_>) -> T + Sync,
    ) -> Result<Parents<'a, T>> {
        let mut made: Vec<Option<T>> = Vec::new();
        made.resize_with(self.len(), || None);
        self.stream(cx, wanted, |batch| {
            for (&list, one) in batch.rows().iter().zip(batch.map_rows(&read)?) {
                made[list as usize] = Some(one);
            }
            Ok(())
        })?;
        Ok(Parents { corpus: self.corpus, made })
    }

    /// Streams the declared columns of the kept rows to judge, batch by batch.
    ///
    /// # Errors
    /// A file cannot be read, the user asked to stop, or `visit` fails.
    pub fn for_each_batch(
        &self,
        cx: &Context<'_>,
        visit: impl FnMut(&Batch<'_>) -> Result<()>,
    ) -> Result<()> {
        self.stream(cx, |row| self.is_judged(row), visit)
    }

    /// Streams like [`View::for_each_batch`], but all rows for which `wanted` returns `true`, whatever their fate.
    ///
    /// # Errors
    /// As [`View::for_each_batch`].
    pub fn stream(
        &self,
        cx: &Context<'_>,
        wanted: impl Fn(RowIx) -> bool,
        mut visit: impl FnMut(&Batch<'_>) -> Result<()>,
    ) -> Result<()> {
        let table = self.table();
        let columns: Vec<ColumnSpec> =
            self.reads.iter().copied().filter(|column| column.table == self.table).collect();
        for index in 0..table.batches() {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let range = table.batch(index);
            let rows: Vec<RowIx> = table.rows_of_batch(index).filter(|&row| wanted(row)).collect();
            // Each part streams all batches: only its own rows count.
            let n_done = if self.part.is_none() { range.len() } else { rows.len() };
            if !rows.is_empty() {
                let cells = table.read_batch(index, &columns)?;
                let (start, cancel, decided) = (range.start, cx.cancel, self.decided);
                visit(&Batch { index, start, rows, cells, cancel, decided, takes: &self.takes })?;
            }
            cx.progress.advance(n_done as u64);
        }
        Ok(())
    }
}

/// The results of a stage for the doc lists, for use with their requests; see [`View::parents`].
pub struct Parents<'a, T> {
    corpus: &'a Corpus,
    /// By the list's row number.
    made: Vec<Option<T>>,
}

impl<T> Parents<'_, T> {
    /// Returns the result for the list that a request has now.
    pub fn of(&self, request: RowIx) -> Option<&T> {
        self.of_list(self.corpus.list[request as usize])
    }

    /// Returns the result for the list that a request was sent with.
    pub fn of_origin(&self, request: RowIx) -> Option<&T> {
        self.of_list(self.corpus.origin[request as usize])
    }

    /// Returns the lists with results, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (RowIx, &T)> {
        (0..).zip(&self.made).filter_map(|(list, made)| Some((list, made.as_ref()?)))
    }

    /// Returns the result for a list.
    pub fn of_list(&self, list: RowIx) -> Option<&T> {
        self.made.get(list as usize)?.as_ref()
    }
}

/// Rows that one thread takes at a time; small, so that a few long rows do not delay the others.
const ROWS_AT_ONCE: usize = 64;

/// Consecutive rows with their cells.
pub struct Batch<'a> {
    index: usize,
    start: usize,
    rows: Vec<RowIx>,
    cells: BatchCells,
    cancel: &'a dyn Cancel,
    decided: Option<&'a Decided<'a>>,
    takes: &'a [DecisionKind],
}

impl Batch<'_> {
    /// Returns its index among the table's batches.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns its rows, ascending.
    pub fn rows(&self) -> &[RowIx] {
        &self.rows
    }

    /// Returns a row of the batch.
    pub fn row(&self, row: RowIx) -> Row<'_> {
        let at = row as usize - self.start;
        Row { ix: row, at, cells: &self.cells, decided: self.decided, takes: self.takes }
    }

    /// Judges its rows in parallel. Results are in row order. `judge` may stop early when the user asks to stop: its
    /// results are then not used.
    ///
    /// # Errors
    /// The user asked to stop.
    pub fn map_rows<T: Send>(&self, judge: impl Fn(Row<'_>) -> T + Sync) -> Result<Vec<T>> {
        self.map_some(&self.rows, judge)
    }

    /// Judges some of its rows like [`Batch::map_rows`], for results that would be too large for all of them at once.
    ///
    /// # Errors
    /// The user asked to stop.
    pub fn map_some<T: Send>(&self, rows: &[RowIx], judge: impl Fn(Row<'_>) -> T + Sync) -> Result<Vec<T>> {
        let judge = |&row: &RowIx| (!self.cancel.is_cancelled()).then(|| judge(self.row(row)));
        let judged: Option<Vec<T>> = rows.par_iter().with_max_len(ROWS_AT_ONCE).map(judge).collect();
        judged.filter(|_| !self.cancel.is_cancelled()).ok_or(Error::Interrupted)
    }
}

/// One row's cells.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    ix: RowIx,
    at: usize,
    cells: &'a BatchCells,
    decided: Option<&'a Decided<'a>>,
    takes: &'a [DecisionKind],
}

impl<'a> Row<'a> {
    /// Returns its row number.
    pub fn ix(&self) -> RowIx {
        self.ix
    }

    /// Returns the decision of a person on the row.
    ///
    /// # Panics
    /// The stage's contract does not name the kind, so the stage would not run again after a changed decision.
    pub fn decision(&self, kind: DecisionKind) -> Option<&'a Decision> {
        assert!(self.takes.contains(&kind), "decision {} is not among those that were declared", kind.name());
        self.decided?.on(self.ix, kind)
    }

    /// Returns a text cell; `None` is null.
    pub fn text(&self, column: ColumnSpec) -> Option<&'a str> {
        self.cells.text(column, self.at)
    }

    /// Returns a text cell that holds JSON; `None` is null.
    ///
    /// # Panics
    /// The cell is not such JSON. Only callsieve writes these cells, so this is an internal error or a damaged file.
    pub fn json<T: DeserializeOwned>(&self, column: ColumnSpec) -> Option<T> {
        self.text(column)
            .map(|text| serde_json::from_str(text).expect("a column that callsieve wrote is JSON"))
    }

    /// Returns the hash of some cells, for what is computed once for equal cells (see `callsieve_text::memo`).
    pub fn hash_of(&self, columns: &[ColumnSpec]) -> u128 {
        let mut hasher = ContentHasher::default();
        for &column in columns {
            match (self.text(column), self.int(column)) {
                (Some(text), _) => hasher.add(&[1]).add_part(text.as_bytes()),
                (None, Some(number)) => hasher.add(&[2]).add(&number.to_le_bytes()),
                (None, None) => hasher.add(&[0]),
            };
        }
        hasher.hash()
    }

    /// Returns a number cell; `None` is null.
    pub fn int(&self, column: ColumnSpec) -> Option<i64> {
        self.cells.int(column, self.at)
    }
}
