//! Checks of a finished solution path that need no model.
//!
//! `structure` compares calls, results and functions on offer; `arguments` searches the source of each id in a call; `grounding` that of
//! each value in the answer; `telling` searches the values that were asked for; `actions` finds actions that the answer claims;
//! `refusals` finds answers that deny what was done; `call_text` finds calls written as text. A finding is either certain or a suspicion that a person or a judge should read. Words of
//! actions, names and numbers are English.

mod actions;
mod arguments;
mod arithmetic;
mod call_text;
mod claims;
mod dates;
mod grounding;
mod lists;
mod mentions;
mod names;
mod numbers;
mod path;
mod refusals;
mod shapes;
mod sources;
mod structure;
mod telling;

use std::ops::Range;

use callsieve_bfcl::conversation::Message;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use path::Path;

/// A finished solution path and what its assistant could call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Solution<'a> {
    /// The messages before the answer, in order. A last assistant message with the text of the answer may be among them.
    pub messages: &'a [Message],
    /// The final answer.
    pub answer: &'a str,
    /// The docs of the functions on offer, with `name` at the top or in `function`.
    pub functions: &'a [Value],
    /// Whether the last message of the user needs a call.
    pub needs: Needs,
    /// Names of functions that a good path calls after the last message of the user; empty if that is unknown.
    pub expected_functions: &'a [String],
    /// The function that the request needs and that is not on offer.
    pub withheld: Option<&'a str>,
    /// Arguments of good calls that are taken from results.
    pub looked_up: &'a [Value],
    /// Arguments of good calls that the user or a doc gives, in whatever words.
    pub given: &'a [Value],
    /// Values of results that a good answer tells; empty if that is unknown.
    pub told: &'a [Value],
    /// Whether execution has shown that the calls of the path do what is asked, so that it need not be those functions.
    pub is_solved: bool,
    /// Whether good calls are known to change nothing, so that the user gets nothing but the answer.
    pub changes_nothing: bool,
}

/// Whether a request needs a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Needs {
    /// It is not known.
    #[default]
    Unknown,
    /// It needs one.
    Call,
    /// No call is right: no function on offer does what is asked, or a value is missing.
    NoCall,
}

/// The fault of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// A value of the answer has no source in the path.
    #[serde(rename = "solution/ungrounded-answer")]
    UngroundedAnswer,
    /// An argument of a call has no source before it.
    #[serde(rename = "solution/guessed-argument")]
    GuessedArgument,
    /// The answer claims an action, and no call succeeded.
    #[serde(rename = "solution/claim-without-call")]
    ClaimWithoutCall,
    /// The answer contains a call as text.
    #[serde(rename = "solution/call-as-text")]
    CallAsText,
    /// A called function is not on offer.
    #[serde(rename = "solution/function-not-offered")]
    FunctionNotOffered,
    /// A call has no result, or a result has no call.
    #[serde(rename = "solution/unpaired-result")]
    UnpairedResult,
    /// All calls after the last user message failed.
    #[serde(rename = "solution/last-call-failed")]
    LastCallFailed,
    /// The answer has none of the values that were asked for.
    #[serde(rename = "solution/answer-lacks-result")]
    AnswerLacksResult,
    /// The calls did what is asked, and the answer says that it failed.
    #[serde(rename = "solution/denies-success")]
    DeniesSuccess,
    /// Nothing on offer does what is asked, and the answer neither says so nor asks.
    #[serde(rename = "solution/not-refused")]
    NotRefused,
    /// The answer has no text.
    #[serde(rename = "solution/empty-answer")]
    EmptyAnswer,
    /// The same call had the same result three times or more.
    #[serde(rename = "solution/loop")]
    Loop,
    /// The request needs a call, and the path has none.
    #[serde(rename = "solution/no-call")]
    NoCall,
    /// The path calls none of the functions that the request needs.
    #[serde(rename = "solution/other-functions")]
    OtherFunctions,
    /// No call is right, and the path has one.
    #[serde(rename = "solution/needless-call")]
    NeedlessCall,
}

