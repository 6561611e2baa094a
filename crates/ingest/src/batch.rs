//! Joins batch files, with requests in one file and answers in another, by `custom_id`.
//!
//! The files may come in any order, so lines are joined after all files are read. Until then batch requests and answers
//! wait in memory, each distinct doc list once; a log without batch lines needs no memory here. The id of a request is
//! a hash of its own line and does not depend on its answer.
//!
//! A `custom_id` is unique within one batch only. If different requests share one, an answer cannot be assigned and
//! none of them gets it. Of several answers, a successful one has precedence over a failed one, then the one on the
//! earliest line, then by content; the order of files never matters.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::log_formats::Envelope;
use crate::path::{Path, at};
use crate::reasons::RESPONSE_WITHOUT_REQUEST;
use crate::response::{FINISHED_WITH_ERROR, FIRST_FAILED_STATUS, ParsedResponse, read_response};
use callsieve_bfcl::conversation::Message;
use callsieve_engine::columns;
use callsieve_engine::error::Result;
use callsieve_engine::raw::{LineRow, RequestRow, RowCells, SourcePlace};

/// A line that holds the answer to the request of another line.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchAnswer {
    /// The id of both lines.
    pub custom_id: String,
    content_key: u128,
    answer: ParsedResponse,
    status: Option<i64>,
}

const CUSTOM_ID: &str = "custom_id";

/// The paths of the request's body in batch inputs.
const REQUEST_BODIES: &[Path] = &[&["body"], &["params"]];

/// The keys that only a line with a request has.
const REQUEST_KEYS: &[&str] = &["body", "params", "request", "messages"];

/// The keys of which a line with an answer has at least one.
const ANSWER_KEYS: &[&str] = &["response", "result", "error"];

/// The paths of the response in batch outputs; the first existing one is used.
const RESPONSES: &[Path] = &[&["response", "body"], &["result", "message"]];

/// The paths of errors in batch outputs.
const FAILURES: &[Path] = &[&["error"], &["response", "error"], &["result", "error"]];

/// Anthropic's result type of an answered request.
const SUCCEEDED: &str = "succeeded";

const STATUS: Path = &["response", "status_code"];

/// Returns the keys that identify a line of a batch.
pub(super) fn names() -> Vec<&'static str> {
    let paths = [REQUEST_BODIES, RESPONSES, FAILURES, &[STATUS]].into_iter().flatten().map(|path| path[0]);
    [CUSTOM_ID].iter().chain(REQUEST_KEYS).chain(ANSWER_KEYS).copied().chain(paths).collect()
}

/// Reads a line that answers another; `None` for any other line.
pub(super) fn answer_of(content_key: u128, line: &Value) -> Option<BatchAnswer> {
    let custom_id = line.get(CUSTOM_ID)?.as_str()?.to_owned();
    let has_any = |keys: &[&str]| keys.iter().any(|key| line.get(*key).is_some_and(|value| !value.is_null()));
    if has_any(REQUEST_KEYS) || !has_any(ANSWER_KEYS) {
        return None;
    }
    let status = at(line, STATUS).and_then(Value::as_i64);
    let outcome = at(line, &["result", "type"]).and_then(Value::as_str);
    let failed = FAILURES.iter().any(|path| at(line, path).is_some())
        || status.is_some_and(|status| status >= FIRST_FAILED_STATUS)
        || outcome.is_some_and(|outcome| outcome != SUCCEEDED);
    let answer = match RESPONSES.iter().find_map(|path| at(line, path)) {
        Some(response) if !failed => read_response(response.clone()),
        _ => ParsedResponse::finished(FINISHED_WITH_ERROR),
    };
    Some(BatchAnswer { custom_id, content_key, answer, status })
}

/// Returns the id by which another line may answer this request, if it has no answer of its own.
pub(super) fn custom_id(line: &Value, envelope: &Envelope) -> Option<String> {
    let is_batch = REQUEST_BODIES.contains(&envelope.body);
    line.get(CUSTOM_ID).filter(|_| is_batch)?.as_str().map(str::to_owned)
}

/// Batch lines that wait for all files to be read.
#[derive(Default)]
pub(super) struct Waiting {
    requests: BTreeMap<String, Vec<RequestRow>>,
    answers: BTreeMap<String, Vec<(SourcePlace, BatchAnswer)>>,
    /// The cells of each doc list that waits.
    functions: FxHashMap<u128, RowCells>,
    n_requests: u64,
}

