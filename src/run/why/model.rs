//! What `why` returns: the history of a request, of a doc list, of a line without a request, or the records of one line.
//!
//! All values are whole. Shortening them, and escaping what a terminal must not see, is left to the caller.

use serde::Serialize;
use serde_json::{Map, Value};

use super::json_text::JsonText;
use super::stages::{RowEvent, StageHistory};
use crate::conversation::Message;
use crate::instruct::attempt::{Attempt, Checked};
use crate::instruct::record::Record;
use crate::run::place::Place;

/// What a name means, with its history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// One request, or several that the log gave one id.
    Requests {
        /// The requests, in canonical order.
        requests: Vec<RequestHistory>,
    },
    /// A doc list.
    List(ListHistory),
    /// A line without a request of its own.
    Line(LineHistory),
    /// A line with several records.
    Records(RecordsOfLine),
    /// The whole id of a request that was forgotten.
    Forgotten {
        /// The id that it had: 32 hex digits.
        id: String,
        /// The code of the reason.
        reason: &'static str,
    },
}

/// The history of a request, from its place in the log to its fate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RequestHistory {
    /// The request id: 32 hex digits.
    pub id: String,
    /// Where it was read.
    pub place: Option<Place>,
    /// The request as sent; `None` for a forgotten one, of which only the place is kept.
    pub sent: Option<SentRequest>,
    /// The line that its response was joined from, if that is another one.
    pub response_from: Option<Place>,
    /// The doc list that it was sent with; `None` for a forgotten request.
    pub docs: Option<SentDocs>,
    /// The stages that did something with it or its doc lists, in order.
    pub stages: Vec<StageHistory>,
    /// What was forgotten after the run.
    pub forgotten: Vec<RowEvent>,
    /// What models did to do what it asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// What was found in each of them without a model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<Checked>,
    /// What language models say of the chosen attempt: the cell of the column `judgements`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<JsonText>,
    /// How the relevance of its functions was judged.
    pub judgement: Option<Judgement>,
    /// How it ended.
    pub fate: RowFate,
    /// What became of a kept request; `None` for one that was not kept.
    pub kept: Option<KeptRequest>,
}

/// A request as sent, with what the log knows about it. The edits of the run are made in it, so personal values are placeholders
/// where the run redacts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SentRequest {
    /// The log's own id.
    pub external_id: Option<String>,
    /// The log format of its line.
    pub log_format: Option<String>,
    /// Other facts of the log.
    pub facts: Facts,
    /// The messages before the answer; empty if they were purged.
    pub messages: Vec<Message>,
    /// The messages were removed by `purge`.
    pub is_purged: bool,
    /// The recorded answer.
    pub response: Option<Message>,
    /// The messages after the answer.
    pub following_messages: Vec<Message>,
    /// SHA-256 of the messages in hex, by which a decision names them; `None` if there are none.
    pub digest: Option<String>,
    /// Of an instruction that was made: its calls as executed, and where each value comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Record>,
}

/// Facts of the log about a request besides its conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Facts {
    /// When it was sent, in RFC 3339 and UTC.
    pub time: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// The app, team or trace.
    pub assistant: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// Whether and what the model had to call.
    pub tool_choice: Option<String>,
    /// Why the model stopped, in the API's own word.
    pub finish_reason: Option<String>,
    /// Whether several calls in one answer were allowed.
    pub parallel_tool_calls: Option<bool>,
    /// The HTTP status of the response.
    pub status: Option<i64>,
}

/// The doc list that a request was sent with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SentDocs {
    /// The list id: 32 hex digits.
    pub list_id: String,
    /// The parser steps that read it; empty if it could not be read, or was not.
    pub parser_steps: Vec<String>,
    /// The text as sent; `None` if it was purged.
    pub text: Option<String>,
    /// The text was removed by `purge`.
    pub is_purged: bool,
    /// SHA-256 of the text in hex, by which a decision names it.
    pub digest: Option<String>,
}

/// How it was judged whether a function fits a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Judgement {
    /// `relevant`, `irrelevant` or `low-quality`; `None` if it is unsure.
    pub relevance: Option<String>,
    /// What decided it.
    pub basis: Basis,
    /// The whole cell of the column `relevance_basis`.
    pub cell: JsonText,
}

/// What a judgement is based on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Basis {
    /// A rule on low quality.
    Rule {
        /// The name of the rule.
        rule: String,
    },
    /// A person answered the request.
    Answer {
        /// The person.
        who: String,
    },
    /// A person labelled the request.
    Label {
        /// The person.
        who: String,
    },
    /// The text of the request and the answers of the log.
    Text {
        /// The probability from 0 to 1 that a function fits.
        probability: f64,
        /// The same from the text alone.
        by_text: f64,
        /// The number of answers of each kind.
        evidence: Map<String, Value>,
        /// The values of a recorded call are in the request.
        grounded_call: bool,
    },
}

/// How a row ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RowFate {
    /// `exported`, `kept`, `dropped`, `merged`, `held` or `forgotten`.
    pub name: &'static str,
    /// The code of the reason why it was not kept.
    pub reason: Option<&'static str>,
    /// What the reason means.
    pub description: Option<String>,
    /// The row that it was merged into, the row that this one was merged into, and so on.
    pub merged_into: Vec<MergeTarget>,
}

/// A row that another one was merged into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MergeTarget {
    /// The id of the row.
    pub id: String,
    /// How it ended, as in [`RowFate::name`].
    pub fate: &'static str,
    /// The code of the reason why it was not kept.
    pub reason: Option<&'static str>,
}

/// A request that is kept to the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptRequest {
    /// The BFCL category; rows of an audit have none.
    pub category: Option<String>,
    /// Why it is in a category without answers: a short code.
    pub category_basis: Option<String>,
    /// The tier of its answer.
    pub tier: Option<String>,
    /// The answer as ground truth.
    pub answer: Option<JsonText>,
    /// The language models that drafted the answer, where its values come from, and what was left out.
    pub answer_basis: Option<JsonText>,
    /// Doubts about an answer that nothing confirms.
    pub flags: Option<String>,
    /// The number of requests that were merged into it.
    pub n_merged: usize,
}

/// The history of a doc list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ListHistory {
    /// The list as sent.
    #[serde(flatten)]
    pub sent: SentDocs,
    /// Its functions at the end of the run; `None` if it was not read as functions.
    pub functions: Option<JsonText>,
    /// The ids of the requests that were sent with it.
    pub requests: Vec<String>,
    /// The number of them that are kept.
    pub n_kept: usize,
    /// The stages that did something with it, in order.
    pub stages: Vec<StageHistory>,
    /// How it ended.
    pub fate: RowFate,
}

/// A line without a request of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LineHistory {
    /// The requested name, or its place if that is another one.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// `unreadable`, `no-request`, `joined-into` or `forgotten`.
    pub fate: String,
    /// The code of the reason.
    pub reason: String,
    /// What was found; may be empty.
    pub found: String,
    /// The place of the request that it was joined into.
    pub joined_into: Option<Place>,
}

/// The records of a line with several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecordsOfLine {
    /// The requested name of the line.
    pub name: String,
    /// The number of records.
    pub n_records: usize,
    /// The requests and the records without one, in their order.
    pub records: Vec<RecordOfLine>,
}

/// A record on a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecordOfLine {
    /// Where it is.
    pub place: Place,
    /// The id of its request.
    pub request_id: Option<String>,
    /// How it ended.
    pub fate: String,
    /// Why it holds no request.
    pub reason: Option<String>,
}
