//! Collects the verdict of a stage, and checks it against the contract and the table.
//!
//! Refused are: an unknown row, a reason or column that the contract does not name, two fates for a row, a fate for a
//! row that is not kept, a merge into a row that is not kept after the stage, a changed cell without an edit, and a
//! link of an unknown row. Cells are written batch by batch, so only some batches of a large column are in memory, plus
//! those that the background writer keeps.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::background_writer::BackgroundWriter;
use super::contract::Contract;
use super::corpus::Table;
use super::decision::Ruling;
use super::delta::INCOMPLETE_NOTE;
use super::division::StagePart;
use super::error::{Error, Result};
use super::fate::FateEvent;
use super::frame::{Columns, FrameWriter, Held, Values};
use super::link::Link;
use super::links::{LinkTexts, StoredLink};
use super::opinion::Opinion;
use super::vocabulary::{
    Action, Cell, ColumnKind, ColumnSpec, Edit, Evidence, Reason, ReasonKind, RowIx, Safety,
};

/// The checked result of a stage.
#[derive(Debug)]
pub struct Delta {
    /// Fates by row.
    pub fates: Vec<FateEvent>,
    /// Edits by row, in the order in which they were made.
    pub edits: Vec<(RowIx, Edit)>,
    /// The cells that are still in memory, if the contract names columns to write.
    pub cells: Option<Held>,
    /// Links by row, in the order in which they were made.
    pub links: Vec<StoredLink>,
    /// The results of decisions of people, by row.
    pub rulings: Vec<(RowIx, Ruling)>,
    /// Notes about the whole table.
    pub notes: BTreeMap<String, Value>,
}

/// The verdict on the rows of one part.
#[derive(Debug)]
pub(super) struct PartDelta {
    pub(super) fates: Vec<FateEvent>,
    pub(super) edits: Vec<(RowIx, Edit)>,
    pub(super) links: Vec<StoredLink>,
    pub(super) rulings: Vec<(RowIx, Ruling)>,
    /// By column of the contract.
    pub(super) cells: Vec<VecDeque<(RowIx, Cell)>>,
    pub(super) notes: BTreeMap<String, Value>,
}

/// The builder of a verdict, which a stage fills.
pub struct Verdict<'a> {
    stage: String,
    contract: &'a Contract,
    table: &'a Table,
    has_fate: Vec<bool>,
    fates: Vec<FateEvent>,
    edits: Vec<(RowIx, Edit)>,
    links: Vec<StoredLink>,
    link_texts: LinkTexts,
    rulings: Vec<(RowIx, Ruling)>,
    /// For each column of the contract, the cells that are not on disk yet.
    cells: Vec<VecDeque<(RowIx, Cell)>>,
    /// Rows and content columns with an edit.
    explained: FxHashSet<(RowIx, &'static str)>,
    /// The cells of a part stay here until the parts are joined.
    writer: Option<FrameWriter>,
    /// The rows that may be judged, if not all.
    part: Option<&'a StagePart>,
    next_batch: usize,
    notes: BTreeMap<String, Value>,
}

impl<'a> Verdict<'a> {
    /// Returns an empty verdict on a table; the background writer writes its cells into the file `columns`.
    pub fn new(
        stage: &str,
        contract: &'a Contract,
        table: &'a Table,
        columns: &Path,
        background_writer: &BackgroundWriter,
    ) -> Self {
        Self {
            stage: stage.to_owned(),
            contract,
            table,
            has_fate: vec![false; table.len()],
            fates: Vec::new(),
            edits: Vec::new(),
            links: Vec::new(),
            link_texts: LinkTexts::default(),
            rulings: Vec::new(),
            cells: contract.writes.iter().map(|_| VecDeque::new()).collect(),
            explained: FxHashSet::default(),
            writer: Some(FrameWriter::create(columns).held_by(background_writer)),
            part: None,
            next_batch: 0,
            notes: BTreeMap::new(),
        }
    }