/// The fate of a line that waited.
pub(super) enum Joined {
    /// A request, with its answer if it has one.
    Request(Box<RequestRow>),
    /// An answer that cannot be assigned to a request.
    Answer(LineRow),
}

impl Waiting {
    /// Returns the number of requests that wait.
    pub(super) fn n_requests(&self) -> u64 {
        self.n_requests
    }

    /// Returns `true` if a request waits for an answer of this id.
    pub(super) fn is_awaited(&self, answer: &BatchAnswer) -> bool {
        self.requests.contains_key(&answer.custom_id)
    }

    /// Adds a request to the others of its `custom_id`.
    pub(super) fn request(&mut self, custom_id: String, mut row: RequestRow) {
        let functions = std::mem::take(&mut row.list.cells);
        self.functions.entry(row.list.content_key).or_insert(functions);
        self.requests.entry(custom_id).or_default().push(row);
        self.n_requests += 1;
    }

    /// Adds an answer to the others of its `custom_id`.
    pub(super) fn answer(&mut self, place: SourcePlace, answer: BatchAnswer) {
        self.answers.entry(answer.custom_id.clone()).or_default().push((place, answer));
    }

    /// Joins requests and answers, and passes every line that waited to `take`.
    ///
    /// # Errors
    /// The error of `take`.
    pub(super) fn join(mut self, mut take: impl FnMut(Joined) -> Result<()>) -> Result<()> {
        for (custom_id, mut requests) in std::mem::take(&mut self.requests) {
            let mut answers = self.answers.remove(&custom_id).unwrap_or_default();
            answers.sort_by_key(|(place, answer)| (answer.has_failed(), place.line, answer.content_key));
            requests.sort_by_key(|row| (row.place.line, row.place.file));
            let is_one = requests.iter().all(|row| row.content_key == requests[0].content_key);
            let mut left = answers.into_iter();
            if is_one && let Some((place, answer)) = left.next() {
                answer.put_into(&mut requests[0], place);
            }
            for mut row in requests {
                row.list.cells = self.functions.get(&row.list.content_key).cloned().unwrap_or_default();
                take(Joined::Request(Box::new(row)))?;
            }
            let why = if is_one { "an earlier line answers the request of" } else { "several requests have" };
            left.try_for_each(|(place, _)| take(BatchAnswer::unjoined(place, why)))?;
        }
        let strays = self.answers.into_values().flatten();
        strays.into_iter().try_for_each(|(place, _)| take(BatchAnswer::unjoined(place, "no request has")))
    }
}

impl BatchAnswer {
    /// Returns the answer to the request of this id.
    pub(super) fn new(
        custom_id: String,
        content_key: u128,
        message: Option<Message>,
        finish_reason: Option<String>,
        status: Option<i64>,
    ) -> Self {
        Self { custom_id, content_key, answer: ParsedResponse { message, finish_reason }, status }
    }

    pub(super) fn content_key(&self) -> u128 {
        self.content_key
    }

    pub(super) fn message(&self) -> Option<&Message> {
        self.answer.message.as_ref()
    }

    pub(super) fn finish_reason(&self) -> Option<&str> {
        self.answer.finish_reason.as_deref()
    }

    pub(super) fn status(&self) -> Option<i64> {
        self.status
    }

    fn has_failed(&self) -> bool {
        self.answer.finish_reason.as_deref() == Some(FINISHED_WITH_ERROR)
    }

    fn put_into(self, row: &mut RequestRow, place: SourcePlace) {
        let message = self.answer.message.map(|message| serde_json::to_string(&message));
        row.cells.set(columns::RESPONSE, message.map(|text| text.expect("a message is plain data")));
        row.cells.set(columns::FINISH_REASON, self.answer.finish_reason);
        if self.status.is_some() {
            row.cells.set(columns::STATUS, self.status);
        }
        row.joined = Some(place);
    }

    fn unjoined(place: SourcePlace, why: &str) -> Joined {
        // Without the id: it belongs to the request, which may have to be forgotten.
        let detail = format!("{why} its custom_id");
        Joined::Answer(LineRow {
            place,
            n_lines: 1,
            unreadable: false,
            ends_file: false,
            reason: RESPONSE_WITHOUT_REQUEST,
            detail,
        })
    }
}
