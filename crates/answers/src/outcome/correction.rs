//! Whether the next message of a user corrects a call.
//!
//! People correct with a no, by calling it wrong, or by repeating what they had said; the last needs no word list, and
//! neither does a next call of the same function with a value that the first request had. A next request, a polite end and an
//! idiom correct nothing.

use callsieve_bfcl::conversation::{Call, Message, Role};
use serde_json::Value;

use super::reply::numbers_of;
use super::words::{
    CLOSINGS, CORRECTIONS, FINE, IDIOMS, NEGATIONS, NOT_AFTER, REJECTIONS, SHORT_REJECTIONS, WANTED,
    begins_with_one, begins_with_one_and_sign, has_one, has_one_after_sign,
};
use crate::traced::Trace;

/// Words of a message that may be nothing but a correction.
const MOST_WORDS: usize = 40;
/// Words of a message that corrects with a value that the request did not have.
const MOST_OF_A_SHORT: usize = 14;
/// Words of a message that says what was wanted.
const MOST_OF_A_REPEAT: usize = 8;
/// Letters and digits of a value that is no accident.
const LEAST_OF_A_CODE: usize = 4;
/// Letters of a word of the request that a correction repeats.
const MIN_LETTERS: usize = 3;

/// Returns `true` if the message rejects or corrects the calls. `before` led to them, `later` follows the message.
pub(super) fn corrects(message: &Message, before: &[Message], calls: &[Call], later: &[&Message]) -> bool {
    let lower = message.content.trim().to_lowercase().replace('\u{2019}', "'");
    if lower.split_whitespace().count() > MOST_WORDS {
        return false;
    }
    let next_calls: Vec<&Call> =
        later.iter().take_while(|later| later.role != Role::User).flat_map(|later| &later.calls).collect();
    let leaves = Leaf::of_calls(calls);
    let request = before.iter().rfind(|message| message.role == Role::User);
    let request = request.map_or("", |message| message.content.as_str());
    let repeats = || repeats_request(&lower, before, request, &leaves);
    let rejects = rejects(&lower);
    let says_wrong = has_one(&lower, CORRECTIONS);
    let says_wanted = has_one(&lower, WANTED);
    if says_wrong && rejects
        || (says_wrong || says_wanted) && repeats()
        || repairs(&lower, before, request, calls, &next_calls)
    {
        return true;
    }
    if !says_wrong && (has_one(&lower, CLOSINGS) || rejects && has_one_after_sign(&lower, FINE)) {
        return false;
    }
    // "Actually, order me a taxi as well": another function is called.
    let is_other = |next: &&Call| calls.iter().all(|call| call.name != next.name);
    if !next_calls.is_empty() && next_calls.iter().all(is_other) {
        return false;
    }
    rejects
        || says_wrong
        || repeats()
        || says_wanted && repeats_word(&lower, request, calls)
        || denies_value(&lower, request, &leaves)
}

/// Whether a message begins with a no.
fn rejects(lower: &str) -> bool {
    let has_no = begins_with_one(lower, REJECTIONS) || begins_with_one_and_sign(lower, SHORT_REJECTIONS);
    has_no && !begins_with_one(lower, IDIOMS)
}

/// Whether the message repeats only numbers of the request that the calls lack, while they have a value that the request
/// lacks: "ich hatte den 5. gesagt", after a call with the 15th.
fn repeats_request(lower: &str, before: &[Message], request: &str, leaves: &[Leaf<'_>]) -> bool {
    let repeated = numbers_of(lower);
    if repeated.is_empty() {
        return false;
    }
    let of_request = numbers_of(request);
    let of_calls: Vec<String> = leaves.iter().flat_map(|leaf| numbers_of(&leaf.value.to_string())).collect();
    repeated.iter().all(|number| of_request.contains(number) && !of_calls.contains(number)) && {
        let trace = Trace::of_messages(before);
        !leaves.iter().all(|leaf| trace.has(leaf.value))
    }
}

/// Whether a short message repeats a word of the request that the calls lack: "je voulais Lyon", after a call with Paris.
fn repeats_word(lower: &str, request: &str, calls: &[Call]) -> bool {
    if lower.split_whitespace().count() > MOST_OF_A_REPEAT {
        return false;
    }
    let request = request.to_lowercase();
    let arguments: String = calls.iter().map(|call| call.arguments.to_string().to_lowercase()).collect();
    let (of_request, of_calls): (Vec<&str>, Vec<&str>) =
        (words(&request).collect(), words(&arguments).collect());
    let means_something =
        |word: &str| word.chars().count() > MIN_LETTERS || word.contains(|c: char| c.is_numeric());
    words(lower).any(|word| means_something(word) && of_request.contains(&word) && !of_calls.contains(&word))
}

/// Whether the next calls repeat one of the calls with a value that the request had, in place of one that it had not. A value
/// that only the message has is one too, if the message names or rejects what it replaces.
fn repairs(lower: &str, before: &[Message], request: &str, calls: &[Call], next_calls: &[&Call]) -> bool {
    if !next_calls.iter().any(|next| calls.iter().any(|call| call.name == next.name)) {
        return false;
    }
    let (mut asked, mut said, mut context) = (Trace::default(), Trace::default(), Trace::default());
    asked.add(request);
    said.add(lower);
    for message in before {
        context.add(&message.content);
    }
    asked.add_relative_dates_of(&context);
    said.add_relative_dates_of(&context);
    let is_short = lower.split_whitespace().count() <= MOST_OF_A_SHORT;
    let rejects = rejects(lower) || has_one(lower, CORRECTIONS);
    next_calls.iter().any(|next| {
        let same = calls.iter().filter(|call| call.name == next.name);
        let Some(changed) = same.map(|call| Changes::of(call, next)).min_by_key(|c| c.replaced.len()) else {
            return false;
        };
        changed.replaced.iter().any(|(old, new)| {
            let was_given = old.is_some_and(|old| asked.may_give(old));
            let is_of_request = || {
                asked.gives(new) && !changed.kept_use_up(new, request) && (old.is_some() || said.gives(new))
            };
            let is_of_message = || {
                // "The second one" names no 1.
                let names_old = old.is_some_and(|old| match old {
                    Value::Number(number) => numbers_of(lower).contains(&number.to_string()),
                    _ => said.gives(old),
                });
                old.is_some() && is_short && said.gives(new) && (names_old || rejects)
            };
            // "40127, it stands next to 40129": the request has both, and the next call takes the other one.
            let is_other_one = || {
                changed.replaced.len() == 1
                    && is_telling(new)
                    && asked.gives(new)
                    && !changed.kept_use_up(new, request)
            };
            if was_given { is_other_one() } else { is_of_request() || is_of_message() }
        })
    })
}

/// Whether a value is one that a request hardly has by accident: a code, a long number, or a word.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST_OF_A_CODE,
        Value::Number(number) => number.to_string().len() >= LEAST_OF_A_CODE,
        _ => false,
    }
}

