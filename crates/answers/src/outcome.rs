//! Judges from the rest of a conversation whether recorded calls worked.
//!
//! Calls that worked are scored as if a person had written them, so the rules are strict:
//! `Worked` needs a successful result for every call and no doubtful message after it;
//! everything doubtful is `Unknown`. The word lists are short, and English except for a few
//! words for *no*. Deliberately absent: asking a model, and conclusions from a conversation that
//! simply ends.

use serde_json::{Map, Value};

use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_notation::python;

/// The outcome of calls, from the conversation after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Every call has a successful result, and no later message doubts or repeats it.
    Worked,
    /// A result reports a failure, or the user corrects the call.
    Failed,
    /// The log has no clear evidence.
    Unknown,
}

/// First words of a user's next message that reject the calls.
const CORRECTION_OPENERS: &[&str] = &[
    "no",
    "nope",
    "not",
    "wrong",
    "incorrect",
    "actually",
    "wait",
    "undo",
    "try again",
    "non",
    "nein",
    "não",
    "нет",
    "不",
    "いいえ",
    "아니",
];

/// Phrases anywhere in a user's next message that reject the calls.
const CORRECTIONS: &[&str] = &[
    "i meant",
    "i mean ",
    "that's not",
    "thats not",
    "that’s not",
    "that is not",
    "that isn't",
    "that was not",
    "that wasn't",
    "is wrong",
    "was wrong",
    "wrong one",
    "instead of",
    "i asked for",
    "i said ",
    "not what i",
];

/// First words of a text result that reports a failure.
const FAILURE_OPENERS: &[&str] = &["error", "exception", "traceback", "failed", "failure", "invalid"];

/// Phrases anywhere in a result or a later message of the model that make the outcome doubtful.
const DOUBTS: &[&str] = &[
    "error",
    "exception",
    "fail",
    "invalid",
    "sorry",
    "unable",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "not found",
    "no results",
    "not work",
    "didn't work",
    "denied",
    "unauthorized",
    "forbidden",
    "timed out",
    "apolog",
    "wrong",
    "try again",
];

/// Keys of a result that hold its error.
const ERROR_KEYS: &[&str] =
    &["error", "errors", "exception", "err", "error_message", "errormessage", "error_code", "traceback"];

/// Keys of a result for success, with a yes or no value.
const SUCCESS_KEYS: &[&str] = &["ok", "success", "succeeded", "is_success"];

/// Keys of a result that hold a status word or an HTTP status.
const STATUS_KEYS: &[&str] = &["status", "status_code", "statuscode", "http_status"];

/// Values of a status key that report a failure.
const FAILURE_STATUSES: &[&str] = &["error", "failed", "failure", "fail"];

/// Judges `calls` by `after`, the messages after them in a later row, and `final_response`, the answer to that row.
pub fn outcome(calls: &[Call], after: &[Message], final_response: Option<&Message>) -> Outcome {
    let n_results = after.iter().take_while(|message| message.role == Role::Tool).count();
    let (results, rest) = after.split_at(n_results);
    let judged: Vec<_> = results.iter().map(result_outcome).collect();
    if judged.contains(&Outcome::Failed) {
        return Outcome::Failed;
    }
    let next_request = rest.iter().find(|message| message.role == Role::User);
    if next_request.is_some_and(|message| corrects(&message.content)) {
        return Outcome::Failed;
    }
    let is_fine = !calls.is_empty()
        && judged.iter().all(|outcome| *outcome == Outcome::Worked)
        && each_has_one_result(calls, results)
        && !rest.iter().chain(final_response).any(|later| repeats(later, calls) || admits_doubt(later));
    if is_fine { Outcome::Worked } else { Outcome::Unknown }
}

