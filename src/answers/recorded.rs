//! Reads what the logged model answered: calls, prose, or something broken.
//!
//! Structured calls win over text. Text counts as calls only when all of it is
//! call syntax (`[f(a=1)]`, or JSON with a name and arguments, bare, fenced or in
//! call tags); prose that merely holds brackets or mentions a call stays prose. An
//! answer that was cut off is never completed. Whether the calls were right is for
//! `outcome`.

use serde_json::{Map, Value};

use crate::conversation::{Call, Message};
use crate::notation::levels::{MAX_KEPT, is_within};
use crate::notation::python;

/// What the logged model answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    /// Calls, in order; every call's arguments are an object.
    Calls(Vec<Call>),
    /// Prose, or an empty list of calls.
    Declined,
    /// The answer stops mid-way.
    Truncated,
    /// The API or its filters gave no answer.
    Failed,
    /// Calls were meant, but cannot be read; the text says why.
    Unreadable(String),
    /// The log holds no answer.
    Empty,
}

/// Finish reasons of the common APIs, in lower case, that say the answer was cut off.
const CUT: &[&str] =
    &["length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"];

/// Finish reasons, in lower case, that say there is no answer to speak of.
const FAILED: &[&str] = &["error", "content_filter", "safety", "recitation", "malformed_function_call"];

/// Tags that models write around calls.
const TAGS: &[(&str, &str)] =
    &[("<tool_call>", "</tool_call>"), ("<functioncall>", "</functioncall>"), ("[TOOL_CALLS]", "")];

/// Reads the answer of one logged request; `status` is the HTTP status, where the log has one.
pub fn recorded(response: Option<&Message>, finish_reason: Option<&str>, status: Option<i64>) -> Recorded {
    let finish_reason = finish_reason.unwrap_or_default().to_ascii_lowercase();
    if status.is_some_and(|status| status >= 400) || FAILED.contains(&finish_reason.as_str()) {
        return Recorded::Failed;
    }
    if CUT.contains(&finish_reason.as_str()) {
        return Recorded::Truncated;
    }
    match response {
        None => Recorded::Empty,
        Some(message) if message.calls.is_empty() => from_text(&message.content),
        Some(message) => from_calls(&message.calls),
    }
}

fn from_calls(calls: &[Call]) -> Recorded {
    let mut read = Vec::with_capacity(calls.len());
    for call in calls {
        let arguments = match &call.arguments {
            Value::Object(arguments) => arguments.clone(),
            // Streaming APIs log a call without arguments as an empty text.
            Value::Null => Map::new(),
            Value::String(text) if text.trim().is_empty() => Map::new(),
            _ => return Recorded::Unreadable(format!("the arguments of `{}` are not an object", call.name)),
        };
        if !arguments.values().all(|value| is_within(value, MAX_KEPT - 1)) {
            return Recorded::Unreadable(format!("the arguments of `{}` nest too deep", call.name));
        }
        read.push(Call { arguments: Value::Object(arguments), ..call.clone() });
    }
    Recorded::Calls(read)
}

fn from_text(content: &str) -> Recorded {
    let text = unfenced(content.trim());
    if text.is_empty() {
        return Recorded::Empty;
    }
    if let Some(calls) = json_calls(text) {
        return from_calls(&calls);
    }
    match python::calls(text) {
        Ok(calls) if calls.is_empty() => Recorded::Declined,
        Ok(calls) => {
            let call = |call: python::PyCall| Call {
                id: None,
                name: call.name,
                arguments: Value::Object(call.arguments),
            };
            from_calls(&calls.into_iter().map(call).collect::<Vec<_>>())
        }
        Err(_) if !opens_a_call(text) => Recorded::Declined,
        Err(_) if stops_midway(text) => Recorded::Truncated,
        Err(error) if text.ends_with([')', ']', '}', '>']) => Recorded::Unreadable(error.to_string()),
        Err(_) => Recorded::Declined,
    }
}

/// The text inside one Markdown fence that holds all of it; any other text as it is.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inside) = inside.filter(|inside| !inside.contains("```")) else { return text };
    match inside.split_once('\n') {
        Some((language, rest)) if language.chars().all(char::is_alphanumeric) => rest.trim(),
        _ => inside.trim(),
    }
}

/// Reads `{"name", "arguments"}`, a list of them, or such objects in call tags; `None` for anything else.
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

