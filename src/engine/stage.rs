//! The words a stage speaks: contract, reason, verdict's parts, and the two stage traits.
//!
//! A stage looks at declared columns and says what should happen to which row and
//! why; it never touches a file or another row. Only `runner` acts on what it says.
//! What a stage says is collected in `verdict`; what it sees comes from `view`.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::columns::ColumnSpec;
use super::decisions::{DecisionKind, Ruling};
use super::error::Result;
use super::estimate::Estimate;
use super::fingerprint::Fingerprint;
use super::partition::Partition;
use super::services::Services;
use super::verdict::Verdict;
use super::view::{Row, View};
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
    /// No decision of a person overrules it: what comes after could not use the row, or another stands for it.
    pub binding: bool,
}

impl Reason {
    /// A reason that is part of the recipe.
    pub const fn policy(code: &'static str, sentence: &'static str) -> Self {
        Self { code, kind: ReasonKind::Policy, sentence, binding: false }
    }

    /// A reason that says something went wrong.
    pub const fn fault(code: &'static str, sentence: &'static str) -> Self {
        Self { code, kind: ReasonKind::Fault, sentence, binding: false }
    }

    /// The same reason, which no decision of a person overrules.
    #[must_use]
    pub const fn binding(self) -> Self {
        Self { binding: true, ..self }
    }
}

/// What a stage reads, writes and may say. It may depend on settings; `plan` checks it before row 1.
#[derive(Debug, Clone)]
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
    /// It may link rows to records of sets outside the run; see [`Link`](super::links::Link).
    pub links: bool,
    /// The decisions of people that it takes from its rows; `keep` and `drop` are the runner's.
    pub decisions: Vec<DecisionKind>,
    /// Which rows it must judge together.
    pub partition: Partition,
    /// A second run right after the first finds nothing to do.
    pub idempotent: bool,
    /// Rows may leave the machine; refused ahead of redaction.
    pub sends_rows_out: bool,
}

impl Contract {
    /// Judges a table, and reads, writes and says nothing: what a contract names is filled in after that.
    pub fn new(table: TableId) -> Self {
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
        }
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

/// What a row stage says about one row.
#[derive(Debug, Default)]
pub struct Opinion {
    /// Its fate; `None` keeps it.
    pub fate: Option<(Action, &'static Reason, Evidence)>,
    /// New or changed cells.
    pub cells: Vec<(ColumnSpec, Cell)>,
    /// What was changed in them.
    pub edits: Vec<Edit>,
    /// What became of a person's decision on it.
    pub ruling: Option<Ruling>,
}

impl Opinion {
    /// Keeps the row as it is.
    pub fn keep() -> Self {
        Self::default()
    }

    /// Drops the row.
    pub fn drop(reason: &'static Reason, evidence: Evidence) -> Self {
        Self { fate: Some((Action::Drop, reason, evidence)), ..Self::default() }
    }

    /// Holds the row.
    pub fn hold(reason: &'static Reason, evidence: Evidence) -> Self {
        Self { fate: Some((Action::Hold, reason, evidence)), ..Self::default() }
    }

    /// Adds a cell.
    #[must_use]
    pub fn with(mut self, column: ColumnSpec, cell: impl Into<Cell>) -> Self {
        self.cells.push((column, cell.into()));
        self
    }
}

/// Where progress goes; only the command line draws it.
pub trait Progress: Send + Sync {
    /// A step begins; `total` is in rows where it is known.
    fn begin(&self, step: &str, total: Option<u64>);
    /// So many more rows are done.
    fn advance(&self, rows: u64);
    /// The step is over; one line says how it went.
    fn end(&self, outcome: &str);
    /// Something a person should know.
    fn warn(&self, message: &str);
}

/// Draws nothing.
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _step: &str, _total: Option<u64>) {}
    fn advance(&self, _rows: u64) {}
    fn end(&self, _outcome: &str) {}
    fn warn(&self, _message: &str) {}
}

/// Says whether the user asked to stop: no more work is wanted from then on.
///
/// Whatever takes its time asks again and again, from any thread, at least once every few milliseconds.
pub trait Cancel: Sync {
    /// The user asked to stop; once it holds, it holds for good.
    fn is_cancelled(&self) -> bool;
}

impl Cancel for AtomicBool {
    fn is_cancelled(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// Asked again and again by what takes its time and knows no run; `true` stops it, and then stays `true`.
pub type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

/// What a stage may use besides its rows.
pub struct Context<'a> {
    /// The run's seed.
    pub seed: u64,
    /// Says whether the user asked to stop.
    pub cancel: &'a dyn Cancel,
    /// Where progress goes.
    pub progress: &'a dyn Progress,
    /// What else stages may use.
    pub services: Services,
}

impl<'a> Context<'a> {
    /// A context without services.
    pub fn new(seed: u64, cancel: &'a dyn Cancel, progress: &'a dyn Progress) -> Self {
        Self { seed, cancel, progress, services: Services::default() }
    }

    /// The same with these services.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        Self { services, ..self }
    }

    /// The user asked to stop.
    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

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

    /// The keys of the rows, where the contract's partition is [`Partition::Key`]: rows of equal key are judged in
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
    /// See [`Stage::contract`].
    fn contract(&self) -> Contract;

    /// See [`Stage::fingerprint`].
    ///
    /// # Errors
    /// An external file cannot be read.
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()>;

    /// Judges one row.
    fn judge_row(&self, row: Row<'_>) -> Opinion;
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
        view.for_each_batch(cx, |batch| {
            let opinions = batch.map_rows(|row| self.0.judge_row(row))?;
            for (row, opinion) in batch.rows().iter().zip(opinions) {
                out.opinion(*row, opinion)?;
            }
            out.flush(batch.index())
        })
    }
}
