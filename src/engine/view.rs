//! What a stage sees: the rows of its table, as a rule the kept ones, and the columns it declared.

use rayon::prelude::*;
use serde::de::DeserializeOwned;

use super::context::{Cancel, Context};
use super::contract::Contract;
use super::corpus::{BatchCells, Corpus, RowId, Table};
use super::decided::Decided;
use super::decision::{Decision, DecisionKind};
use super::error::{Error, Result};
use super::part::Part;
use super::vocabulary::{ColumnSpec, Likeness, RowIx, TableId};

/// The kept rows of one table.
pub struct View<'a> {
    corpus: &'a Corpus,
    table: TableId,
    reads: Vec<ColumnSpec>,
    /// The rows to be judged, where these are not all.
    part: Option<&'a Part>,
    decided: Option<&'a Decided<'a>>,
    /// The kinds of decisions that it takes from its rows.
    takes: Vec<DecisionKind>,
}

impl<'a> View<'a> {
    /// The view that a contract allows.
    pub fn new(corpus: &'a Corpus, contract: &Contract) -> Self {
        let reads = contract.reads.iter().chain(&contract.reads_if_there).copied().collect();
        let takes = contract.decisions.clone();
        Self { corpus, table: contract.table, reads, part: None, decided: None, takes }
    }

    /// The same with what people decided on rows of its table.
    #[must_use]
    pub fn with_decided(self, decided: &'a Decided<'a>) -> Self {
        Self { decided: Some(decided), ..self }
    }

    /// The same rows and columns, of which those of a part are to be judged.
    pub(super) fn of_part<'b>(&self, part: &'b Part) -> View<'b>
    where
        'a: 'b,
    {
        View { part: Some(part), ..self.whole() }
    }

    /// All rows, whatever part of them is to be judged: what a stage must know of the others.
    #[must_use]
    pub fn whole(&self) -> View<'a> {
        let (reads, takes) = (self.reads.clone(), self.takes.clone());
        View { corpus: self.corpus, table: self.table, reads, part: None, decided: self.decided, takes }
    }

    /// The same contract's columns of the parent table.
    #[must_use]
    pub fn parent(&self) -> View<'a> {
        View { table: TableId::DocLists, decided: None, ..self.whole() }
    }

    /// The same contract's columns of the child table.
    #[must_use]
    pub fn children(&self) -> View<'a> {
        View { table: TableId::Requests, decided: None, ..self.whole() }
    }

    fn table(&self) -> &'a Table {
        self.corpus.table(self.table)
    }

    /// Number of rows of the table, whatever their fate.
    pub(super) fn len(&self) -> usize {
        self.table().len()
    }

    /// The kept rows to be judged, in canonical order: the earliest first.
    pub fn rows(&self) -> impl Iterator<Item = RowIx> + 'a {
        let (table, part) = (self.table(), self.part);
        let is_in_part = move |row: RowIx| part.is_none_or(|part| part.holds(row));
        table.in_order().iter().copied().filter(move |&row| table.is_kept(row) && is_in_part(row))
    }

    /// The row is kept and to be judged here.
    pub fn is_judged(&self, row: RowIx) -> bool {
        self.is_kept(row) && self.part.is_none_or(|part| part.holds(row))
    }

    /// The row is in the working set.
    pub fn is_kept(&self, row: RowIx) -> bool {
        self.table().is_kept(row)
    }

    /// The row's content id.
    pub fn row_id(&self, row: RowIx) -> RowId {
        self.table().row_id(row)
    }

    /// The row's place in canonical order; smaller is earlier.
    pub fn position(&self, row: RowIx) -> u32 {
        self.table().position(row)
    }

    /// The doc list a request has now.
    pub fn list_of(&self, request: RowIx) -> RowIx {
        self.corpus.list[request as usize]
    }

    /// The doc list a request was sent with.
    pub fn origin_of(&self, request: RowIx) -> RowIx {
        self.corpus.origin[request as usize]
    }

    /// The list that a list was merged into as one that is at least so much the same; `None` for any other.
    pub fn list_merged_into(&self, list: RowIx, least: Likeness) -> Option<RowIx> {
        let fate = self.corpus.lists.fate(list)?;
        fate.into.filter(|_| fate.reason.likeness >= Some(least))
    }

    /// The request that one speaks for: itself, or the one at the end of its merges; `None` where one of these was of
    /// rows that ask less the same than `least`.
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

    /// The stage reads columns of the parent table.
    pub(super) fn reads_parents(&self) -> bool {
        self.table == TableId::Requests && self.reads.iter().any(|column| column.table == TableId::DocLists)
    }

    /// What `read` makes of each kept doc list: once, whatever number of requests has it.
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

    /// What `read` makes of each doc list, kept or not.
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

    /// Streams the declared columns of this table, batch by batch: the kept rows to be judged.
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

    /// Streams like [`View::for_each_batch`], but the rows for which `wanted` holds, whatever their fate.
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
            // Each part goes through all batches: only its own rows count.
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

