//! A row of a review table, and the columns of a review file.

use serde::Serialize;
use serde_json::Value;

/// The columns of a review file, in order. The first and the last ones are for people to fill in.
pub const FIELDS: [&str; 24] = [
    "decision",
    "possible_decisions",
    "id",
    "external_id",
    "entry_id",
    "table",
    "reason",
    "detail",
    "flags",
    "file",
    "line",
    "record",
    "question",
    "functions",
    "recorded_answer",
    "category",
    "relevance",
    "probability",
    "ground_truth",
    "patch",
    "by",
    "why",
    "n_requests",
    "answer_digest",
];

/// The column that follows [`FIELDS`] where rows have it.
pub(super) const WAS: &str = "was";

/// A row to decide on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReviewRow {
    /// What a person decides; empty, or what the caller filled in.
    pub decision: String,
    /// The decisions that can change the row, separated by commas.
    pub possible_decisions: String,
    /// The request id or list id: 32 hex digits.
    pub id: String,
    /// The log's own id of a request.
    pub external_id: Option<String>,
    /// The id of an entry of the dataset.
    pub entry_id: Option<String>,
    /// `requests` or `doc_lists`.
    pub table: &'static str,
    /// Why it is held: a reason code. `None` for an entry.
    pub reason: Option<String>,
    /// What the stage noted, JSON.
    pub detail: Option<String>,
    /// What to look at first in an unverified answer.
    pub flags: Option<String>,
    /// The input file.
    pub file: Option<String>,
    /// Line of that file, from 1.
    pub line: Option<i64>,
    /// Number of the record in that file, from 1.
    pub record: Option<i64>,
    /// The last message of the user.
    pub question: Option<String>,
    /// The functions on offer; of a list that cannot be parsed its text.
    pub functions: Value,
    /// The recorded calls in ground-truth form.
    pub recorded_answer: Value,
    /// The BFCL category: the one it has, or the one that functions and recorded calls lead to.
    pub category: Option<String>,
    /// `relevant`, `irrelevant` or `low-quality`.
    pub relevance: Option<String>,
    /// The probability from 0 to 1 that a function fits the request.
    pub probability: Option<f64>,
    /// For an answer by a person; null, or the suggested answer.
    pub ground_truth: Value,
    /// For an RFC 6902 patch of the functions; null.
    pub patch: Value,
    /// Who decided; empty.
    pub by: String,
    /// Why; empty.
    pub why: String,
    /// Of a held doc list: how many held requests it has.
    pub n_requests: Option<u64>,
    /// The digest of `recorded_answer`, by which `accept` notices that another program changed the answer.
    pub answer_digest: Option<String>,
    /// The digest of the content that is decided on; only in the files of `callsieve review`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}

impl ReviewRow {
    /// Returns how much the row surprises, as its stage noted, from 0 to 1; more than that for a row without such a note.
    pub(super) fn surprise(&self) -> f64 {
        let noted = || serde_json::from_str::<Value>(self.detail.as_deref()?).ok()?["surprise"].as_f64();
        noted().unwrap_or(f64::INFINITY)
    }
}
