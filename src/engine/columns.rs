//! Every column of the two tables, by name, in one place.
//!
//! A stage names the columns it reads and writes with these constants, so a typing
//! mistake does not compile, and `plan` can tell whether a column is there in time.

use super::stage::TableId;

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8 text.
    Text,
    /// 64-bit whole numbers.
    Int,
}

/// A column: where it is, what it is called, what it holds.
#[derive(Debug, Clone, Copy)]
pub struct ColumnSpec {
    /// Its table.
    pub table: TableId,
    /// Its name in files.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: ColumnKind,
    /// One phrase for people.
    pub what: &'static str,
}

impl ColumnSpec {
    /// It holds what the log said: a changed cell needs an edit. The rest is derived and may be made anew.
    pub fn is_content(self) -> bool {
        [MESSAGES, RESPONSE, AFTERWARDS, EXTERNAL_ID, USER, SESSION, TEXT, FUNCTIONS].contains(&self)
    }
}

impl PartialEq for ColumnSpec {
    fn eq(&self, other: &Self) -> bool {
        self.table == other.table && self.name == other.name
    }
}

impl Eq for ColumnSpec {}

const fn request(name: &'static str, kind: ColumnKind, what: &'static str) -> ColumnSpec {
    ColumnSpec { table: TableId::Requests, name, kind, what }
}

const fn list(name: &'static str, kind: ColumnKind, what: &'static str) -> ColumnSpec {
    ColumnSpec { table: TableId::DocLists, name, kind, what }
}

/// The log's own id of the request.
pub const EXTERNAL_ID: ColumnSpec = request("external_id", ColumnKind::Text, "the log's own id");
/// The number of the input file, from 0.
pub const FILE: ColumnSpec = request("file", ColumnKind::Int, "number of the input file");
/// The line of that file on which the record starts, from 1.
pub const LINE: ColumnSpec = request("line", ColumnKind::Int, "line on which the record starts");
/// The number of its item in that file, from 1: the data row of a table, the element of a JSON array, else the line.
pub const RECORD: ColumnSpec = request("record", ColumnKind::Int, "number of its item in the file");
/// The log shape it was read as.
pub const SHAPE: ColumnSpec = request("shape", ColumnKind::Text, "log shape it was read as");
/// The conversation as sent: JSON list of [`crate::conversation::Message`].
pub const MESSAGES: ColumnSpec = request("messages", ColumnKind::Text, "the conversation as sent");
/// What the logged model answered: JSON of one [`crate::conversation::Message`].
pub const RESPONSE: ColumnSpec = request("response", ColumnKind::Text, "what the logged model answered");
/// What the same line tells of the conversation after the response: JSON list of
/// [`crate::conversation::Message`]. Empty in most logs; never part of what is asked.
pub const AFTERWARDS: ColumnSpec =
    request("afterwards", ColumnKind::Text, "what came after the answer, where its line tells");
/// Why the model stopped, in the API's own word.
pub const FINISH_REASON: ColumnSpec = request("finish_reason", ColumnKind::Text, "why the model stopped");
/// When it was sent, Unix milliseconds.
pub const TIME_MS: ColumnSpec = request("time_ms", ColumnKind::Int, "when it was sent, Unix ms");
/// The model asked for.
pub const MODEL: ColumnSpec = request("model", ColumnKind::Text, "model asked for");
/// User or tenant.
pub const USER: ColumnSpec = request("user", ColumnKind::Text, "user or tenant");
/// Session or thread.
pub const SESSION: ColumnSpec = request("session", ColumnKind::Text, "session or thread");
/// `auto`, `none`, `required` or `function:NAME`.
pub const TOOL_CHOICE: ColumnSpec = request("tool_choice", ColumnKind::Text, "whether a call was forced");
/// 1 or 0 where the request said so.
pub const PARALLEL_TOOL_CALLS: ColumnSpec =
    request("parallel_tool_calls", ColumnKind::Int, "whether several calls were allowed");
/// The HTTP status of the response.
pub const STATUS: ColumnSpec = request("status", ColumnKind::Int, "HTTP status of the response");

/// The placeholders that stood in the request as sent, such as `email 7`, comma-separated: their numbers are not given
/// to other values.
pub const PLACEHOLDERS: ColumnSpec =
    request("placeholders", ColumnKind::Text, "numbered placeholders that stood in it as sent");
/// Where personal values are in the request's doc list as sent, JSON: kind, bytes, placeholder. Only on the first request
/// of a list that holds some, and on the first of all, where it says that the lists were searched.
pub const DOCS_PLACEHOLDERS: ColumnSpec =
    request("docs_placeholders", ColumnKind::Text, "where personal values are in its docs");
/// Placeholders of the recorded answer that neither the conversation nor the docs hold: JSON list of their texts.
pub const UNSOURCED: ColumnSpec =
    request("unsourced", ColumnKind::Text, "placeholders that only the recorded answer holds");
