//! The contract of a stage: what it reads, writes and may say, declared before it sees a row.

use serde::{Deserialize, Serialize};

use super::decision::DecisionKind;
use super::vocabulary::{ColumnSpec, Reason, TableId};

/// What a stage reads, writes and may say. It may depend on settings; `plan` checks it before row 1.
///
/// One that is made by [`Contract::of`] reads and writes nothing, names no reason, judges all rows together, and finds
/// nothing to do in a second run; the other methods add to that, so that a stage states only what it has to.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own about the stage")]
pub struct Contract {
    /// The table whose rows it judges.
    pub table: TableId,
    /// The columns it reads, of its own table or of the other.
    pub reads: Vec<ColumnSpec>,
    /// Columns that it reads where a stage before it writes them; elsewhere their cells are empty.
    pub reads_if_there: Vec<ColumnSpec>,
    /// The columns it adds or changes, of its own table.
    pub writes: Vec<ColumnSpec>,
    /// Every reason it may name.
    pub reasons: Vec<&'static Reason>,
    /// It may merge rows: an edit after it can make two kept rows equal again.
    pub merges: bool,
    /// It may link rows to records of sets outside the run; see [`Link`](super::link::Link).
    pub links: bool,
    /// The decisions of people that it takes from its rows; `keep` and `drop` are the runner's.
    pub decisions: Vec<DecisionKind>,
    /// Which rows it must judge together.
    pub partition: Partition,
    /// A second run right after the first finds nothing to do.
    pub idempotent: bool,
    /// Rows may leave the machine; refused ahead of redaction.
    pub sends_rows_out: bool,
    /// What it is to the pipeline and to those who read a finished run.
    pub role: Role,
}

/// Which rows of its table a stage must judge together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    /// Each row alone: any rows may be judged apart from the others.
    Rows,
    /// Rows of equal key; see `Stage::keys`.
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

/// What a stage is, where others must know: they ask for this, and never for the name of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// One of many: nobody asks for it.
    #[default]
    Plain,
    /// Takes personal values out of the columns of its table that it writes. It stands ahead of all others, and after it
    /// cells of that table may be quoted and may leave the machine.
    Redaction,
    /// Drops what an earlier dataset holds already; its setting `run` is that dataset.
    Baseline,
}

impl Role {
    /// Nobody asks for it.
    pub fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

impl Contract {
    /// A contract to judge the rows of a table, and as yet nothing more.
    pub fn of(table: TableId) -> Self {
        Self {
            table,
            reads: Vec::new(),
            reads_if_there: Vec::new(),
            writes: Vec::new(),
            reasons: Vec::new(),
            merges: false,
            links: false,
            decisions: Vec::new(),
            partition: Partition::Whole,
            idempotent: true,
            sends_rows_out: false,
            role: Role::Plain,
        }
    }

    /// Reads these columns, of its own table or of the other.
    #[must_use]
    pub fn reads(mut self, columns: impl IntoIterator<Item = ColumnSpec>) -> Self {
        self.reads.extend(columns);
        self
    }

    /// Reads these columns where a stage before it writes them.
    #[must_use]
    pub fn reads_if_there(mut self, columns: impl IntoIterator<Item = ColumnSpec>) -> Self {
        self.reads_if_there.extend(columns);
        self
    }

    /// Adds or changes these columns of its own table.
    #[must_use]
    pub fn writes(mut self, columns: impl IntoIterator<Item = ColumnSpec>) -> Self {
        self.writes.extend(columns);
        self
    }

    /// May name these reasons.
    #[must_use]
    pub fn reasons(mut self, reasons: impl IntoIterator<Item = &'static Reason>) -> Self {
        self.reasons.extend(reasons);
        self
    }

    /// May merge rows.
    #[must_use]
    pub fn merges(self) -> Self {
        Self { merges: true, ..self }
    }

    /// May link rows to records of sets outside the run.
    #[must_use]
    pub fn links(self) -> Self {
        Self { links: true, ..self }
    }

    /// Takes these decisions of people from its rows.
    #[must_use]
    pub fn decisions(mut self, decisions: impl IntoIterator<Item = DecisionKind>) -> Self {
        self.decisions.extend(decisions);
        self
    }

    /// Which rows it must judge together, where these are not all.
    #[must_use]
    pub fn partition(self, partition: Partition) -> Self {
        Self { partition, ..self }
    }

    /// A second run right after the first may find something to do.
    #[must_use]
    pub fn not_idempotent(self) -> Self {
        Self { idempotent: false, ..self }
    }

    /// Whether rows may leave the machine.
    #[must_use]
    pub fn sends_rows_out(self, sends_rows_out: bool) -> Self {
        Self { sends_rows_out, ..self }
    }

    /// Has a role that others ask for.
    #[must_use]
    pub fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The table whose personal values it takes out.
    pub fn redacts(&self) -> Option<TableId> {
        (self.role == Role::Redaction).then_some(self.table)
    }
}
