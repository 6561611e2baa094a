//! Whether the next message of a user corrects a call.
//!
//! People correct with a no, by calling it wrong, or by repeating what they had said; the last needs no word list. A next
//! request, and a polite end, correct nothing.

use callsieve_bfcl::conversation::{Call, Message, Role};
use serde_json::Value;

use super::reply::numbers_of;
use super::words::{CLOSINGS, CORRECTIONS, REJECTIONS, begins_with_one, has_one};
use crate::traced::Trace;

/// Words of a message that may be nothing but a correction.
const MOST_WORDS: usize = 40;

/// Returns `true` if the message rejects or corrects the calls. `before` led to them, `later` follows the message.
pub(super) fn corrects(message: &Message, before: &[Message], calls: &[Call], later: &[&Message]) -> bool {
    let lower = message.content.trim().to_lowercase();
    if lower.split_whitespace().count() > MOST_WORDS {
        return false;
    }
    let (rejects, says_wrong) = (begins_with_one(&lower, REJECTIONS), has_one(&lower, CORRECTIONS));
    if has_one(&lower, CLOSINGS) && !says_wrong {
        return false;
    }
    if rejects && says_wrong {
        return true;
    }
    // "Actually, order me a taxi as well": another function is called.
    let next_calls: Vec<&Call> =
        later.iter().take_while(|later| later.role != Role::User).flat_map(|later| &later.calls).collect();
    let is_other = |next: &&Call| calls.iter().all(|call| call.name != next.name);
    if !next_calls.is_empty() && next_calls.iter().all(is_other) {
        return false;
    }
    rejects || says_wrong || repeats_request(&lower, before, calls)
}

/// Whether the message repeats only numbers of the request that the calls lack, while they have a value that the request
/// lacks: "ich hatte den 5. gesagt", after a call with the 15th.
fn repeats_request(lower: &str, before: &[Message], calls: &[Call]) -> bool {
    let Some(request) = before.iter().rfind(|message| message.role == Role::User) else { return false };
    let trace = Trace::of_messages(before);
    let mut leaves = Vec::new();
    for call in calls {
        add_leaves(&call.arguments, &mut leaves);
    }
    if leaves.iter().all(|value| trace.has(value)) {
        return false;
    }
    let of_request = numbers_of(&request.content);
    let of_calls: Vec<String> = leaves.iter().flat_map(|value| numbers_of(&value.to_string())).collect();
    let repeated = numbers_of(lower);
    !repeated.is_empty()
        && repeated.iter().all(|number| of_request.contains(number) && !of_calls.contains(number))
}

/// Adds the single values of a value.
fn add_leaves<'v>(value: &'v Value, leaves: &mut Vec<&'v Value>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| add_leaves(element, leaves)),
        Value::Object(members) => members.values().for_each(|member| add_leaves(member, leaves)),
        Value::Null | Value::Bool(_) => {}
        Value::String(_) | Value::Number(_) => leaves.push(value),
    }
}
