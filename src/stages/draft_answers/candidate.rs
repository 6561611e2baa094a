//! Candidate answers of a request, and the choice of the best one.
//!
//! An answer that fits the docs is better than one that does not; then the lower rank wins, then the earlier row.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde_json::Value;

use super::Carried;
use super::asked_for::AskedFor;
use super::docs::CurrentDocs;
use super::other_answers::{OtherAnswer, OtherAnswers};
use crate::answers::carry::ground_truth;
use crate::answers::fault::AnswerError;
use crate::answers::recorded::{RecordedAnswer, recorded_answer, unless_attempted};
use crate::answers::traced::{Trace, calls_contradict, calls_invent_a_number};
use crate::cells::TypedCells as _;
use crate::columns::{FINISH_REASON, MESSAGES, OUTCOME, RESPONSE, STATUS, TIME_MS};
use crate::conversation::{Call, Message, last_user};
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::RowIx;
use crate::text::memo::Memo;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// The quality of an answer; the smallest is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Human,
    Worked,
    Recorded,
    SeveralSteps,
    Refuted,
    None,
}

/// A candidate answer of a request.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) rank: Rank,
    pub(super) position: u32,
    pub(super) from: RowIx,
    pub(super) answer: Option<std::result::Result<Vec<Value>, AnswerError>>,
}

impl Candidate {
    /// Returns whether it is a recorded answer that fits the docs and that nothing in the log contradicts.
    pub(super) fn is_from_the_log(&self) -> bool {
        matches!(self.rank, Rank::Worked | Rank::Recorded) && matches!(self.answer, Some(Ok(_)))
    }

    /// Returns the placeholders that occur in the answer; punctuation is ignored.
    pub(super) fn used_placeholders<'p>(&self, placeholders: &'p [String]) -> Vec<&'p str> {
        let Some(Ok(answer)) = &self.answer else { return Vec::new() };
        let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let answer: Vec<String> = answer.iter().map(|call| bare(&call.to_string())).collect();
        let is_used = |placeholder: &&str| answer.iter().any(|call| call.contains(&bare(placeholder)));
        placeholders.iter().map(String::as_str).filter(is_used).collect()
    }

    /// Returns the sort key; the smallest is the best.
    fn key(&self) -> (bool, bool, Rank, u32) {
        // An answer by a person always wins, even if it does not fit the docs.
        (self.rank != Rank::Human, !matches!(self.answer, Some(Ok(_))), self.rank, self.position)
    }
}

/// The best candidate so far, and the answers that the log contradicts.
#[derive(Default)]
pub(super) struct Best {
    candidate: Option<Candidate>,
    others: OtherAnswers,
    contradicted: Vec<(Rank, Vec<Value>)>,
}

impl Best {
    pub(super) fn add(&mut self, candidate: Candidate) {
        if let (Rank::Refuted | Rank::SeveralSteps, Some(Ok(answer))) = (candidate.rank, &candidate.answer) {
            self.contradicted.push((candidate.rank, answer.clone()));
        }
        self.others.add(&candidate);
        if self.candidate.as_ref().is_none_or(|known| candidate.key() < known.key()) {
            self.candidate = Some(candidate);
        }
    }

    /// Returns the best candidate. An answer that failed for one copy of the request gets that rank for all copies,
    /// except an answer by a person.
    /// With it come the other answers, if it is one from the log.
    pub(super) fn answer(self) -> Option<(Candidate, Vec<OtherAnswer>)> {
        let mut best = self.candidate?;
        let contradiction = self
            .contradicted
            .iter()
            .find(|(_, answer)| best.answer.as_ref().is_some_and(|best| best.as_ref() == Ok(answer)));
        if let (Some((rank, _)), true) = (contradiction, best.rank != Rank::Human) {
            best.rank = *rank;
        }
        let is_contradicted = |answer: &[Value]| self.contradicted.iter().any(|(_, known)| known == answer);
        let others = match &best.answer {
            Some(Ok(chosen)) if best.is_from_the_log() => self.others.besides(chosen, is_contradicted),
            _ => Vec::new(),
        };
        Some((best, others))
    }
}

/// Whether every value of the calls can be traced to the conversation before them, or to the docs of the functions that they call, and
/// neither an option, a yes nor a function contradicts the last message of the user.
fn is_traced(messages: &[Message], sent: Option<Date>, calls: &[Call], functions: &[Value]) -> bool {
    let last_user = last_user(messages).map_or("", |message| message.content.as_str());
    if calls_contradict(calls, functions, last_user) {
        return false;
    }
    let mut trace = Trace::of_messages(messages);
    if calls_invent_a_number(calls, functions, &trace) {
        return false;
    }
    // What is added can only give more values, and few calls need it.
    let has_all = |trace: &Trace| calls.iter().all(|call| trace.has(&call.arguments));
    if has_all(&trace) {
        return true;
    }
    let is_called = |function: &&Value| calls.iter().any(|call| function["name"] == call.name.as_str());
    for function in functions.iter().filter(is_called) {
        trace.add_docs(function);
    }
    has_all(&trace) || {
        trace.add_relative_dates(sent);
        has_all(&trace)
    }
}

