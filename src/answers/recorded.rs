//! Parses the answer of the logged model: calls, prose, or something broken.
//!
//! Structured calls take precedence over text. Text counts as calls only if all of it is call
//! syntax (`[f(a=1)]`, or JSON with a name and arguments, bare, fenced or in call tags); prose
//! that merely contains brackets or mentions a call is prose. A truncated answer is never
//! completed. For whether the calls worked see `outcome`.

use serde_json::{Map, Value};

use crate::conversation::{Call, Message};
use crate::notation::levels::{MAX_KEPT, is_within};
use crate::notation::python;

/// The answer of the logged model.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedAnswer {
    /// Calls, in order; every call's arguments are an object.
    Calls(Vec<Call>),
    /// Prose, or an empty list of calls.
    Declined,
    /// The answer is cut off.
    Truncated,
    /// The API or its filters returned no answer.
    Failed,
    /// The answer is a call that cannot be parsed; the text is the error.
    Unreadable(String),
    /// The log has no answer.
    Empty,
}

/// Finish reasons of common APIs, in lower case, for a truncated answer.
const TRUNCATED: &[&str] =
    &["length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"];

/// Finish reasons of common APIs, in lower case, for a failed request.
const FAILED: &[&str] = &["error", "content_filter", "safety", "recitation", "malformed_function_call"];

/// Tags that models write around calls.
const TAGS: &[(&str, &str)] =
    &[("<tool_call>", "</tool_call>"), ("<functioncall>", "</functioncall>"), ("[TOOL_CALLS]", "")];

/// Parses the answer to one logged request; `status` is the HTTP status, if the log has one.
pub fn recorded_answer(
    response: Option<&Message>,
    finish_reason: Option<&str>,
    status: Option<i64>,
) -> RecordedAnswer {
    let finish_reason = finish_reason.unwrap_or_default().to_ascii_lowercase();
    if status.is_some_and(|status| status >= 400) || FAILED.contains(&finish_reason.as_str()) {
        return RecordedAnswer::Failed;
    }
    if TRUNCATED.contains(&finish_reason.as_str()) {
        return RecordedAnswer::Truncated;
    }
    match response {
        None => RecordedAnswer::Empty,
        Some(message) if message.calls.is_empty() => from_text(&message.content),
        Some(message) => from_calls(&message.calls),
    }
}

fn from_calls(calls: &[Call]) -> RecordedAnswer {
    let mut read = Vec::with_capacity(calls.len());
    for call in calls {
        let arguments = match &call.arguments {
            Value::Object(arguments) => arguments.clone(),
            // Streaming APIs log the arguments of a call without any as an empty text.
            Value::Null => Map::new(),
            Value::String(text) if text.trim().is_empty() => Map::new(),
            _ => {
                return RecordedAnswer::Unreadable(format!(
                    "the arguments of `{}` are not an object",
                    call.name
                ));
            }
        };
        if !arguments.values().all(|value| is_within(value, MAX_KEPT - 1)) {
            return RecordedAnswer::Unreadable(format!("the arguments of `{}` nest too deep", call.name));
        }
        read.push(Call { arguments: Value::Object(arguments), ..call.clone() });
    }
    RecordedAnswer::Calls(read)
}

fn from_text(content: &str) -> RecordedAnswer {
    let text = unfenced(content.trim());
    if text.is_empty() {
        return RecordedAnswer::Empty;
    }
    if let Some(calls) = json_calls(text) {
        return from_calls(&calls);
    }
    match python::calls(text) {
        Ok(calls) if calls.is_empty() => RecordedAnswer::Declined,
        Ok(calls) => {
            let call = |call: python::PyCall| Call {
                id: None,
                name: call.name,
                arguments: Value::Object(call.arguments),
            };
            from_calls(&calls.into_iter().map(call).collect::<Vec<_>>())
        }
        Err(_) if !opens_a_call(text) => RecordedAnswer::Declined,
        Err(_) if stops_midway(text) => RecordedAnswer::Truncated,
        Err(error) if text.ends_with([')', ']', '}', '>']) => RecordedAnswer::Unreadable(error.to_string()),
        Err(_) => RecordedAnswer::Declined,
    }
}

