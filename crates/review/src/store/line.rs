//! A line of a file of decisions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::item::Table;

/// What a reviewer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The row is right as the page shows it.
    Accept,
    /// The row is dropped.
    Drop,
    /// The row has another label.
    Relabel,
    /// The query has another text.
    EditQuery,
    /// The functions are others.
    EditDoc,
    /// The row has this answer.
    Answer,
    /// The reviewer does not decide.
    Skip,
    /// An earlier line has no effect.
    Undo,
}

impl Verdict {
    /// Returns its word in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Drop => "drop",
            Self::Relabel => "relabel",
            Self::EditQuery => "edit-query",
            Self::EditDoc => "edit-doc",
            Self::Answer => "answer",
            Self::Skip => "skip",
            Self::Undo => "undo",
        }
    }

    /// Whether it can be decided for all rows of a group at once: an answer must be seen to be accepted.
    pub fn is_for_groups(self) -> bool {
        matches!(self, Self::Drop | Self::Relabel)
    }
}

/// A decision before it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The request id or list id.
    pub id: String,
    /// Its table.
    pub table: Table,
    /// The digest of the content that was decided on.
    pub was: String,
    /// The decision.
    pub decision: Verdict,
    /// What the decision needs besides: see [`Line::value`].
    pub value: Value,
    /// Why, in the reviewer's words.
    pub why: Option<String>,
    /// The reason code with which the row was shown.
    pub reason: Option<String>,
}

impl Draft {
    /// Returns a decision that needs no value.
    pub fn new(id: impl Into<String>, table: Table, was: impl Into<String>, decision: Verdict) -> Self {
        Self { id: id.into(), table, was: was.into(), decision, value: Value::Null, why: None, reason: None }
    }
}

/// A line of a file of decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// When, by the clock of the caller.
    pub time: String,
    /// Who.
    pub reviewer: String,
    /// The request id or list id.
    pub id: String,
    /// Its table.
    pub table: Table,
    /// The digest of the content that was decided on.
    pub was: String,
    /// The decision.
    pub decision: Verdict,
    /// `accept`: null, the answer or the label that was accepted. `relabel`: the label. `answer`: BFCL ground truth. `edit-query`: the
    /// text. `edit-doc`: `functions` or `patch`, and for a request `list` with the id and digest of its doc list. Null otherwise.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
    /// Why, in the reviewer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The reason code with which the row was shown: after a run has applied the decision, the row has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The group, for a decision on all of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The first line of a decision on a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// The line that an `undo` takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// Whether the reviewer was shown what others decided on the row.
    #[serde(default, skip_serializing_if = "is_false")]
    pub informed: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde wants it.
fn is_false(is: &bool) -> bool {
    !*is
}

/// Returns lines as they are in a file.
pub(super) fn text_of(lines: &[Line]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line).expect("a line has only texts as keys");
        bytes.push(b'\n');
    }
    bytes
}
