//! The types that all modules share: tables and columns, reasons, actions and evidence, cells and edits.
//!
//! They are plain values without behaviour. `stage` defines stages with them; `verdict` and `runner` process them. The
//! columns themselves belong to the domain; this module only defines their description.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use callsieve_text::tokens::Tokenizer;

/// A row's number in its table, in the order in which the rows were read.
pub type RowIx = u32;

/// The two tables of a run; `Requests` is the child of `DocLists`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableId {
    /// Each row is one request of the log.
    Requests,
    /// Each row is one distinct list of function docs, as sent.
    DocLists,
}

impl TableId {
    /// Both tables, child first.
    pub const ALL: [Self; 2] = [Self::Requests, Self::DocLists];

    /// Returns the table's name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::DocLists => "doc_lists",
        }
    }
}

/// The type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8 text.
    Text,
    /// 64-bit whole numbers.
    Int,
}

/// The first writer of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A source of logs: the column exists from the start.
    Source,
    /// A source that makes rows.
    Maker,
    /// A stage.
    Stage,
}

/// The description of a column.
#[derive(Debug, Clone, Copy)]
pub struct ColumnSpec {
    /// Its table.
    pub table: TableId,
    /// Its name in files.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: ColumnKind,
    /// Its first writer.
    pub origin: Origin,
    /// A short description for people.
    pub what: &'static str,
    /// It holds content of the log, so a changed cell needs an edit. Other columns are derived and may be computed
    /// again.
    pub is_content: bool,
    /// It is copied into `rows.parquet` or `lists.parquet` of a finished run.
    pub is_listed: bool,
    /// It is copied into the dataset.
    pub is_passed_on: bool,
}

impl ColumnSpec {
    /// Returns a column that is neither content nor copied anywhere.
    pub const fn new(
        table: TableId,
        name: &'static str,
        kind: ColumnKind,
        origin: Origin,
        what: &'static str,
    ) -> Self {
        Self { table, name, kind, origin, what, is_content: false, is_listed: false, is_passed_on: false }
    }

    /// Marks the column as content of the log.
    #[must_use]
    pub const fn content(self) -> Self {
        Self { is_content: true, ..self }
    }

    /// Marks the column as copied into `rows.parquet` or `lists.parquet`.
    #[must_use]
    pub const fn listed(self) -> Self {
        Self { is_listed: true, ..self }
    }

    /// Marks the column as copied into the dataset.
    #[must_use]
    pub const fn passed_on(self) -> Self {
        Self { is_passed_on: true, ..self }
    }
}

impl PartialEq for ColumnSpec {
    fn eq(&self, other: &Self) -> bool {
        self.table == other.table && self.name == other.name
    }
}

impl Eq for ColumnSpec {}

/// The kind of a reason: a rule of the recipe, or a sign that something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// A rule of the recipe.
    Policy,
    /// Something could not be read or was invalid; the share of faults sets the exit code.
    Fault,
}

/// The reason of a fate or an edit. Codes have the form `topic/fault` and never change.
#[derive(Debug, PartialEq, Eq)]
pub struct Reason {
    /// The stable code.
    pub code: &'static str,
    /// Policy or fault.
    pub kind: ReasonKind,
    /// One sentence for people.
    pub sentence: &'static str,
    /// For a merge: how much the row is alike the row that it was merged into; `None` if its answer counts for itself
    /// only.
    pub likeness: Option<Likeness>,
    /// No decision of a person can overrule it, because later stages could not use the row, or another row represents
    /// it.
    pub binding: bool,
}

/// How much a merged row is alike its leader; greater is more alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// The same meaning.
    Similar,
    /// Nearly the same words.
    NearCopy,
    /// The same words.
    Equal,
}

impl Reason {
    /// Returns a reason that is a rule of the recipe.
    pub const fn policy(code: &'static str, sentence: &'static str) -> Self {
        Self { code, kind: ReasonKind::Policy, sentence, likeness: None, binding: false }
    }

    /// Returns a reason for something that went wrong.
    pub const fn fault(code: &'static str, sentence: &'static str) -> Self {
        Self { code, kind: ReasonKind::Fault, sentence, likeness: None, binding: false }
    }

    /// Makes the reason binding: no decision of a person can overrule it.
    #[must_use]
    pub const fn binding(self) -> Self {
        Self { binding: true, ..self }
    }