/// Returns the text inside a Markdown fence around all of it; any other text unchanged.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inside) = inside.filter(|inside| !inside.contains("```")) else { return text };
    match inside.split_once('\n') {
        Some((language, rest)) if language.chars().all(char::is_alphanumeric) => rest.trim(),
        _ => inside.trim(),
    }
}

/// Parses `{"name", "arguments"}`, a list of them, or such objects in call tags; `None` for anything else.
fn json_calls(text: &str) -> Option<Vec<Call>> {
    if let Some((open, close)) = TAGS.iter().find(|(open, _)| text.starts_with(open)) {
        let bodies = text.split(open).skip(1).map(str::trim);
        let values = bodies.map(|body| body.strip_suffix(close).unwrap_or(body)).map(json_calls_in);
        return values.collect::<Option<Vec<_>>>().map(|calls| calls.concat());
    }
    json_calls_in(text)
}

fn json_calls_in(text: &str) -> Option<Vec<Call>> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    match serde_json::from_str(text).ok()? {
        Value::Array(elements) if !elements.is_empty() => elements.iter().map(json_call).collect(),
        value => json_call(&value).map(|call| vec![call]),
    }
}

fn json_call(value: &Value) -> Option<Call> {
    let name = value.get("name")?.as_str().filter(|name| !name.is_empty())?;
    let arguments = value.get("arguments").or_else(|| value.get("parameters"))?;
    // Some models write the arguments as JSON inside a string.
    let arguments = match arguments.as_str().map(serde_json::from_str::<Map<String, Value>>) {
        Some(Ok(inner)) => Value::Object(inner),
        _ => arguments.clone(),
    };
    Some(Call { id: None, name: name.to_owned(), arguments })
}

/// Returns whether the text begins like calls and not like prose: `[name(`, `name(`, a call tag, `{"name"`, or just
/// `[na`.
fn opens_a_call(text: &str) -> bool {
    if TAGS.iter().any(|(open, _)| text.starts_with(open)) {
        return true;
    }
    let (in_list, rest) = match text.strip_prefix('[') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    if let Some(object) = rest.strip_prefix('{') {
        return object.trim_start().starts_with("\"name\"");
    }
    let name = rest.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
    name.len() < rest.len() && name.starts_with('(') || in_list && name.is_empty()
}

