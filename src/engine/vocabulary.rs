//! The words that all modules share: tables and columns, reasons, actions and evidence, cells and edits.
//!
//! Plain values without behaviour of their own. What stages are made of them stands in `stage`, what becomes of them in
//! `verdict` and `runner`. The columns themselves are the domain's: here is only what describes one.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::text::tokens::Tokenizer;

/// A row's place in its table, in the order in which the rows were read.
pub type RowIx = u32;

/// The two tables of a run; `Requests` is the child of `DocLists`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableId {
    /// One row is one request of the log.
    Requests,
    /// One row is one distinct list of function docs, as sent.
    DocLists,
}

impl TableId {
    /// Both tables, child first.
    pub const ALL: [Self; 2] = [Self::Requests, Self::DocLists];

    /// The table's name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::DocLists => "doc_lists",
        }
    }
}

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8 text.
    Text,
    /// 64-bit whole numbers.
    Int,
}

/// Who writes a column first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The source: its cells are there from the start.
    Source,
    /// A stage.
    Stage,
}

/// A column: where it is, what it is called, what it holds, and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub struct ColumnSpec {
    /// Its table.
    pub table: TableId,
    /// Its name in files.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: ColumnKind,
    /// Who writes it first.
    pub origin: Origin,
    /// One phrase for people.
    pub what: &'static str,
    /// It holds what the log said: a changed cell needs an edit. The rest is derived and may be made anew.
    pub is_content: bool,
    /// The tables of a finished run that show where each row is copy it.
    pub is_listed: bool,
    /// The dataset has it as the stages left it.
    pub is_passed_on: bool,
}

impl ColumnSpec {
    /// A column that is neither content nor copied anywhere.
    pub const fn new(
        table: TableId,
        name: &'static str,
        kind: ColumnKind,
        origin: Origin,
        what: &'static str,
    ) -> Self {
        Self { table, name, kind, origin, what, is_content: false, is_listed: false, is_passed_on: false }
    }

    /// The same column, as one that holds what the log said.
    #[must_use]
    pub const fn content(self) -> Self {
        Self { is_content: true, ..self }
    }

    /// The same column, copied into the tables that show where each row is.
    #[must_use]
    pub const fn listed(self) -> Self {
        Self { is_listed: true, ..self }
    }

    /// The same column, copied into the dataset.
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

/// Whether a reason is a decision about the product or a sign that something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// The recipe wants it so.
    Policy,
    /// Something could not be read or did not fit; the share of these sets the exit code.
    Fault,
}

/// Why a row met its fate or a cell was edited. Codes are `topic/fault` and stay for ever.
#[derive(Debug, PartialEq, Eq)]
pub struct Reason {
    /// The stable code.
    pub code: &'static str,
    /// Product decision or fault.
    pub kind: ReasonKind,
    /// One sentence for people.
    pub sentence: &'static str,
    /// Of a merge: how much the row says the same as the one that it went into; `None` where it speaks for itself alone.
    pub likeness: Option<Likeness>,
    /// No decision of a person overrules it: what comes after could not use the row, or another stands for it.
    pub binding: bool,
}

/// How much a merged row says the same as the one that stands for it; the greater the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// The same by its sense.
    Similar,
    /// The same in nearly the same words.
    NearCopy,
    /// The same words.
    Equal,
}

impl Reason {
    /// A reason that is part of the recipe.
    pub const fn policy(code: &'static str, sentence: &'static str) -> Self {
        Self { code, kind: ReasonKind::Policy, sentence, likeness: None, binding: false }
    }

    /// A reason that says something went wrong.
    pub const fn fault(code: &'static str, sentence: &'static str) -> Self {
        Self { code, kind: ReasonKind::Fault, sentence, likeness: None, binding: false }
    }

    /// The same reason, which no decision of a person overrules.
    #[must_use]
    pub const fn binding(self) -> Self {
        Self { binding: true, ..self }
    }

    /// The same, as one of merges by which a row goes on to speak for the one that it went into.
    #[must_use]
    pub const fn of_likeness(self, likeness: Likeness) -> Self {
        Self { likeness: Some(likeness), ..self }
    }
}

/// What happens to a row; at most one a row and stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Out of the dataset.
    Drop,
    /// Stands for nothing of its own any more: a kept row stands for it.
    Merge,
    /// Not good enough to decide: out of the dataset, listed for review.
    Hold,
}

impl Action {
    /// The action's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Merge => "merge",
            Self::Hold => "hold",
        }
    }

    /// The action of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Drop, Self::Merge, Self::Hold].into_iter().find(|action| action.name() == name)
    }
}

/// What a score measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// ROUGE-L F1 of token sequences as this tokenizer cuts them, from 0 to 1.
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

    /// The metric's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::RougeLF1(Tokenizer::Rouge) => "rouge-l-f1",
            Self::RougeLF1(Tokenizer::RougeStemmed) => "rouge-l-f1/rouge-score-stemmed-v1",
            Self::RougeLF1(Tokenizer::Unicode) => "rouge-l-f1/unicode-v2",
            Self::Cosine => "cosine",
            Self::ParameterJaccard => "parameter-jaccard",
        }
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// What backs a fate up. Most fates need little, so the rare parts are boxed: a log has a fate a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// A measured number.
    pub score: Option<(Metric, f64)>,
    /// Something else, as JSON: what was found and where.
    pub detail: Option<Box<Value>>,
}

impl Evidence {
    /// A measured number.
    pub fn score(metric: Metric, score: f64) -> Self {
        Self { score: Some((metric, score)), detail: None }
    }

    /// A detail as JSON.
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

/// Whether a changed cell still says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// Always applied.
    Safe,
    /// Applied when the pipeline says so.
    Unsafe,
    /// Only shown.
    Suggest,
}

impl Safety {
    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Suggest => "suggest",
        }
    }
}

/// One change of one cell, with its before and after inside the patch; a [`Redaction`] has no before.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The changed column.
    pub column: ColumnSpec,
    /// Why.
    pub reason: &'static Reason,
    /// Whether it still says the same.
    pub safety: Safety,
    /// RFC 6902, each change preceded by a `test` of the old value; JSON text. Or one operation `redact`, see
    /// [`Edit::redacted`].
    pub patch: String,
}

/// What is noted where the old value must not be kept, in any form: a hash of it could be reversed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction<'a> {
    /// What kind of value it was.
    pub kind: &'a str,
    /// JSON pointer of the string or number in the cell; empty where the cell is plain text.
    pub path: &'a str,
    /// First byte of the value in the old string, and the byte behind it.
    pub span: (usize, usize),
    /// What stands there now.
    pub placeholder: &'a str,
}

impl Edit {
    /// An edit that says what was replaced where, and not what it was:
    /// `[{"op": "redact", "path": "/0/content", "from": 8, "to": 25, "kind": "email", "value": "user1@example.com"}]`.
    pub fn redacted(column: ColumnSpec, reason: &'static Reason, redaction: &Redaction<'_>) -> Self {
        let Redaction { kind, path, span: (from, to), placeholder } = *redaction;
        let patch = json!([{"op": "redact", "path": path, "from": from, "to": to, "kind": kind, "value": placeholder}]);
        Self { column, reason, safety: Safety::Safe, patch: patch.to_string() }
    }
}
