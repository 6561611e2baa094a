//! The calls of a path with their results, and the names on offer.
//!
//! Calls and results are paired by id. Without ids, a result belongs to the first open call of its name, or to the first open call
//! if it has no name, as in formats that have no ids.

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::{Call, Message, Role};
use serde_json::Value;

use super::shapes::Shapes;
use super::{Coverage, Solution};

/// A call and its result.
pub(super) struct Exchange<'a> {
    pub(super) call: &'a Call,
    pub(super) result: Option<&'a Message>,
    /// Whether the call is after the last message of the user.
    pub(super) is_last_turn: bool,
}

/// A solution with what the checks share.
pub(super) struct Path<'a> {
    pub(super) solution: &'a Solution<'a>,
    pub(super) exchanges: Vec<Exchange<'a>>,
    /// Results without a call.
    pub(super) orphans: Vec<&'a Message>,
    pub(super) offered: BTreeSet<&'a str>,
    /// Shapes of ids in results and arguments.
    pub(super) shapes: Shapes,
}

impl<'a> Path<'a> {
    pub(super) fn of(solution: &'a Solution<'a>) -> Self {
        let last_user = solution.messages.iter().rposition(|message| message.role == Role::User);
        let (mut exchanges, mut orphans) = (Vec::<Exchange>::new(), Vec::new());
        for (at, message) in solution.messages.iter().enumerate() {
            let is_last_turn = last_user.is_none_or(|user| at > user);
            exchanges.extend(message.calls.iter().map(|call| Exchange { call, result: None, is_last_turn }));
            if message.role == Role::Tool {
                match exchanges.iter_mut().find(|exchange| exchange.takes(message)) {
                    Some(exchange) => exchange.result = Some(message),
                    None => orphans.push(message),
                }
            }
        }
        let offered = solution.functions.iter().filter_map(name_of).collect();
        let shapes = Shapes::of(solution.messages);
        Self { solution, exchanges, orphans, offered, shapes }
    }

    /// Returns whether any call succeeded.
    pub(super) fn has_success(&self) -> bool {
        self.exchanges.iter().any(Exchange::succeeded)
    }

    /// Returns whether the last turn has calls, and all failed.
    pub(super) fn all_failed_in_last_turn(&self) -> bool {
        let mut calls = self.exchanges.iter().filter(|exchange| exchange.is_last_turn).peekable();
        calls.peek().is_some() && calls.all(|exchange| !exchange.succeeded())
    }

    pub(super) fn coverage(&self) -> Coverage {
        let of_turn = self.exchanges.iter().filter(|exchange| exchange.is_last_turn);
        let called: BTreeSet<&str> = of_turn.map(|exchange| exchange.call.name.as_str()).collect();
        let expected: BTreeSet<&String> = self.solution.expected_functions.iter().collect();
        let (called, missed) = expected.into_iter().cloned().partition(|name| called.contains(name.as_str()));
        Coverage { called, missed }
    }
}

impl Exchange<'_> {
    fn takes(&self, result: &Message) -> bool {
        if self.result.is_some() {
            return false;
        }
        match (&self.call.id, &result.call_id) {
            (Some(id), Some(call_id)) => id == call_id,
            _ => result.name.as_ref().is_none_or(|name| *name == self.call.name),
        }
    }

    /// Returns whether there is a result that is no error.
    pub(super) fn succeeded(&self) -> bool {
        self.result.is_some_and(|result| !is_failure(result))
    }
}

/// Returns the name of a function in its doc.
fn name_of(doc: &Value) -> Option<&str> {
    let nested = doc.get("function").and_then(|function| function.get("name"));
    doc.get("name").or(nested).and_then(Value::as_str)
}

/// Beginnings of a text result that is an error, in lower case.
const ERROR_TEXTS: [&str; 5] = ["error:", "exception:", "traceback", "fatal:", "http error"];
/// Keys whose value, if not empty, is an error.
const ERROR_KEYS: [&str; 4] = ["error", "errors", "exception", "detail_error"];
/// Values of `status` of an error.
const ERROR_STATUS: [&str; 4] = ["error", "failed", "failure", "fail"];
/// Status codes from here are errors.
const FIRST_ERROR_CODE: i64 = 400;

/// Returns whether a result is marked as an error or reads as one.
pub(super) fn is_failure(result: &Message) -> bool {
    if result.is_error {
        return true;
    }
    let text = result.content.trim();
    if let Ok(Value::Object(object)) = serde_json::from_str(text) {
        return object.iter().any(|(key, value)| is_error_entry(key, value));
    }
    let start: String = text.chars().take(16).collect::<String>().to_lowercase();
    ERROR_TEXTS.iter().any(|error| start.starts_with(error))
}

fn is_error_entry(key: &str, value: &Value) -> bool {
    let key = key.to_lowercase();
    if ERROR_KEYS.contains(&key.as_str()) {
        return match value {
            Value::Null => false,
            Value::Bool(is_error) => *is_error,
            Value::String(text) => !text.trim().is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(entries) => !entries.is_empty(),
            Value::Number(code) => code.as_i64() != Some(0),
        };
    }
    match (key.as_str(), value) {
        ("success" | "ok", Value::Bool(is_success)) => !is_success,
        ("status" | "status_code" | "statuscode", Value::Number(code)) => {
            code.as_i64().is_some_and(|code| (FIRST_ERROR_CODE..600).contains(&code))
        }
        ("status", Value::String(status)) => ERROR_STATUS.contains(&status.to_lowercase().as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_a_failure_if_it_is_marked_or_reads_as_one() {
        for (content, expected) in [
            ("{\"error\": \"\", \"response\": \"x\"}", false),
            ("{\"error\": \"no such boat\"}", true),
            ("{\"exception\": null, \"output\": 3}", false),
            ("{\"success\": false}", true),
            ("{\"status\": 404}", true),
            ("{\"status\": \"failed\"}", true),
            ("{\"status\": \"success\"}", false),
            ("Error: the pier is closed", true),
            ("Errors are rare", false),
            ("", false),
        ] {
            assert_eq!(is_failure(&Message::text(Role::Tool, content)), expected, "{content}");
        }
        assert!(is_failure(&Message { is_error: true, ..Message::text(Role::Tool, "fine") }));
    }

    #[test]
    fn names_of_docs_are_at_the_top_or_nested() {
        assert_eq!(name_of(&json!({"name": "a"})), Some("a"));
        assert_eq!(name_of(&json!({"type": "function", "function": {"name": "b"}})), Some("b"));
        assert_eq!(name_of(&json!([])), None);
    }
}