/// Whether the text begins like calls and not like prose: `[name(`, `name(`, a call tag, `{"name"`, or `[na` and no more.
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

/// Whether a bracket, a string or a tag is still open at the text's end.
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

    fn from_content(content: &str) -> Recorded {
        recorded(Some(&Message::text(Role::Assistant, content)), None, None)
    }

    #[test]
    fn calls_are_read_from_every_way_of_writing_them() {
        let expected = Recorded::Calls(vec![call("weather.get", json!({"city": "Oslo", "days": 2}))]);
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
    fn several_tagged_calls_are_read_in_order() {
        let content = "<tool_call>\n{\"name\": \"a\", \"arguments\": {}}\n</tool_call>\n<tool_call>{\"name\": \"b\", \"arguments\": {}}</tool_call>";
        assert_eq!(from_content(content), Recorded::Calls(vec![call("a", json!({})), call("b", json!({}))]));
    }

    #[test]
    fn structured_calls_win_over_text() {
        let message =
            Message { calls: vec![call("f", json!({"a": 1}))], ..Message::text(Role::Assistant, "[g(b=2)]") };
        assert_eq!(
            recorded(Some(&message), Some("tool_calls"), Some(200)),
            Recorded::Calls(vec![call("f", json!({"a": 1}))])
        );
    }

    #[test]
    fn prose_is_a_decline_even_with_brackets_in_it() {
        for content in [
            "Sorry, none of the available functions fits this request.",
            "[1] says that f(x) is a function.",
            "You could call [get_weather(city='Oslo')] for that.",
            "Sorry",
            "get_weather(city) is missing a city, so I will not call it.",
            "[]",
        ] {
            assert_eq!(from_content(content), Recorded::Declined, "{content}");
        }
    }

    #[test]
    fn an_answer_that_stops_midway_is_cut() {
        for content in [
            "[get_",
            "[",
            "[get_weather(city='Os",
            "get_weather(city=",
            "[f(a=1), g(",
            r#"{"name": "f", "argum"#,
            r#"<tool_call>{"name": "f""#,
        ] {
            assert_eq!(from_content(content), Recorded::Truncated, "{content}");
        }
        let whole = Message::text(Role::Assistant, "[f(a=1)]");
        for reason in ["length", "max_tokens", "MAX_TOKENS"] {
            assert_eq!(recorded(Some(&whole), Some(reason), None), Recorded::Truncated);
        }
    }

    #[test]
    fn an_error_status_or_a_filter_is_a_failure() {
        let whole = Message::text(Role::Assistant, "[f(a=1)]");
        assert_eq!(recorded(Some(&whole), None, Some(429)), Recorded::Failed);
        assert_eq!(recorded(Some(&whole), Some("content_filter"), Some(200)), Recorded::Failed);
        assert_eq!(recorded(None, None, Some(500)), Recorded::Failed);
    }

    #[test]
    fn calls_that_cannot_be_read_say_why() {
        assert_eq!(
            recorded(
                Some(&Message {
                    calls: vec![call("f", json!("{\"a\": "))],
                    ..Message::text(Role::Assistant, "")
                }),
                None,
                None
            ),
            Recorded::Unreadable("the arguments of `f` are not an object".to_owned())
        );
        assert!(matches!(from_content("[f(g(1))]"), Recorded::Unreadable(_)));
        assert!(matches!(from_content("<tool_call>{'name': f}</tool_call>"), Recorded::Unreadable(_)));
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        for arguments in [json!(""), Value::Null, json!({})] {
            let message =
                Message { calls: vec![call("now", arguments)], ..Message::text(Role::Assistant, "") };
            assert_eq!(recorded(Some(&message), None, None), Recorded::Calls(vec![call("now", json!({}))]));
        }
    }

    #[test]
    fn no_response_or_no_text_is_nothing() {
        assert_eq!(recorded(None, Some("stop"), Some(200)), Recorded::Empty);
        assert_eq!(from_content(" \n"), Recorded::Empty);
    }

    proptest! {
        #[test]
        fn no_text_panics(content in "[\\[\\](){}'\"<>`a-z=,.\\\\ é\n]{0,40}") {
            from_content(&content);
        }

        #[test]
        fn a_prefix_of_calls_is_never_read_as_calls(cut in 1_usize..32) {
            let whole = "[weather.get(city='Oslo', n=[1])]";
            prop_assert_eq!(from_content(&whole[..cut]), Recorded::Truncated);
        }
    }
}