/// Returns whether each call has exactly one result: by id, or by position if neither calls nor results have ids.
fn each_has_one_result(calls: &[Call], results: &[Message]) -> bool {
    if calls.len() != results.len() {
        return false;
    }
    let mut of_calls: Vec<_> = calls.iter().map(|call| call.id.as_deref()).collect();
    let mut of_results: Vec<_> = results.iter().map(|result| result.call_id.as_deref()).collect();
    if of_calls.iter().chain(&of_results).all(Option::is_none) {
        return true;
    }
    of_calls.sort_unstable();
    of_results.sort_unstable();
    of_calls == of_results
        && of_calls.iter().all(Option::is_some)
        && of_calls.windows(2).all(|pair| pair[0] != pair[1])
}

/// Returns whether a message calls the same function again: a retry, a next page, or a missing second part.
fn repeats(later: &Message, calls: &[Call]) -> bool {
    later.calls.iter().any(|again| calls.iter().any(|call| call.name == again.name))
}

/// Returns whether the model reports a failure to the user.
fn admits_doubt(later: &Message) -> bool {
    later.role == Role::Assistant && is_doubtful(&later.content)
}

fn corrects(content: &str) -> bool {
    let text = content.trim().to_lowercase();
    starts_with_word(&text, CORRECTION_OPENERS) || CORRECTIONS.iter().any(|words| text.contains(words))
}

/// Returns whether the text starts with one of the words; a word in a script without spaces needs no word boundary.
fn starts_with_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        text.strip_prefix(word)
            .is_some_and(|rest| !word.is_ascii() || !rest.starts_with(|c: char| c.is_alphanumeric()))
    })
}

fn is_doubtful(text: &str) -> bool {
    let text = text.to_lowercase();
    DOUBTS.iter().any(|words| text.contains(words))
}

fn result_outcome(result: &Message) -> Outcome {
    if result.is_error { Outcome::Failed } else { text_outcome(&result.content) }
}

/// Judges the text of a result, which may be JSON or a printed Python value.
fn text_outcome(text: &str) -> Outcome {
    let text = text.trim();
    if text.is_empty() {
        return Outcome::Unknown;
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return value_outcome(&value);
    }
    if let Some(value) = text.starts_with(['{', '[', '(']).then(|| python::literal(text).ok()).flatten() {
        return value_outcome(&value);
    }
    prose_outcome(text)
}

fn prose_outcome(text: &str) -> Outcome {
    if starts_with_word(&text.to_lowercase(), FAILURE_OPENERS) {
        Outcome::Failed
    } else if text.trim().is_empty() || is_doubtful(text) {
        Outcome::Unknown
    } else {
        Outcome::Worked
    }
}

/// Judges a structured result: one failure in it is a failure, and one doubt a doubt. No depth limit is needed, because
/// both parsers refuse values nested deeper than 128.
fn value_outcome(value: &Value) -> Outcome {
    match value {
        // An empty result, or `false`, may be correct or the effect of a wrong call.
        Value::Null | Value::Bool(false) => Outcome::Unknown,
        Value::Bool(true) | Value::Number(_) => Outcome::Worked,
        Value::String(text) => prose_outcome(text),
        Value::Array(elements) => worst(elements.iter().map(value_outcome)),
        Value::Object(members) => object_outcome(members),
    }
}

fn object_outcome(members: &Map<String, Value>) -> Outcome {
    worst(members.iter().filter_map(|(key, value)| member_outcome(&key.to_lowercase(), value)))
}

/// Judges one member of a result; `None` if it is no evidence, such as a `null` among other members.
fn member_outcome(key: &str, value: &Value) -> Option<Outcome> {
    if ERROR_KEYS.contains(&key) {
        return (!is_blank(value)).then_some(Outcome::Failed);
    }
    if SUCCESS_KEYS.contains(&key) {
        let says_no =
            *value == Value::Bool(false) || value.as_str().is_some_and(|v| v.eq_ignore_ascii_case("false"));
        return Some(if says_no { Outcome::Failed } else { Outcome::Worked });
    }
    if STATUS_KEYS.contains(&key) && is_failure_status(value) {
        return Some(Outcome::Failed);
    }
    match value {
        Value::Null | Value::Bool(_) => None,
        Value::Array(elements) if elements.is_empty() => None,
        Value::Object(inner) if inner.is_empty() => None,
        Value::String(text) if text.trim().is_empty() => None,
        // Data may contain such words (a title, a log line), so they are a doubt, not a failure.
        Value::String(text) => Some(if is_doubtful(text) { prose_outcome(text) } else { Outcome::Worked }),
        _ => Some(value_outcome(value)),
    }
}