    /// Returns an empty verdict on the rows of a part.
    pub(super) fn of_part<'b>(&self, part: &'b StagePart) -> Verdict<'b>
    where
        'a: 'b,
    {
        Verdict::on_part(&self.stage, self.contract, self.table, part)
    }

    /// Returns an empty verdict on the rows of a part, which stays in memory.
    pub(super) fn on_part(
        stage: &str,
        contract: &'a Contract,
        table: &'a Table,
        part: &'a StagePart,
    ) -> Self {
        Self {
            stage: stage.to_owned(),
            contract,
            table,
            has_fate: vec![false; table.len()],
            fates: Vec::new(),
            edits: Vec::new(),
            links: Vec::new(),
            link_texts: LinkTexts::default(),
            rulings: Vec::new(),
            cells: contract.writes.iter().map(|_| VecDeque::new()).collect(),
            explained: FxHashSet::default(),
            writer: None,
            part: Some(part),
            next_batch: 0,
            notes: BTreeMap::new(),
        }
    }

    /// Returns the collected verdict on a part.
    pub(super) fn into_part(self) -> PartDelta {
        let Self { fates, edits, links, rulings, cells, notes, .. } = self;
        PartDelta { fates, edits, links, rulings, cells, notes }
    }

    /// Replays the verdict on a part in this one; the caller joins the notes.
    ///
    /// # Errors
    /// As the single calls.
    pub(super) fn absorb(&mut self, part: PartDelta) -> Result<()> {
        for (row, edit) in part.edits {
            self.edit(row, edit)?;
        }
        // Checked when they were made.
        self.links.extend(part.links);
        for (row, ruling) in part.rulings {
            self.ruling(row, ruling)?;
        }
        for (&column, cells) in self.contract.writes.iter().zip(part.cells) {
            for (row, cell) in cells {
                self.set(row, column, cell)?;
            }
        }
        for FateEvent { row, action, reason, into, evidence, .. } in part.fates {
            self.fate(row, action, reason, into, evidence)?;
        }
        Ok(())
    }

    /// Returns the stage's id in messages.
    pub(super) fn stage(&self) -> &str {
        &self.stage
    }

    fn refuse<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(Error::Verdict { stage: self.stage.clone(), what: what.into() })
    }

    /// Refuses a row that does not exist, because its result would be lost.
    fn must_hold(&self, row: RowIx) -> Result<()> {
        if (row as usize) < self.table.len() {
            Ok(())
        } else {
            self.refuse(format!("row {row} does not exist"))
        }
    }

    /// Refuses a row that does not exist or that another part judges.
    fn check_row(&self, row: RowIx) -> Result<()> {
        self.must_hold(row)?;
        if self.part.is_none_or(|part| part.holds(row)) {
            return Ok(());
        }
        self.refuse(format!("row {row} is judged in another part"))
    }

    fn fate(
        &mut self,
        row: RowIx,
        action: Action,
        reason: &'static Reason,
        into: Option<RowIx>,
        evidence: Evidence,
    ) -> Result<()> {
        if !self.contract.reasons.iter().any(|declared| declared.code == reason.code) {
            return self.refuse(format!("reason {} is not in its contract", reason.code));
        }
        self.check_row(row)?;
        if !self.table.is_kept(row) {
            return self.refuse(format!("{} of row {row}, which is not kept", action.name()));
        }
        if std::mem::replace(&mut self.has_fate[row as usize], true) {
            return self.refuse(format!("a second fate for row {row}: {}", reason.code));
        }
        let table = self.contract.table;
        self.fates.push(FateEvent { table, row, action, reason, into, cascaded: false, evidence });
        Ok(())
    }

    /// Drops a row.
    ///
    /// # Errors
    /// The contract or the table does not allow it.
    pub fn drop(&mut self, row: RowIx, reason: &'static Reason, evidence: Evidence) -> Result<()> {
        self.fate(row, Action::Drop, reason, None, evidence)
    }

    /// Holds a row.
    ///
    /// # Errors
    /// As [`Verdict::drop`].
    pub fn hold(&mut self, row: RowIx, reason: &'static Reason, evidence: Evidence) -> Result<()> {
        self.fate(row, Action::Hold, reason, None, evidence)
    }

    /// Holds a row because something outside its text failed, such as a service. The run continues, and the row counts
    /// for `max_fault_share`. `what` describes the failure and is stored as evidence. The step is not reused by a later run.
    ///
    /// # Errors
    /// As [`Verdict::drop`], or the reason is not a fault.
    pub fn fail(&mut self, row: RowIx, reason: &'static Reason, what: &str) -> Result<()> {
        if reason.kind != ReasonKind::Fault {
            return self.refuse(format!("reason {} of a failed row {row} is not a fault", reason.code));
        }
        self.note(INCOMPLETE_NOTE, Value::Bool(true));
        self.hold(row, reason, Evidence::detail(json!({ "failed": what })))
    }

    /// Leaves work open that a service did not do, of rows that stay kept: a later run does the stage again.
    pub fn leave_open(&mut self) {
        self.note(INCOMPLETE_NOTE, Value::Bool(true));
    }

    /// Merges a row into one that stays kept.
    ///
    /// # Errors
    /// As [`Verdict::drop`]; whether `into` stays kept is checked at the end.
    pub fn merge(
        &mut self,
        row: RowIx,
        into: RowIx,
        reason: &'static Reason,
        evidence: Evidence,
    ) -> Result<()> {
        if !self.contract.merges {
            return self.refuse("a merge is not in its contract");
        }
        if row == into {
            return self.refuse(format!("row {row} merged into itself"));
        }
        self.must_hold(into)?;
        self.fate(row, Action::Merge, reason, Some(into), evidence)
    }

    /// Sets a cell.
    ///
    /// # Errors
    /// The contract does not name the column, the cell has another kind, its batch is already on disk, or it changes
    /// content of the log without an earlier [`Verdict::edit`].
    pub fn set(&mut self, row: RowIx, column: ColumnSpec, cell: impl Into<Cell>) -> Result<()> {
        let cell = cell.into();
        let Some(at) = self.contract.writes.iter().position(|&declared| declared == column) else {
            return self.refuse(format!("column {} is not in its contract", column.name));
        };
        let fits = matches!(
            (&cell, column.kind),
            (Cell::Text(_), ColumnKind::Text) | (Cell::Int(_), ColumnKind::Int)
        );
        if !fits {
            return self.refuse(format!("column {} cannot hold {cell:?}", column.name));
        }
        self.check_row(row)?;
        if self.table.batch_of(row) < self.next_batch {
            return self.refuse(format!("cell of row {row} set after its batch was written"));
        }
        let changes = column.is_content && self.table.has(column);
        if changes && !self.explained.contains(&(row, column.name)) {
            return self.refuse(format!("column {} of row {row} changed without an edit", column.name));
        }
        self.cells[at].push_back((row, cell));
        Ok(())
    }

    /// Records the reason of a changed cell; [`Verdict::set`] sets the cell itself.
    ///
    /// # Errors
    /// The contract does not name the reason or the column.
    pub fn edit(&mut self, row: RowIx, edit: Edit) -> Result<()> {
        if !self.contract.reasons.iter().any(|declared| declared.code == edit.reason.code) {
            return self.refuse(format!("reason {} is not in its contract", edit.reason.code));
        }
        if !self.contract.writes.contains(&edit.column) {
            return self.refuse(format!("column {} is not in its contract", edit.column.name));
        }
        self.check_row(row)?;
        if edit.safety != Safety::Suggest {
            self.explained.insert((row, edit.column.name));
        }
        self.edits.push((row, edit));
        Ok(())
    }

    /// Records a link from a row to a record outside the run; the row may be kept or not.
    ///
    /// # Errors
    /// The contract allows no links, the row does not exist, or the score is not finite.
    pub fn link(&mut self, row: RowIx, link: &Link) -> Result<()> {
        if !self.contract.links {
            return self.refuse("a link is not in its contract");
        }
        self.check_row(row)?;
        if !link.score.is_finite() {
            return self.refuse(format!("a link of row {row} with the score {}", link.score));
        }
        let stored = self.link_texts.stored(self.table.id(), row, link);
        self.links.push(stored);
        Ok(())
    }

    /// Records the result of a person's decision on a row.
    ///
    /// # Errors
    /// The contract does not name its kind, or the row does not exist.
    pub fn ruling(&mut self, row: RowIx, ruling: Ruling) -> Result<()> {
        if !self.contract.decisions.contains(&ruling.kind) {
            return self.refuse(format!("a decision {} is not in its contract", ruling.kind.name()));
        }
        if row as usize >= self.table.len() {
            return self.refuse(format!("a decision on row {row}, which does not exist"));
        }
        self.rulings.push((row, ruling));
        Ok(())
    }

    /// Records a note about the whole table for reports, such as what was compared or not checked. It is written to the
    /// stage's manifest; a later note of the same name replaces the first.
    pub fn note(&mut self, name: &str, what: Value) {
        self.notes.insert(name.to_owned(), what);
    }

    /// Adds the opinion of a row stage on a row.
    ///
    /// # Errors
    /// As the single calls.
    pub fn opinion(&mut self, row: RowIx, opinion: Opinion) -> Result<()> {
        for edit in opinion.edits {
            self.edit(row, edit)?;
        }
        if let Some(ruling) = opinion.ruling {
            self.ruling(row, ruling)?;
        }
        for (column, cell) in opinion.cells {
            self.set(row, column, cell)?;
        }
        match opinion.fate {
            Some((Action::Merge, ..)) => self.refuse(format!("row {row} merged into no row")),
            Some((action, reason, evidence)) => self.fate(row, action, reason, None, evidence),
            None => Ok(()),
        }
    }

    /// Writes the cells of all batches up to and including this one to disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self, batch: usize) -> Result<()> {
        let Some(writer) = self.writer.as_mut().filter(|_| !self.contract.writes.is_empty()) else {
            return Ok(());
        };
        for cells in &mut self.cells {
            cells.make_contiguous().sort_by_key(|(row, _)| *row);
        }
        while self.next_batch <= batch {
            let range = self.table.batch(self.next_batch);
            let ready: Vec<Vec<(RowIx, Cell)>> = self
                .cells
                .iter_mut()
                .map(|cells| {
                    let n_ready = cells.partition_point(|(row, _)| (*row as usize) < range.end);
                    cells.drain(..n_ready).collect()
                })
                .collect();
            let columns: Columns<'_> = self
                .contract
                .writes
                .iter()
                .zip(&ready)
                .map(|(column, cells)| (column.name, dense(column.kind, cells, range.start, range.len())))
                .collect();
            writer.write(columns)?;
            self.next_batch += 1;
        }
        Ok(())
    }

    /// Checks the whole verdict, and writes the remaining cells.
    ///
    /// # Errors
    /// A merge goes into a row that is not kept, or the file cannot be written.
    pub fn finish(mut self) -> Result<Delta> {
        for event in &self.fates {
            if let Some(into) = event.into
                && (!self.table.is_kept(into) || self.has_fate[into as usize])
            {
                return self.refuse(format!("row {} merged into row {into}, which is not kept", event.row));
            }
        }
        let cells = if self.contract.writes.is_empty() {
            None
        } else {
            if let Some(last) = self.table.batches().checked_sub(1) {
                self.flush(last)?;
            } else {
                let none =
                    self.contract.writes.iter().map(|column| (column.name, dense(column.kind, &[], 0, 0)));
                if let Some(writer) = &mut self.writer {
                    writer.write(none.collect())?;
                }
            }
            self.writer.map(FrameWriter::finish).transpose()?
        };
        self.fates.sort_by_key(|event| event.row);
        self.edits.sort_by_key(|(row, _)| *row);
        self.links.sort_by_key(|link| link.row);
        self.rulings.sort_by_key(|(row, ruling)| (*row, ruling.kind));
        let Self { fates, edits, links, rulings, notes, .. } = self;
        Ok(Delta { fates, edits, cells, links, rulings, notes })
    }
}

/// Returns the cells of one batch, one per row; a row that was set twice keeps the last cell.
fn dense(kind: ColumnKind, cells: &[(RowIx, Cell)], start: usize, length: usize) -> Values<'_> {
    match kind {
        ColumnKind::Text => {
            let mut values = vec![None; length];
            for (row, cell) in cells {
                if let Cell::Text(text) = cell {
                    values[*row as usize - start] = Some(text.as_str());
                }
            }
            Values::Text(values)
        }
        ColumnKind::Int => {
            let mut values = vec![None; length];
            for (row, cell) in cells {
                if let Cell::Int(number) = cell {
                    values[*row as usize - start] = Some(*number);
                }
            }
            Values::Int(values)
        }
    }
}
