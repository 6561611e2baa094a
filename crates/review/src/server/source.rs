//! What the caller implements: the rows, and a validator of edits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::item::{CategoryCount, Group, Item, Table};
use crate::store::Verdict;

/// Why rows cannot be read.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// The rows to decide on, in the order in which they are reviewed.
pub trait Source: Send + Sync {
    /// Returns the heads of all items, in order; read once, when the server starts.
    ///
    /// # Errors
    /// The rows cannot be read.
    fn heads(&self) -> Result<Vec<Head>, SourceError>;

    /// Returns items by their place in the order; fewer at the end.
    ///
    /// # Errors
    /// The rows cannot be read.
    fn page(&self, from: usize, count: usize) -> Result<Vec<Item>, SourceError>;

    /// Returns how many entries each category has and should have.
    fn categories(&self) -> Vec<CategoryCount>;
}

/// What the server keeps in memory of each item.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The request id or list id.
    pub id: String,
    /// Its table.
    pub table: Table,
    /// The digest of the content that is decided on.
    pub was: String,
    /// The rows that are alike.
    pub group: Group,
    /// The reason code.
    pub reason: String,
    /// The start of the query, for lists of rows.
    pub line: String,
    /// The category that the row would go to.
    pub category: Option<String>,
    /// The decisions that can change the row.
    pub possible: Vec<Verdict>,
    /// The labels for a relabel.
    pub labels: Vec<String>,
    /// How suspicious the row is.
    pub suspicion: u64,
}

/// Longest start of a query in a head, in characters.
const LINE_CHARS: usize = 120;

impl Head {
    /// Returns the head of an item.
    pub fn of(item: &Item) -> Self {
        Self {
            id: item.id.clone(),
            table: item.table,
            was: item.was.clone(),
            group: item.group.clone(),
            reason: item.reason.code.clone(),
            line: item
                .query
                .split_whitespace()
                .flat_map(|word| [word, " "])
                .flat_map(str::chars)
                .take(LINE_CHARS)
                .collect(),
            category: item.category.clone(),
            possible: item.possible.clone(),
            labels: item.labels.clone(),
            suspicion: item.suspicion(),
        }
    }
}

/// What a reviewer edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// The answer: BFCL ground truth.
    Answer,
    /// The functions: a list of docs.
    EditDoc,
    /// The text of the query.
    EditQuery,
}

impl Edit {
    /// Returns what a decision edits.
    pub(super) fn of(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Answer => Some(Self::Answer),
            Verdict::EditDoc => Some(Self::EditDoc),
            Verdict::EditQuery => Some(Self::EditQuery),
            _ => None,
        }
    }
}

/// A message about an edited text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Whether the text cannot be saved; a warning otherwise.
    pub is_error: bool,
    /// Where: `line 3, column 7`, `book.seats`.
    pub place: Option<String>,
    /// What was found, and what is expected.
    pub text: String,
}

/// A checked text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    /// What a decision stores; none if there is an error. An edit of docs is an object with `functions` or `patch`.
    pub value: Option<Value>,
    /// The messages.
    pub notes: Vec<Note>,
}

impl Checked {
    /// Whether the text can be saved.
    pub fn is_valid(&self) -> bool {
        self.value.is_some() && !self.notes.iter().any(|note| note.is_error)
    }
}

/// Validates edited texts, while a person types and before they are saved.
pub trait Checker: Send + Sync {
    /// Checks a text for an item.
    fn check(&self, item: &Item, edit: Edit, text: &str) -> Checked;
}