    /// Sets the likeness: a row that is merged for this reason still counts for its leader.
    #[must_use]
    pub const fn of_likeness(self, likeness: Likeness) -> Self {
        Self { likeness: Some(likeness), ..self }
    }
}

/// What happens to a row; at most one per row and stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Out of the dataset.
    Drop,
    /// Merged into a kept row, which represents it.
    Merge,
    /// Undecided: out of the dataset, listed for review.
    Hold,
}

impl Action {
    /// Returns the action's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Merge => "merge",
            Self::Hold => "hold",
        }
    }

    /// Returns the action of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Drop, Self::Merge, Self::Hold].into_iter().find(|action| action.name() == name)
    }
}

/// What a score measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// ROUGE-L F1 of token sequences of this tokenizer, from 0 to 1.
    RougeLF1(Tokenizer),
    /// Cosine of two vectors, from -1 to 1; the stage's notes name the embedder.
    Cosine,
    /// Jaccard index of two functions' sets of parameter names, from 0 to 1.
    ParameterJaccard,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 5] = [
        Self::RougeLF1(Tokenizer::Rouge),
        Self::RougeLF1(Tokenizer::RougeStemmed),
        Self::RougeLF1(Tokenizer::Unicode),
        Self::Cosine,
        Self::ParameterJaccard,
    ];

    /// Returns the metric's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::RougeLF1(Tokenizer::Rouge) => "rouge-l-f1",
            Self::RougeLF1(Tokenizer::RougeStemmed) => "rouge-l-f1/rouge-score-stemmed-v1",
            Self::RougeLF1(Tokenizer::Unicode) => "rouge-l-f1/unicode-v2",
            Self::Cosine => "cosine",
            Self::ParameterJaccard => "parameter-jaccard",
        }
    }

    /// Returns the metric of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// The evidence of a fate. The rare parts are boxed, because a log may have one fate per row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// A measured number.
    pub score: Option<(Metric, f64)>,
    /// Other findings and their places, as JSON.
    pub detail: Option<Box<Value>>,
}

impl Evidence {
    /// Returns a measured number.
    pub fn score(metric: Metric, score: f64) -> Self {
        Self { score: Some((metric, score)), detail: None }
    }

    /// Returns a detail as JSON.
    pub fn detail(detail: Value) -> Self {
        Self { score: None, detail: Some(Box::new(detail)) }
    }
}

/// One value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text, or JSON as text.
    Text(String),
    /// A whole number.
    Int(i64),
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// Whether a changed cell keeps its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// Always applied.
    Safe,
    /// Applied if the pipeline allows it.
    Unsafe,
    /// Only shown.
    Suggest,
}

impl Safety {
    /// Returns the word in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Suggest => "suggest",
        }
    }

    /// Returns the safety of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Safe, Self::Unsafe, Self::Suggest].into_iter().find(|safety| safety.name() == name)
    }
}

/// One change of one cell, with its before and after inside the patch; a [`Redaction`] has no before.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The changed column.
    pub column: ColumnSpec,
    /// Why.
    pub reason: &'static Reason,
    /// Whether it keeps the meaning.
    pub safety: Safety,
    /// RFC 6902, each change preceded by a `test` of the old value; JSON text. Or one operation `redact`, see
    /// [`Edit::redacted`].
    pub patch: String,
}

/// The record of a change whose old value must not be kept in any form, not even as a hash, which could be reversed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction<'a> {
    /// The kind of the value.
    pub kind: &'a str,
    /// JSON pointer of the string or number in the cell; empty where the cell is plain text.
    pub path: &'a str,
    /// First byte of the value in the old string, and the byte after it.
    pub span: (usize, usize),
    /// The replacement.
    pub placeholder: &'a str,
}

impl Edit {
    /// Returns an edit that records the place and the replacement, but not the old value:
    /// `[{"op": "redact", "path": "/0/content", "from": 8, "to": 25, "kind": "email", "value": "user1@example.com"}]`.
    pub fn redacted(column: ColumnSpec, reason: &'static Reason, redaction: &Redaction<'_>) -> Self {
        let Redaction { kind, path, span: (from, to), placeholder } = *redaction;
        let patch = json!([{"op": "redact", "path": path, "from": from, "to": to, "kind": kind, "value": placeholder}]);
        Self { column, reason, safety: Safety::Safe, patch: patch.to_string() }
    }
}