/// The request that a request is a variant of: nearly the same words, and another number, name or word of content.
pub const VARIANT_OF: ColumnSpec =
    request("variant_of", ColumnKind::Text, "request of nearly the same words that asks for something else");
/// What the rest of the conversation shows about the recorded call: `worked`, `failed`, or `goes-on` where further
/// calls were made for the same user message.
pub const OUTCOME: ColumnSpec = request("outcome", ColumnKind::Text, "whether the recorded call worked");
/// What kind of answer the log has: calls, declined, cut, failed, nothing, unreadable.
pub const RECORDED: ColumnSpec = request("recorded", ColumnKind::Text, "what kind of answer the log has");
/// The answer as BFCL ground truth, JSON.
pub const ANSWER: ColumnSpec = request("answer", ColumnKind::Text, "the answer as BFCL ground truth");
/// How sure the answer is: human, outcome, recorded. Of an entry without an answer: judged, where its label rests on
/// the text alone.
pub const TIER: ColumnSpec =
    request("tier", ColumnKind::Text, "how sure the answer is, or the label of an entry without one");
/// The request whose record the answer was taken from.
pub const ANSWER_FROM: ColumnSpec =
    request("answer_from", ColumnKind::Text, "request the answer was taken from");
/// Whether a function of the list fits what is asked: relevant, irrelevant, low-quality.
pub const RELEVANCE: ColumnSpec =
    request("relevance", ColumnKind::Text, "whether a function fits what is asked");
/// What the relevance rests on, JSON: a rule, or probabilities, features and what the log's answers said.
pub const RELEVANCE_BASIS: ColumnSpec =
    request("relevance_basis", ColumnKind::Text, "what the relevance rests on");
/// The BFCL category.
pub const CATEGORY: ColumnSpec = request("category", ColumnKind::Text, "BFCL category");
/// Why a request is in a category without answers: a short code.
pub const CATEGORY_BASIS: ColumnSpec =
    request("category_basis", ColumnKind::Text, "why it is in a category without answers");
/// The language of the last user message: ISO 639-1, else ISO 639-3, or `und`.
pub const LANGUAGE: ColumnSpec = request("language", ColumnKind::Text, "language of the last user message");
/// How many requests a sampled one stands for, a decimal number.
pub const WEIGHT: ColumnSpec = request("weight", ColumnKind::Text, "how many requests it stands for");

/// The doc list's text, exactly as sent.
pub const TEXT: ColumnSpec = list("text", ColumnKind::Text, "the doc list's text as sent");
/// The functions: a JSON list, order kept.
pub const FUNCTIONS: ColumnSpec = list("functions", ColumnKind::Text, "the functions, parsed");
/// The steps that read the text, comma-separated.
pub const PARSE_STEPS: ColumnSpec = list("parse_steps", ColumnKind::Text, "steps that read the text");
/// The text near copies were compared by.
pub const COMPARED: ColumnSpec = list("compared", ColumnKind::Text, "the text near copies were compared by");
/// Names changed by fixes, JSON.
pub const RENAMES: ColumnSpec = list("renames", ColumnKind::Text, "names changed by fixes");
/// The list that a list is near to although calls see something else of it; empty where there is none.
pub const FAMILY: ColumnSpec =
    list("family", ColumnKind::Text, "the list it is near to, of another interface");

/// The columns that ingest writes.
pub const PAYLOAD: &[ColumnSpec] = &[
    EXTERNAL_ID,
    FILE,
    LINE,
    RECORD,
    SHAPE,
    MESSAGES,
    RESPONSE,
    AFTERWARDS,
    FINISH_REASON,
    TIME_MS,
    MODEL,
    USER,
    SESSION,
    TOOL_CHOICE,
    PARALLEL_TOOL_CALLS,
    STATUS,
    TEXT,
];

/// Every column there is, payload first.
pub const ALL: &[ColumnSpec] = &[
    EXTERNAL_ID,
    FILE,
    LINE,
    RECORD,
    SHAPE,
    MESSAGES,
    RESPONSE,
    AFTERWARDS,
    FINISH_REASON,
    TIME_MS,
    MODEL,
    USER,
    SESSION,
    TOOL_CHOICE,
    PARALLEL_TOOL_CALLS,
    STATUS,
    PLACEHOLDERS,
    DOCS_PLACEHOLDERS,
    UNSOURCED,
    VARIANT_OF,
    OUTCOME,
    RELEVANCE,
    RELEVANCE_BASIS,
    RECORDED,
    ANSWER,
    TIER,
    ANSWER_FROM,
    CATEGORY,
    CATEGORY_BASIS,
    LANGUAGE,
    WEIGHT,
    TEXT,
    FUNCTIONS,
    PARSE_STEPS,
    COMPARED,
    RENAMES,
    FAMILY,
];