/// How a call of the same function differs from an earlier one.
struct Changes<'v> {
    /// The earlier value, if there was one, and the new one.
    replaced: Vec<(Option<&'v Value>, &'v Value)>,
    kept: Vec<&'v Value>,
}

impl<'v> Changes<'v> {
    fn of(call: &'v Call, next: &'v Call) -> Self {
        let earlier = Leaf::of_calls(std::slice::from_ref(call));
        let (mut replaced, mut kept) = (Vec::new(), Vec::new());
        for leaf in Leaf::of_calls(std::slice::from_ref(next)) {
            let old = earlier.iter().find(|old| old.path == leaf.path).map(|old| old.value);
            if old == Some(leaf.value) {
                kept.push(leaf.value);
            } else {
                replaced.push((old, leaf.value));
            }
        }
        Self { replaced, kept }
    }

    /// Whether the request has a number only because other arguments have it: the 2 of "2 May", where people become 2.
    fn kept_use_up(&self, new: &Value, request: &str) -> bool {
        let Some(number) = new.as_f64() else { return false };
        let n_in = |text: &str| {
            let numbers = numbers_of(text);
            numbers
                .iter()
                .filter(|digits| digits.parse::<f64>().is_ok_and(|own| (own - number).abs() < 1e-9))
                .count()
        };
        let n_asked = n_in(&without_codes(request));
        n_asked <= self.kept.iter().map(|kept| n_in(&kept.to_string())).sum() && n_in(request) > 0
    }
}

/// A text without words that have letters beside digits: the 4 of "BR-4" is no number.
fn without_codes(text: &str) -> String {
    let is_code = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_alphabetic())
    };
    text.split_whitespace().filter(|word| !is_code(word)).collect::<Vec<_>>().join(" ")
}

/// Whether the message denies a value that the request does not have: "i have a rabbit not a cat".
fn denies_value(lower: &str, request: &str, leaves: &[Leaf<'_>]) -> bool {
    let tokens: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '\u{900}'..='\u{dff}')))
        .filter(|word| !word.is_empty())
        .collect();
    let request = request.to_lowercase();
    let of_request: Vec<&str> =
        request.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let is_wrong =
        |token: &str| !of_request.contains(&token) && leaves.iter().any(|leaf| leaf.is_named_by(token));
    tokens.iter().enumerate().any(|(at, token)| {
        let denies_next =
            NEGATIONS.contains(token) && tokens[at + 1..].iter().take(2).any(|next| is_wrong(next));
        let denies_last = NOT_AFTER.contains(token) && at > 0 && is_wrong(tokens[at - 1]);
        denies_next || denies_last
    })
}

/// A single value of a call, with its place. Yes and no are none.
struct Leaf<'v> {
    path: String,
    value: &'v Value,
}

impl<'v> Leaf<'v> {
    fn of_calls(calls: &'v [Call]) -> Vec<Self> {
        let mut leaves = Vec::new();
        for call in calls {
            Self::add(String::new(), &call.arguments, &mut leaves);
        }
        leaves
    }

    fn add(path: String, value: &'v Value, leaves: &mut Vec<Self>) {
        match value {
            Value::Array(elements) => {
                let elements = elements.iter().enumerate();
                elements.for_each(|(at, element)| Self::add(format!("{path}/{at}"), element, leaves));
            }
            Value::Object(members) => {
                members.iter().for_each(|(key, member)| Self::add(format!("{path}/{key}"), member, leaves));
            }
            Value::Null | Value::Bool(_) => {}
            Value::String(_) | Value::Number(_) => leaves.push(Self { path, value }),
        }
    }

    /// Whether a word of a message names the value: the whole part of a number, or the first or the last word of a text.
    fn is_named_by(&self, token: &str) -> bool {
        match self.value {
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                let said = token.replace(',', ".").parse::<f64>();
                said.is_ok_and(|said| (said - number).abs() < 1e-9 || (said - number.trunc()).abs() < 1e-9)
            }
            Value::String(text) => {
                let lower = text.to_lowercase();
                let is_one = |word: &&str| {
                    word.chars().count() >= MIN_LETTERS || word.contains(|c: char| c.is_numeric())
                };
                *lower == *token || words(&lower).filter(is_one).any(|word| word == token)
            }
            _ => false,
        }
    }
}

/// The words of a text in lower case.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-' | '\u{900}'..='\u{dff}'))
        .filter(|word| !word.is_empty())
}