fn is_failure_status(value: &Value) -> bool {
    match value {
        Value::Number(status) => status.as_f64().is_some_and(|status| status >= 400.0),
        Value::String(status) => {
            let status = status.trim().to_lowercase();
            FAILURE_STATUSES.contains(&status.as_str())
                || status.parse::<f64>().is_ok_and(|code| code >= 400.0)
        }
        _ => false,
    }
}

/// Returns whether the value of an error key means that there is no error.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(code) => code.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty() || text.eq_ignore_ascii_case("none"),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) => false,
    }
}

/// Returns the worst of the parts; `Unknown` without parts.
fn worst(parts: impl Iterator<Item = Outcome>) -> Outcome {
    let rank = |outcome: &Outcome| match outcome {
        Outcome::Failed => 2,
        Outcome::Unknown => 1,
        Outcome::Worked => 0,
    };
    parts.max_by_key(rank).unwrap_or(Outcome::Unknown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str, arguments: Value) -> Call {
        Call { id: (!id.is_empty()).then(|| id.to_owned()), name: name.to_owned(), arguments }
    }

    fn result(id: &str, content: &str) -> Message {
        Message { call_id: (!id.is_empty()).then(|| id.to_owned()), ..Message::text(Role::Tool, content) }
    }

    fn of_result(content: &str) -> Outcome {
        outcome(&[call("1", "f", json!({}))], &[result("1", content)], None)
    }

    /// Judges one call with a successful result that is followed by these messages.
    fn of_rest(rest: &[Message], final_response: Option<&Message>) -> Outcome {
        let after: Vec<_> = [result("1", "{\"ok\": true}")].into_iter().chain(rest.iter().cloned()).collect();
        outcome(&[call("1", "f", json!({"a": 1}))], &after, final_response)
    }

    #[test]
    fn a_result_without_an_error_is_a_success() {
        for content in [
            r#"{"ok": true, "result": "done"}"#,
            r#"{"temperature": 21.5, "error": null}"#,
            r#"{"errors": [], "id": 7}"#,
            "Sunny, 21 degrees",
            "{'status': 'success', 'rows': [1, 2]}",
            "42",
            r#"[{"name": "Ada"}]"#,
            r#"{"status": 200, "next": null}"#,
        ] {
            assert_eq!(of_result(content), Outcome::Worked, "{content}");
        }
    }

    #[test]
    fn a_result_that_reports_an_error_is_a_failure() {
        for content in [
            r#"{"error": "unknown function or invalid arguments"}"#,
            r#"{"data": null, "errors": [{"code": 3}]}"#,
            r#"{"success": false}"#,
            r#"{"ok": "False", "id": 1}"#,
            r#"{"status": "Error"}"#,
            r#"{"status_code": 404, "body": "x"}"#,
            r#"{"status": "500"}"#,
            "Error: no such city",
            "Traceback (most recent call last):",
            "Invalid date",
            "\"Failed to connect\"",
            "{'error': 'no such city'}",
            r#"{"result": {"exception": "KeyError"}}"#,
            r#"[{"type": "text", "text": "Error: no"}]"#,
        ] {
            assert_eq!(of_result(content), Outcome::Failed, "{content}");
        }
        let said_by_api = Message { is_error: true, ..result("1", "{\"ok\": true}") };
        assert_eq!(outcome(&[call("1", "f", json!({}))], &[said_by_api], None), Outcome::Failed);
    }

    #[test]
    fn an_empty_or_doubtful_result_decides_nothing() {
        for content in [
            "",
            " ",
            "null",
            "[]",
            "{}",
            "false",
            r#"{"items": []}"#,
            "Sorry, no results for that",
            r#"{"message": "User not found"}"#,
        ] {
            assert_eq!(of_result(content), Outcome::Unknown, "{content}");
        }
    }

    #[test]
    fn every_call_needs_its_own_result() {
        let calls = [call("1", "f", json!({})), call("2", "g", json!({}))];
        let fine = |id| result(id, "done");
        assert_eq!(outcome(&calls, &[fine("2"), fine("1")], None), Outcome::Worked);
        for results in [
            vec![],
            vec![fine("1")],
            vec![fine("1"), fine("1")],
            vec![fine("1"), fine("3")],
            vec![fine("1"), fine("")],
        ] {
            assert_eq!(outcome(&calls, &results, None), Outcome::Unknown, "{results:?}");
        }
        assert_eq!(outcome(&calls, &[fine("1"), result("2", "Error")], None), Outcome::Failed);
    }

    #[test]
    fn results_without_ids_are_matched_by_position() {
        let calls = [call("", "f", json!({})), call("", "g", json!({}))];
        assert_eq!(outcome(&calls, &[result("", "done"), result("", "done")], None), Outcome::Worked);
        assert_eq!(outcome(&calls, &[result("", "done")], None), Outcome::Unknown);
    }

    #[test]
    fn no_calls_or_no_results_decide_nothing() {
        assert_eq!(outcome(&[], &[], None), Outcome::Unknown);
        assert_eq!(outcome(&[call("1", "f", json!({}))], &[], None), Outcome::Unknown);
    }

    #[test]
    fn a_later_call_of_the_same_function_is_a_doubt() {
        let again =
            Message { calls: vec![call("2", "f", json!({"a": 2}))], ..Message::text(Role::Assistant, "") };
        assert_eq!(of_rest(std::slice::from_ref(&again), None), Outcome::Unknown);
        assert_eq!(of_rest(&[], Some(&again)), Outcome::Unknown);
        let other = Message { calls: vec![call("2", "g", json!({}))], ..Message::text(Role::Assistant, "") };
        assert_eq!(of_rest(&[other], None), Outcome::Worked);
    }

    #[test]
    fn a_correction_by_the_user_is_a_failure() {
        let user = |text: &str| Message::text(Role::User, text);
        for text in [
            "No, Paris",
            "no",
            "Wrong city!",
            "I meant tomorrow",
            "Hm, that's not it",
            "不是，我要上海",
            "nein, morgen",
        ] {
            assert_eq!(of_rest(&[user(text)], None), Outcome::Failed, "{text}");
        }
        for text in ["Thanks!", "Now book it", "Nothing else", "Great, note it down"] {
            assert_eq!(of_rest(&[user(text)], None), Outcome::Worked, "{text}");
        }
    }

    #[test]
    fn an_apology_of_the_model_is_a_doubt() {
        let reply = |text: &str| Message::text(Role::Assistant, text);
        assert_eq!(of_rest(&[], Some(&reply("Done."))), Outcome::Worked);
        assert_eq!(of_rest(&[], Some(&reply("That did not work."))), Outcome::Unknown);
        assert_eq!(of_rest(&[reply("I'm sorry, but that city is unknown.")], None), Outcome::Unknown);
        assert_eq!(
            of_rest(&[reply("Done."), Message::text(Role::User, "And?")], Some(&reply("It failed."))),
            Outcome::Unknown
        );
    }

    proptest! {
        #[test]
        fn arbitrary_results_do_not_panic(content in any::<String>(), bracketed in "[\\[\\]{}'\":,a-z0-9 ]{0,30}") {
            of_result(&content);
            of_result(&bracketed);
        }

        #[test]
        fn one_failed_result_is_never_success(fine in "[a-z]{1,8}", at in 0_usize..3) {
            let calls: Vec<_> = (0..3).map(|i| call(&i.to_string(), "f", json!({}))).collect();
            let mut results: Vec<_> = (0..3).map(|i| result(&i.to_string(), &fine)).collect();
            results[at].is_error = true;
            prop_assert_eq!(outcome(&calls, &results, None), Outcome::Failed);
        }
    }
}