/// Returns whether a bracket, a string or a tag is still open at the end of the text.
fn stops_midway(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(_), '\\') => drop(characters.next()),
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let tag_open = TAGS.iter().any(|(open, close)| text.matches(open).count() > text.matches(close).count());
    depth > 0 || quote.is_some() || tag_open
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::conversation::Role;

    fn call(name: &str, arguments: Value) -> Call {
        Call { id: None, name: name.to_owned(), arguments }
    }

    fn from_content(content: &str) -> RecordedAnswer {
        recorded_answer(Some(&Message::text(Role::Assistant, content)), None, None)
    }

    #[test]
    fn calls_are_parsed_in_every_notation() {
        let expected = RecordedAnswer::Calls(vec![call("weather.get", json!({"city": "Oslo", "days": 2}))]);
        for content in [
            "[weather.get(city='Oslo', days=2)]",
            " weather.get(city='Oslo', days=2)\n",
            "```python\n[weather.get(city='Oslo', days=2)]\n```",
            r#"{"name": "weather.get", "arguments": {"city": "Oslo", "days": 2}}"#,
            r#"[{"name": "weather.get", "parameters": {"city": "Oslo", "days": 2}}]"#,
            r#"<tool_call>{"name": "weather.get", "arguments": "{\"city\": \"Oslo\", \"days\": 2}"}</tool_call>"#,
            r#"[TOOL_CALLS] [{"name": "weather.get", "arguments": {"city": "Oslo", "days": 2}}]"#,
        ] {
            assert_eq!(from_content(content), expected, "{content}");
        }
    }

    #[test]
    fn several_tagged_calls_are_parsed_in_order() {
        let content = "<tool_call>\n{\"name\": \"a\", \"arguments\": {}}\n</tool_call>\n<tool_call>{\"name\": \"b\", \"arguments\": {}}</tool_call>";
        assert_eq!(
            from_content(content),
            RecordedAnswer::Calls(vec![call("a", json!({})), call("b", json!({}))])
        );
    }

    #[test]
    fn structured_calls_take_precedence_over_text() {
        let message =
            Message { calls: vec![call("f", json!({"a": 1}))], ..Message::text(Role::Assistant, "[g(b=2)]") };
        assert_eq!(
            recorded_answer(Some(&message), Some("tool_calls"), Some(200)),
            RecordedAnswer::Calls(vec![call("f", json!({"a": 1}))])
        );
    }

    #[test]
    fn prose_with_brackets_is_declined() {
        for content in [
            "Sorry, none of the available functions fits this request.",
            "[1] says that f(x) is a function.",
            "You could call [get_weather(city='Oslo')] for that.",
            "Sorry",
            "get_weather(city) is missing a city, so I will not call it.",
            "[]",
        ] {
            assert_eq!(from_content(content), RecordedAnswer::Declined, "{content}");
        }
    }

    #[test]
    fn an_answer_that_stops_midway_is_truncated() {
        for content in [
            "[get_",
            "[",
            "[get_weather(city='Os",
            "get_weather(city=",
            "[f(a=1), g(",
            r#"{"name": "f", "argum"#,
            r#"<tool_call>{"name": "f""#,
        ] {
            assert_eq!(from_content(content), RecordedAnswer::Truncated, "{content}");
        }
        let whole = Message::text(Role::Assistant, "[f(a=1)]");
        for reason in ["length", "max_tokens", "MAX_TOKENS"] {
            assert_eq!(recorded_answer(Some(&whole), Some(reason), None), RecordedAnswer::Truncated);
        }
    }

    #[test]
    fn an_error_status_or_a_filter_is_a_failure() {
        let whole = Message::text(Role::Assistant, "[f(a=1)]");
        assert_eq!(recorded_answer(Some(&whole), None, Some(429)), RecordedAnswer::Failed);
        assert_eq!(recorded_answer(Some(&whole), Some("content_filter"), Some(200)), RecordedAnswer::Failed);
        assert_eq!(recorded_answer(None, None, Some(500)), RecordedAnswer::Failed);
    }

    #[test]
    fn unreadable_calls_have_an_error() {
        assert_eq!(
            recorded_answer(
                Some(&Message {
                    calls: vec![call("f", json!("{\"a\": "))],
                    ..Message::text(Role::Assistant, "")
                }),
                None,
                None
            ),
            RecordedAnswer::Unreadable("the arguments of `f` are not an object".to_owned())
        );
        assert!(matches!(from_content("[f(g(1))]"), RecordedAnswer::Unreadable(_)));
        assert!(matches!(from_content("<tool_call>{'name': f}</tool_call>"), RecordedAnswer::Unreadable(_)));
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        for arguments in [json!(""), Value::Null, json!({})] {
            let message =
                Message { calls: vec![call("now", arguments)], ..Message::text(Role::Assistant, "") };
            assert_eq!(
                recorded_answer(Some(&message), None, None),
                RecordedAnswer::Calls(vec![call("now", json!({}))])
            );
        }
    }

    #[test]
    fn a_missing_response_or_text_is_empty() {
        assert_eq!(recorded_answer(None, Some("stop"), Some(200)), RecordedAnswer::Empty);
        assert_eq!(from_content(" \n"), RecordedAnswer::Empty);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(content in "[\\[\\](){}'\"<>`a-z=,.\\\\ é\n]{0,40}") {
            from_content(&content);
        }

        #[test]
        fn a_prefix_of_calls_is_never_parsed_as_calls(cut in 1_usize..32) {
            let whole = "[weather.get(city='Oslo', n=[1])]";
            prop_assert_eq!(from_content(&whole[..cut]), RecordedAnswer::Truncated);
        }
    }
}
