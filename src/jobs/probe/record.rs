//! A recorded call, as a line of a log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::collection::probe::body::Body as Content;
use crate::collection::probe::{Probe, ProbeRules, Request, Verdict, Verdicts, read_log};
use crate::llm::calls::{Answer, Body, Outcome};
use crate::notation::levels::{MAX_KEPT, is_within};

/// Statuses of errors that are about the arguments of a call, not about the caller or the state of the server.
const ABOUT_ARGUMENTS: [u16; 5] = [400, 404, 409, 410, 422];
/// The status of a server that has had enough requests.
const TOO_MANY_REQUESTS: u16 = 429;

/// A call with its answer, or the reason for which there is none: a line of a log that rules for recorded calls read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedCall {
    /// The tool.
    pub tool: String,
    /// The legal name of the function.
    pub function: String,
    /// The method.
    pub method: String,
    /// The address with the query.
    pub address: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The body as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The reason for which a body is not recorded: `too-large`, `not-text`, `secret`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_body: Option<String>,
    /// The bytes of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Where the answer redirects to; it was not followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// The reason for which there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The time of the answer; the only member that differs between equal answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

/// What makes two calls the same one. Its order is that of the files: by the name of the function first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallKey([String; 5]);

impl CallKey {
    /// Returns the key of a request.
    pub(super) fn of(tool: &str, function: &str, request: &Request) -> Self {
        Self::new(tool, function, [&request.method, &request.address], &request.arguments)
    }

    fn new(tool: &str, function: &str, [method, address]: [&str; 2], arguments: &Map<String, Value>) -> Self {
        let arguments = Value::Object(arguments.clone()).to_string();
        Self([function.to_owned(), tool.to_owned(), method.to_owned(), address.to_owned(), arguments])
    }
}

impl RecordedCall {
    /// Returns the record of a request.
    pub(super) fn new(tool: &str, function: &str, request: &Request, outcome: Outcome) -> Self {
        let mut call = Self {
            tool: tool.to_owned(),
            function: function.to_owned(),
            method: request.method.clone(),
            address: request.address.clone(),
            arguments: request.arguments.clone(),
            status: None,
            content_type: None,
            body: None,
            without_body: None,
            size: None,
            redirect: None,
            error: None,
            latency_ms: None,
        };
        match outcome {
            Outcome::Unanswered(what) => call.error = Some(what),
            Outcome::Answered(answer) => call.add(answer),
        }
        call
    }

    fn add(&mut self, answer: Answer) {
        self.status = Some(answer.status);
        self.content_type = answer.content_type;
        self.size = Some(answer.size);
        self.redirect = answer.redirect;
        self.latency_ms = u64::try_from(answer.latency.as_millis()).ok();
        let missing = match answer.body {
            Body::Text(text) => {
                self.body = Some(text);
                return;
            }
            Body::TooLarge => "too-large",
            Body::NotText => "not-text",
            Body::Withheld => "secret",
        };
        self.without_body = Some(missing.to_owned());
    }

    /// Returns what makes two calls the same one.
    pub(super) fn key(&self) -> CallKey {
        CallKey::new(&self.tool, &self.function, [&self.method, &self.address], &self.arguments)
    }

    /// Returns true if the same call may have another answer later.
    pub(super) fn is_temporary(&self) -> bool {
        self.status.is_none_or(|status| status == TOO_MANY_REQUESTS || status >= 500)
    }

    /// Returns true if the server answered, well or not.
    pub fn is_answered(&self) -> bool {
        self.error.is_none() && self.status.is_some()
    }

    /// Describes the answer in some words.
    pub fn described(&self) -> String {
        let status = self.status.map(|status| format!("HTTP status {status}"));
        let answer = status.unwrap_or_else(|| "no answer".to_owned());
        let more = match (&self.error, &self.redirect, self.without_body.as_deref()) {
            (Some(error), ..) => error.clone(),
            (None, Some(target), _) => format!("redirects to {target}, which is not followed"),
            (None, None, Some("too-large")) => "the body is too large and not recorded".to_owned(),
            (None, None, Some("not-text")) => "the body is no text and not recorded".to_owned(),
            (None, None, Some(_)) => "the body may have a secret and is not recorded".to_owned(),
            (None, None, None) => return answer,
        };
        format!("{answer}: {more}")
    }

    /// Returns the call as an environment of recorded calls has it; `None` if the answer is not about its arguments, or a rule
    /// knows it as an error in spite of its status.
    pub(super) fn for_environment(&self, rules: &ProbeRules) -> Option<Value> {
        let (status, body) = (self.status?, self.body.as_deref()?);
        let result = match Content::of_text(body) {
            // Each line is read again by a reader with a limit.
            Content::Json(value) if is_within(&value, MAX_KEPT) => value,
            _ if body.trim().is_empty() => Value::Null,
            _ => body.into(),
        };
        let mut line = json!({"function": self.function, "arguments": self.arguments, "result": result});
        match status {
            200..300 if body.is_empty() || !self.is_hit(rules) => {}
            status if ABOUT_ARGUMENTS.contains(&status) => {
                line["error"] = format!("HTTP status {status}").into();
            }
            _ => return None,
        }
        Some(line)
    }

    /// Returns true if a rule hits the answer, however long it took.
    fn is_hit(&self, rules: &ProbeRules) -> bool {
        let timeless = Self { latency_ms: None, ..self.clone() };
        let verdicts = Verdicts::of(rules, &Self::probes(&[timeless]), []);
        verdicts.functions.iter().any(|function| matches!(function.verdict, Verdict::RuleHit(_)))
    }

    /// Returns the call as rules for recorded calls read it.
    pub(super) fn probes(calls: &[Self]) -> Vec<Probe> {
        let lines: Vec<String> = calls.iter().map(Self::line).collect();
        read_log("log.jsonl", &lines.join("\n")).probes
    }

    /// Returns the line of the log.
    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).expect("texts and JSON are JSON")
    }
}
