//! What is compared of a request, and whether two requests were made in the same context.
//!
//! The context is everything except the last user message. A client that adds the time or an id to it makes every context
//! another, so contexts that are equal but for values are compared, too: two requests are one if their recorded calls are
//! equal and neither the query nor the calls depend on a value that differs. What all requests of a context have in common,
//! such as docs pasted into the user's message, is left out of the comparison.

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::answers::recorded::{RecordedAnswer, recorded_answer};
use crate::cells::TypedCells as _;
use crate::columns::{FINISH_REASON, STATUS};
use crate::content_hash::content_hash;
use crate::conversation::{Message, Role};
use crate::docs::canonical;
use crate::engine::view::Row;
use crate::engine::vocabulary::RowIx;
use crate::text::calendar::names_a_day;
use crate::text::normal::{loose_name, normalise_query};
use crate::text::specifics::{fixed_points, specifics};
use crate::text::template::{Values, masked};
use crate::text::typos::TypoWords;
use crate::text::words::is_unspaced;

/// Letters that all requests of a context must share at an end for them to be left out.
const MIN_SHARED: usize = 200;
/// Requests of a context that show what all share.
const MIN_REQUESTS: usize = 4;

/// Splits a conversation into the last user message, normalised, and everything else (the context); `None` if there is
/// no user message.
pub(in crate::stages) fn context_and_query(messages: Vec<Message>) -> Option<(String, String)> {
    let asked = Asked::of(messages)?;
    Some((asked.context, asked.query))
}

/// A conversation in two parts.
pub(super) struct Asked {
    /// Everything except the last user message, as text.
    context: String,
    /// The last user message, as sent.
    last: String,
    /// The last user message, normalised.
    pub(super) query: String,
}

impl Asked {
    /// Reads a request; `None` if there is no user message.
    pub(super) fn read(row: Row<'_>) -> Option<Self> {
        Self::of(row.messages())
    }

    fn of(mut messages: Vec<Message>) -> Option<Self> {
        let last_user = messages.iter().rposition(|message| message.role == Role::User)?;
        let last = messages.remove(last_user).content;
        let query = normalise_query(&last);
        let mut context = serde_json::to_string(&messages).expect("messages are plain data");
        // The position matters too: a message after the question differs from the same message before it.
        context.push_str(&format!(" {last_user}"));
        Some(Self { context, last, query })
    }

    /// Returns the hash of the list and the context.
    pub(super) fn exact(&self, list: Option<u128>) -> u128 {
        of_list(&self.context, list)
    }

    /// Returns the hash of the list and the context without its values.
    pub(super) fn group(&self, list: Option<u128>) -> u128 {
        of_list(&masked(&self.context, Values::Numbers).form, list)
    }
}

fn of_list(context: &str, list: Option<u128>) -> u128 {
    match list {
        Some(list) => content_hash(format!("{context} {list}")),
        None => content_hash(context),
    }
}

/// The parts of a request that are compared.
pub(super) struct ComparedRequest {
    /// The hash of list and context without values.
    pub(super) group: u128,
    /// The hash of list and context.
    pub(super) context: u128,
    /// The values of the context.
    context_values: Vec<String>,
    /// The query names a day as seen from the day on which it is asked.
    names_a_day: bool,
    /// The normalised last user message.
    pub(super) query: String,
    /// The hash of the specifics of the query.
    pub(super) specifics: u128,
    /// The hash of the specifics that its copies must share.
    pub(super) shared: u128,
    /// The hash of the recorded calls; `None` if there are none, or they cannot be read.
    pub(super) calls: Option<u128>,
    /// The values of the recorded calls, in lower case.
    pub(super) values: Vec<String>,
    /// Its words, of which one may have a typing error.
    pub(super) typo_words: TypoWords,
}