/// What a stage made of the doc lists, for their requests; see [`View::parents`].
pub struct Parents<'a, T> {
    corpus: &'a Corpus,
    /// By the list's place in its table.
    made: Vec<Option<T>>,
}

impl<T> Parents<'_, T> {
    /// Of the list that a request has now.
    pub fn of(&self, request: RowIx) -> Option<&T> {
        self.of_list(self.corpus.list[request as usize])
    }

    /// Of the list that a request was sent with.
    pub fn of_origin(&self, request: RowIx) -> Option<&T> {
        self.of_list(self.corpus.origin[request as usize])
    }

    /// Of every list for which something was made, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (RowIx, &T)> {
        (0..).zip(&self.made).filter_map(|(list, made)| Some((list, made.as_ref()?)))
    }

    /// Of a list.
    pub fn of_list(&self, list: RowIx) -> Option<&T> {
        self.made.get(list as usize)?.as_ref()
    }
}

/// Rows that one thread takes at a time: a few long ones must not keep the others waiting.
const ROWS_AT_ONCE: usize = 64;

/// Some rows that lie together, with their cells.
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
    /// Its place among the table's batches.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its rows, ascending.
    pub fn rows(&self) -> &[RowIx] {
        &self.rows
    }

    /// A row of the batch.
    pub fn row(&self, row: RowIx) -> Row<'_> {
        let at = row as usize - self.start;
        Row { ix: row, at, cells: &self.cells, decided: self.decided, takes: self.takes }
    }

    /// Judges its rows in parallel; answers in row order.
    ///
    /// # Errors
    /// The user asked to stop.
    pub fn map_rows<T: Send>(&self, judge: impl Fn(Row<'_>) -> T + Sync) -> Result<Vec<T>> {
        let judge = |&row: &RowIx| (!self.cancel.is_cancelled()).then(|| judge(self.row(row)));
        let judged: Option<Vec<T>> = self.rows.par_iter().with_max_len(ROWS_AT_ONCE).map(judge).collect();
        judged.ok_or(Error::Interrupted)
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
    /// Its place in the table.
    pub fn ix(&self) -> RowIx {
        self.ix
    }

    /// What a person decided on it.
    ///
    /// # Panics
    /// The stage's contract does not name the kind: its step would not be judged again for another decision.
    pub fn decision(&self, kind: DecisionKind) -> Option<&'a Decision> {
        assert!(self.takes.contains(&kind), "decision {} is not among those that were declared", kind.name());
        self.decided?.on(self.ix, kind)
    }

    /// A text cell; `None` is null.
    pub fn text(&self, column: ColumnSpec) -> Option<&'a str> {
        self.cells.text(column, self.at)
    }

    /// A text cell that holds JSON; `None` is null.
    ///
    /// # Panics
    /// The cell is no such JSON: we wrote it, so that is a bug or a damaged file, and no row to go on with.
    pub fn json<T: DeserializeOwned>(&self, column: ColumnSpec) -> Option<T> {
        self.text(column)
            .map(|text| serde_json::from_str(text).expect("a column that toolsieve wrote is JSON"))
    }

    /// A number cell; `None` is null.
    pub fn int(&self, column: ColumnSpec) -> Option<i64> {
        self.cells.int(column, self.at)
    }
}
