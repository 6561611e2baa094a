//! The contract of a stage: what it reads and writes and which reasons it uses, declared before it sees a row.

use serde::{Deserialize, Serialize};

use super::decision::DecisionKind;
use super::vocabulary::{ColumnSpec, Reason, TableId};

/// The declaration of what a stage reads, writes and reports. It may depend on settings; `plan` checks it before row 1.
///
/// A contract from [`Contract::of`] reads and writes nothing, has no reason, judges all rows together and is
/// idempotent. The other methods change that, so a stage states only what differs.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of the stage")]
pub struct Contract {
    /// The table whose rows the stage judges.
    pub table: TableId,
    /// The columns it reads, of its own table or the other one.
    pub reads: Vec<ColumnSpec>,
    /// Columns that it reads if an earlier stage writes them; otherwise their cells are empty.
    pub reads_if_there: Vec<ColumnSpec>,
    /// The columns it adds or changes, of its own table.
    pub writes: Vec<ColumnSpec>,
    /// All reasons it may use.
    pub reasons: Vec<&'static Reason>,
    /// It may merge rows. A later edit can then make two kept rows equal again.
    pub merges: bool,
    /// It may link rows to records of public sets; see [`Link`](super::link::Link).
    pub links: bool,
    /// The kinds of decisions of people that it applies to its rows; the runner applies `keep` and `drop`.
    pub decisions: Vec<DecisionKind>,
    /// The rows that it must judge together.
    pub partition: Partition,
    /// A second run right after the first changes nothing.
    pub idempotent: bool,
    /// It may send rows to another machine; refused before redaction.
    pub sends_rows_out: bool,
    /// The language models that it asks.
    pub asks: Vec<String>,
    /// Its special role, if it has one, for the pipeline and for readers of a finished run.
    pub role: Role,
}

/// The rows of its table that a stage must judge together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    /// Each row is judged alone.
    Rows,
    /// Rows of equal key are judged together; see `Stage::keys`.
    Key,
    /// All rows are judged together.
    Whole,
}

impl Partition {
    /// Returns its name in messages and documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Key => "key",
            Self::Whole => "whole",
        }
    }
}

/// The special role of a stage. Other code checks the role, never the name of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// No special role.
    #[default]
    Plain,
    /// Removes personal values from the columns of its table that it writes. It must come before all other stages;
    /// after it, cells of that table may be quoted and sent to another machine.
    Redaction,
    /// Drops rows that an earlier dataset already holds; its setting `run` is that dataset.
    Baseline,
}

impl Role {
    /// Returns `true` if the stage has no special role.
    pub fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

impl Contract {
    /// Returns the minimal contract of a stage that judges the rows of a table.
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
            asks: Vec::new(),
            role: Role::Plain,
        }
    }

    /// Adds columns that the stage reads, of its own table or the other one.
    #[must_use]
    pub fn reads(mut self, columns: impl IntoIterator<Item = ColumnSpec>) -> Self {
        self.reads.extend(columns);
        self
    }

    /// Adds columns that the stage reads if an earlier stage writes them.
    #[must_use]
    pub fn reads_if_there(mut self, columns: impl IntoIterator<Item = ColumnSpec>) -> Self {
        self.reads_if_there.extend(columns);
        self
    }

    /// Adds columns of its own table that the stage writes.
    #[must_use]
    pub fn writes(mut self, columns: impl IntoIterator<Item = ColumnSpec>) -> Self {
        self.writes.extend(columns);
        self
    }

    /// Adds reasons that the stage may use.
    #[must_use]
    pub fn reasons(mut self, reasons: impl IntoIterator<Item = &'static Reason>) -> Self {
        self.reasons.extend(reasons);
        self
    }

    /// Allows merges.
    #[must_use]
    pub fn merges(self) -> Self {
        Self { merges: true, ..self }
    }

    /// Allows links to records of public sets.
    #[must_use]
    pub fn links(self) -> Self {
        Self { links: true, ..self }
    }

    /// Adds kinds of decisions of people that the stage applies to its rows.
    #[must_use]
    pub fn decisions(mut self, decisions: impl IntoIterator<Item = DecisionKind>) -> Self {
        self.decisions.extend(decisions);
        self
    }

    /// Sets the rows that must be judged together; the default is all.
    #[must_use]
    pub fn partition(self, partition: Partition) -> Self {
        Self { partition, ..self }
    }

    /// Declares that a second run right after the first may change something.
    #[must_use]
    pub fn not_idempotent(self) -> Self {
        Self { idempotent: false, ..self }
    }

    /// Sets whether the stage may send rows to another machine.
    #[must_use]
    pub fn sends_rows_out(self, sends_rows_out: bool) -> Self {
        Self { sends_rows_out, ..self }
    }

    /// Sets the language models that the stage asks, which may be on another machine.
    #[must_use]
    pub fn asks<'m>(self, models: impl IntoIterator<Item = &'m str>) -> Self {
        let asks: Vec<String> = models.into_iter().map(str::to_owned).collect();
        let sends_rows_out = self.sends_rows_out || !asks.is_empty();
        Self { sends_rows_out, asks, ..self }
    }

    /// Sets the language models that the stage asks about rows that were made: they have values of an environment, which the user
    /// names to be shown, and nothing of a log.
    #[must_use]
    pub fn asks_about_made<'m>(self, models: impl IntoIterator<Item = &'m str>) -> Self {
        let sends_rows_out = self.sends_rows_out;
        Self { sends_rows_out, ..self.asks(models) }
    }

    /// Sets the special role.
    #[must_use]
    pub fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// Returns the table whose personal values the stage removes.
    pub fn redacts(&self) -> Option<TableId> {
        (self.role == Role::Redaction).then_some(self.table)
    }
}