impl ComparedRequest {
    /// Reads a request; `None` if there is no user message. `by_meaning`: queries in other words may be copies. `of_one_function`: its
    /// list has one function, whose name may differ between lists.
    pub(super) fn read(
        row: Row<'_>,
        list: Option<u128>,
        by_meaning: bool,
        of_one_function: bool,
    ) -> Option<Self> {
        let asked = Asked::read(row)?;
        let response = row.response();
        // Any name counts as offered: only calls are compared, and the docs are not read here.
        let calls =
            match recorded_answer(response.as_ref(), row.text(FINISH_REASON), row.int(STATUS), |_| true) {
                RecordedAnswer::Calls(calls) => Some(calls),
                _ => None,
            };
        let mut values = Vec::new();
        // To switch on and to switch off have equal arguments.
        let calls = calls.map(|calls| {
            let name = |name: &str| if of_one_function { Value::Null } else { loose_name(name).into() };
            let calls: Vec<Value> = calls
                .into_iter()
                .map(|call| {
                    add_values(&call.arguments, &mut values);
                    Value::Array(vec![name(&call.name), call.arguments])
                })
                .collect();
            content_hash(canonical::value_text(&Value::Array(calls)))
        });
        let specifics = content_hash(specifics(&asked.last));
        let shared = if by_meaning { content_hash(fixed_points(&asked.last)) } else { specifics };
        let typo_words = TypoWords::of(&asked.last);
        let context = masked(&asked.context, Values::Numbers);
        Some(Self {
            group: of_list(&context.form, list),
            context: asked.exact(list),
            names_a_day: !context.values.is_empty() && names_a_day(&asked.query),
            context_values: context.values,
            query: asked.query,
            specifics,
            shared,
            calls,
            values,
            typo_words,
        })
    }

    /// Whether another request of the group was made in the same context, or in one whose other values change nothing: both
    /// have the same recorded calls, and no query or call depends on a value that differs.
    pub(super) fn has_context_of(&self, other: &Self) -> bool {
        if self.context == other.context {
            return true;
        }
        let depends = |request: &Self, value: &str| {
            request.query.contains(value) || request.values.iter().any(|used| used.contains(value))
        };
        let differing =
            self.context_values.iter().zip(&other.context_values).filter(|(one, other)| one != other);
        self.calls.is_some()
            && self.calls == other.calls
            && self.context_values.len() == other.context_values.len()
            && !self.names_a_day
            && !other.names_a_day
            && differing
                .map(|(one, other)| [one.to_lowercase(), other.to_lowercase()])
                .all(|[one, two]| !depends(self, &one) && !depends(other, &two))
    }
}

/// Leaves out of the queries what all requests of a context begin or end with, if that is long.
pub(super) fn leave_out_what_all_share(requests: &mut [(RowIx, ComparedRequest)]) {
    let mut groups: FxHashMap<u128, Vec<usize>> = FxHashMap::default();
    for (at, (_, request)) in requests.iter().enumerate() {
        groups.entry(request.group).or_default().push(at);
    }
    for group in groups.into_values().filter(|group| group.len() >= MIN_REQUESTS) {
        let queries: Vec<&str> = group.iter().map(|&at| requests[at].1.query.as_str()).collect();
        let (start, end) = shared_ends(&queries);
        if start + end == 0 || queries.iter().any(|query| query.len() <= start + end) {
            continue;
        }
        for at in group {
            let query = &mut requests[at].1.query;
            *query = query[start..query.len() - end].trim().to_owned();
        }
    }
}

/// The bytes that all texts share at their start and at their end, in whole words; 0 for an end with little in common.
fn shared_ends(texts: &[&str]) -> (usize, usize) {
    let first = texts[0];
    let is_long = |shared: &str| shared.chars().count() >= MIN_SHARED;
    let start = texts.iter().fold(first.len(), |shared, text| {
        let equal = first.bytes().zip(text.bytes()).take_while(|(one, other)| one == other).count();
        shared.min(equal)
    });
    let start = (0..=start).rev().find(|&at| is_between_words(first, at)).unwrap_or_default();
    let start = if is_long(&first[..start]) { start } else { 0 };
    let end = texts.iter().fold(first.len() - start, |shared, text| {
        let equal =
            first.bytes().rev().zip(text.bytes().rev()).take_while(|(one, other)| one == other).count();
        shared.min(equal).min(text.len().saturating_sub(start))
    });
    let end =
        (0..=end).rev().find(|&length| is_between_words(first, first.len() - length)).unwrap_or_default();
    let end = if is_long(&first[first.len() - end..]) { end } else { 0 };
    (start, end)
}

/// Whether a place in a text is not inside a word or a character.
fn is_between_words(text: &str, at: usize) -> bool {
    if !text.is_char_boundary(at) {
        return false;
    }
    let is_letter = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let before = text[..at].chars().next_back().is_some_and(is_letter);
    !(before && text[at..].chars().next().is_some_and(is_letter))
}

/// Adds the single values of a value, in lower case.
fn add_values(value: &Value, values: &mut Vec<String>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| add_values(element, values)),
        Value::Object(members) => members.values().for_each(|member| add_values(member, values)),
        Value::String(text) => values.push(text.to_lowercase()),
        Value::Number(number) => values.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}