impl Reason {
    /// All reasons, in the order of their findings.
    pub const ALL: [Self; 15] = [
        Self::UngroundedAnswer,
        Self::GuessedArgument,
        Self::ClaimWithoutCall,
        Self::CallAsText,
        Self::FunctionNotOffered,
        Self::UnpairedResult,
        Self::LastCallFailed,
        Self::AnswerLacksResult,
        Self::DeniesSuccess,
        Self::NotRefused,
        Self::EmptyAnswer,
        Self::Loop,
        Self::NoCall,
        Self::OtherFunctions,
        Self::NeedlessCall,
    ];

    /// Returns the code, which is stable.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UngroundedAnswer => "solution/ungrounded-answer",
            Self::GuessedArgument => "solution/guessed-argument",
            Self::ClaimWithoutCall => "solution/claim-without-call",
            Self::CallAsText => "solution/call-as-text",
            Self::FunctionNotOffered => "solution/function-not-offered",
            Self::UnpairedResult => "solution/unpaired-result",
            Self::LastCallFailed => "solution/last-call-failed",
            Self::AnswerLacksResult => "solution/answer-lacks-result",
            Self::DeniesSuccess => "solution/denies-success",
            Self::NotRefused => "solution/not-refused",
            Self::EmptyAnswer => "solution/empty-answer",
            Self::Loop => "solution/loop",
            Self::NoCall => "solution/no-call",
            Self::OtherFunctions => "solution/other-functions",
            Self::NeedlessCall => "solution/needless-call",
        }
    }
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good enough to drop the path.
    Certain,
    /// Worth reading; there are sound paths among these.
    Suspect,
}

/// What kind of value has no source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    /// Letters mixed with digits, at least five digits, or a phone number.
    Id,
    /// A number, amount or percentage.
    Number,
    /// A day or a month of a year.
    Date,
    /// A time of day.
    Time,
    /// An e-mail address.
    Email,
    /// The address of a page.
    Url,
    /// A proper name.
    Name,
}

/// One fault of a path with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The fault.
    pub reason: Reason,
    /// How sure it is.
    pub level: Level,
    /// The text that shows the fault: a value of the answer, a name of a function, an id of a call. Empty if there is none.
    pub evidence: String,
    /// The place of the evidence in the answer, in characters; none if it is not from the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Range<usize>>,
    /// The kind of a value without a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ValueKind>,
    /// Where the missing thing was expected.
    pub expected: String,
}

impl Finding {
    fn of(reason: Reason, level: Level, evidence: impl Into<String>, expected: &str) -> Self {
        Self {
            reason,
            level,
            evidence: evidence.into(),
            span: None,
            kind: None,
            expected: expected.to_owned(),
        }
    }

    fn at(self, span: Range<usize>) -> Self {
        Self { span: Some(span), ..self }
    }
}

/// Which of the expected functions a path called. A figure, not a fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Expected functions that were called, sorted.
    pub called: Vec<String>,
    /// Expected functions that were not called, sorted.
    pub missed: Vec<String>,
}

/// The findings of a path, sorted by reason and place, and the coverage of expected functions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// All faults.
    pub findings: Vec<Finding>,
    /// Which expected functions were called.
    pub coverage: Coverage,
}

/// Returns all findings of a path.
pub fn check(solution: &Solution) -> Report {
    let path = Path::of(solution);
    let mut findings = structure::findings(&path);
    findings.extend(arguments::findings(&path));
    let ungrounded = grounding::findings(&path);
    findings.extend(telling::findings(&path, &ungrounded));
    findings.extend(ungrounded);
    findings.extend(actions::findings(&path));
    findings.extend(refusals::findings(&path));
    findings.extend(call_text::findings(&path));
    findings.sort_by_key(|finding| (finding.reason, finding.span.as_ref().map(|span| span.start)));
    Report { findings, coverage: path.coverage() }
}