/// Lets an answer leave out what it may: a no that nobody asked for, as `function.parameter`.
fn with_omittable(answer: Carried, denials: &BTreeSet<String>) -> Carried {
    let mut answer = answer?;
    for (name, parameters) in answer.iter_mut().filter_map(Value::as_object_mut).flatten() {
        for (parameter, alternatives) in parameters.as_object_mut().into_iter().flatten() {
            if let Value::Array(alternatives) = alternatives
                && alternatives[..] == [Value::Bool(false)]
                && denials.contains(&format!("{name}.{parameter}"))
            {
                alternatives.insert(0, "".into());
            }
        }
    }
    Ok(answer)
}

/// The recorded answer of rows with equal cells and lists.
#[derive(Clone)]
pub(super) struct RecordedCalls {
    /// The kind of the response; see the column `response_kind`.
    kind: &'static str,
    rank: Rank,
    /// Under the current names.
    answer: Option<Carried>,
}

/// What is known of the answers of equal rows: by the hash of the cells, the day if dates of the answer depend on it, the list of the
/// head, that of the row, and the one that it was sent with.
pub(super) type KnownAnswers = Memo<(u128, Option<i64>, RowIx, RowIx, RowIx), RecordedCalls>;

/// Returns the kind of a row's response (see the column `response_kind`), and its answer as a candidate.
pub(super) fn recorded_candidate(
    row: Row<'_>,
    head: RowIx,
    docs: &CurrentDocs<'_>,
    view: &View<'_>,
    known: &KnownAnswers,
) -> (&'static str, Candidate) {
    let cells = row.hash_of(&[MESSAGES, RESPONSE, FINISH_REASON, STATUS, OUTCOME]);
    let day =
        row.int(TIME_MS).filter(|_| row.text(OUTCOME) == Some("worked")).map(|ms| ms.div_euclid(DAY_MS));
    let key = (cells, day, view.list_of(head), view.list_of(row.ix()), view.origin_of(row.ix()));
    let RecordedCalls { kind, rank, answer } = known.get_or(key, || recorded_calls(row, head, docs, view));
    // A copy whose answer does not fit the docs is no evidence about the request.
    let answer = if row.ix() == head || matches!(answer, Some(Ok(_))) { answer } else { None };
    let rank = if answer.is_none() { Rank::None } else { rank };
    (kind, Candidate { rank, position: view.position(row.ix()), from: row.ix(), answer })
}

fn recorded_calls(row: Row<'_>, head: RowIx, docs: &CurrentDocs<'_>, view: &View<'_>) -> RecordedCalls {
    let is_offered = |name: &str| docs.has(row.ix(), name);
    let response = row.response();
    let answer = recorded_answer(response.as_ref(), row.text(FINISH_REASON), row.int(STATUS), is_offered);
    let (kind, calls) = match unless_attempted(answer, response.as_ref(), docs.of(head)) {
        RecordedAnswer::Calls(calls) => ("calls", Some(calls)),
        RecordedAnswer::Declined => ("declined", None),
        RecordedAnswer::Truncated => ("truncated", None),
        RecordedAnswer::Failed => ("failed", None),
        RecordedAnswer::Unreadable(_) => ("unreadable", None),
        RecordedAnswer::Empty => ("empty", None),
    };
    let Some(calls) = calls else { return RecordedCalls { kind, rank: Rank::None, answer: None } };
    let calls = docs.renamed(calls, row.ix(), view);
    let functions = docs.of(head);
    let messages = row.messages();
    let sent = row.int(TIME_MS).and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let sent = sent.map(|sent| sent.to_zoned(jiff::tz::TimeZone::UTC).date());
    // Only calls that say no, and those that worked, depend on what was asked for.
    let worked = row.text(OUTCOME) == Some("worked");
    let asked_for = (worked || calls.iter().any(says_no)).then(|| AskedFor::of(&messages, sent, functions));
    let denials = asked_for.as_ref().map(|asked_for| asked_for.unasked_denials(&calls)).unwrap_or_default();
    let rank = match row.text(OUTCOME) {
        Some("worked")
            if asked_for.is_some_and(|asked_for| asked_for.unasked(&calls).is_subset(&denials))
                && is_traced(&messages, sent, &calls, functions) =>
        {
            Rank::Worked
        }
        Some("failed") => Rank::Refuted,
        Some("goes-on") => Rank::SeveralSteps,
        _ => Rank::Recorded,
    };
    let answer = Some(with_omittable(ground_truth(&calls, functions), &denials));
    RecordedCalls { kind, rank, answer }
}

/// Whether a call has a parameter with a no.
fn says_no(call: &Call) -> bool {
    call.arguments
        .as_object()
        .is_some_and(|members| members.values().any(|value| *value == Value::Bool(false)))
}
