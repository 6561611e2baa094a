//! Parses the answer of the logged model: calls, prose, or something broken.
//!
//! Structured calls take precedence over text. Text counts as calls only if all of it is call
//! syntax (`[f(a=1)]`, or a notation of `notations` or `markup`, bare, fenced or in call tags;
//! thoughts and prose may come before a tag). Prose that merely contains brackets or mentions a call is prose.
//! Text that calls an offered function in any other way is unreadable, never prose. A truncated
//! answer is never completed. For whether the calls worked see `outcome`.

use serde_json::{Map, Value};

use super::attempt::{attempted_by_parameters, offered_part};
use super::markup;
use super::notations::{self, Action};
use super::upstream;
use callsieve_bfcl::conversation::{Call, Message};
use callsieve_notation::levels::{MAX_KEPT, is_within};
use callsieve_notation::python;

/// The answer of the logged model.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedAnswer {
    /// Calls, in order; every call's arguments are an object.
    Calls(Vec<Call>),
    /// Prose, or an empty list of calls.
    Declined,
    /// The answer is cut off.
    Truncated,
    /// The API or its filters returned no answer, or the answer is the error of a server or a library.
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
const FAILED: &[&str] = &[
    "error",
    "content_filter",
    "safety",
    "recitation",
    "malformed_function_call",
    "unexpected_tool_call",
    "prohibited_content",
    "blocklist",
    "spii",
    "image_safety",
];

/// Tags that models write around calls.
const TAGS: &[(&str, &str)] = &[
    ("<tool_call>", "</tool_call>"),
    ("<functioncall>", "</functioncall>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|python_tag|>", ""),
    ("[TOOL_CALLS]", ""),
];

/// Tags around the thoughts of a model before its answer.
const THOUGHTS: (&str, &str) = ("<think>", "</think>");

/// Parses the answer to one logged request; `status` is the HTTP status, if the log has one. `is_offered` returns
/// whether the request has a function of this name.
pub fn recorded_answer(
    response: Option<&Message>,
    finish_reason: Option<&str>,
    status: Option<i64>,
    is_offered: impl Fn(&str) -> bool,
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
        Some(message) if message.calls.is_empty() => from_text(&message.content, &is_offered),
        Some(message) => from_calls(&message.calls),
    }
}

/// Returns the answer, but unreadable if it declines with a text that calls one of the functions with its own parameters, in signs
/// that no notation has (see [`attempted_by_parameters`]).
pub fn unless_attempted(
    answer: RecordedAnswer,
    response: Option<&Message>,
    functions: &[Value],
) -> RecordedAnswer {
    if answer != RecordedAnswer::Declined {
        return answer;
    }
    let text = response.map_or("", |message| message.content.as_str());
    attempted_by_parameters(text, functions).map_or(answer, |name| in_another_notation(&name))
}

fn from_calls(calls: &[Call]) -> RecordedAnswer {
    let mut read = Vec::with_capacity(calls.len());
    for call in calls {
        let arguments = match &notations::arguments_of(&call.arguments) {
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

fn from_text(content: &str, is_offered: &dyn Fn(&str) -> bool) -> RecordedAnswer {
    let text = without_frame(unfenced(without_thoughts(content.trim())));
    if text.is_empty() {
        return RecordedAnswer::Empty;
    }
    if let Some(calls) = json_calls(text, is_offered).or_else(|| markup::calls_of(text)) {
        return from_calls(&calls);
    }
    if upstream::is_error(text)
        || notations::value_of(text).is_some_and(|value| upstream::is_error_object(&value))
    {
        return RecordedAnswer::Failed;
    }
    match notations::action_of(text, is_offered) {
        Action::Call(call) => return from_calls(&[call]),
        Action::Unreadable(name) => return in_another_notation(&name),
        Action::None => {}
    }
    let answer = from_python(text, is_offered);
    if answer != RecordedAnswer::Declined {
        return answer;
    }
    notations::named_in_call(text, is_offered).map_or(answer, |name| in_another_notation(&name))
}

fn in_another_notation(name: &str) -> RecordedAnswer {
    RecordedAnswer::Unreadable(format!("a call of `{name}` in a notation that is not read"))
}

fn from_python(text: &str, is_offered: &dyn Fn(&str) -> bool) -> RecordedAnswer {
    match python::calls(text) {
        Ok(calls) if calls.is_empty() => RecordedAnswer::Declined,
        Ok(calls) => {
            let call = |call: python::PyCall| Call {
                id: None,
                name: offered_part(&call.name, is_offered)
                    .map_or(call.name.clone(), |(name, _)| name.to_owned()),
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

/// Returns the text after the thoughts before it. Some servers cut the tag that opens them.
fn without_thoughts(text: &str) -> &str {
    let (open, close) = THOUGHTS;
    let thoughts = match text.strip_prefix(open) {
        Some(rest) => rest.split_once(close),
        None => text.rsplit_once(close),
    };
    thoughts.map_or(text, |(_, answer)| answer.trim())
}

/// Frames that models write around all of their calls in Python.
const FRAMES: &[(&str, &str)] =
    &[("<|python_start|>", "<|python_end|>"), ("print(", ")"), ("<tool_code>", "</tool_code>")];

/// Returns the text inside a frame.
fn without_frame(text: &str) -> &str {
    let inside = |(open, close): &(&str, &str)| text.strip_prefix(open)?.trim_end().strip_suffix(close);
    FRAMES.iter().find_map(inside).map_or(text, str::trim)
}

/// Returns the text inside a Markdown fence around all of it; any other text unchanged.
pub fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inside) = inside.filter(|inside| !inside.contains("```")) else { return text };
    match inside.split_once('\n') {
        Some((language, rest))
            if language.trim().chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) =>
        {
            rest.trim()
        }
        _ => inside.trim(),
    }
}

/// Parses JSON calls, bare or in call tags to the end of the text, or a call with one object; `None` for anything else.
fn json_calls(text: &str, is_offered: &dyn Fn(&str) -> bool) -> Option<Vec<Call>> {
    let calls_in = |text: &str| notations::calls_of(&notations::value_of(text)?, is_offered);
    let first = TAGS.iter().filter_map(|tag| text.find(tag.0).map(|at| (at, tag))).min_by_key(|(at, _)| *at);
    match first {
        Some((_, (open, close))) => {
            let bodies = text.split(open).skip(1).map(str::trim);
            let values = bodies.map(|body| calls_in(body.strip_suffix(close).unwrap_or(body).trim()));
            values.collect::<Option<Vec<_>>>().map(|calls| calls.concat())
        }
        None => {
            calls_in(text).or_else(|| notations::call_with_object(text, is_offered).map(|call| vec![call]))
        }
    }
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
    use callsieve_bfcl::conversation::Role;

    fn call(name: &str, arguments: Value) -> Call {
        Call { id: None, name: name.to_owned(), arguments }
    }

    fn is_offered(name: &str) -> bool {
        name == "weather.get"
    }

    fn from_content(content: &str) -> RecordedAnswer {
        recorded_answer(Some(&Message::text(Role::Assistant, content)), None, None, is_offered)
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
            r#"[{"type": "function", "function": {"name": "weather.get", "arguments": {"city": "Oslo", "days": 2}}}]"#,
            r#"{"tool": "weather.get", "args": {"city": "Oslo", "days": 2}}"#,
            r#"[{"weather.get": {"city": ["Oslo"], "days": [2]}}]"#,
            r#"functions.weather.get({"city": "Oslo", "days": 2})"#,
            "Thought: I look.\nAction: weather.get\nAction Input: {\"city\": \"Oslo\", \"days\": 2}",
            "Let me look.\n<tool_call>\n{\"name\": \"weather.get\", \"arguments\": {\"city\": \"Oslo\", \"days\": 2}}\n</tool_call>",
            "<think>Oslo, 2 days.</think>\n[weather.get(city='Oslo', days=2)]",
            r#"<function=weather.get>{"city": "Oslo", "days": 2}</function>"#,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather.get\n```json\n{\"city\": \"Oslo\", \"days\": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            r#"<functioncall> {"name": "weather.get", "arguments": '{"city": "Oslo", "days": 2}'} <|endoftext|>"#,
            "```tool_code\nprint(default_api.weather.get(city='Oslo', days=2))\n```",
            "print(weather.get(city='Oslo', days=2))",
            "<|python_start|>[weather.get(city='Oslo', days=2)]<|python_end|>",
            "Oslo, 2 days.\n</think>\n\n[weather.get(city='Oslo', days=2)]",
            "functions.weather.get(city='Oslo', days=2)",
            ">>>weather.get\n{\"city\": \"Oslo\", \"days\": 2}",
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
            recorded_answer(Some(&message), Some("tool_calls"), Some(200), is_offered),
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
    fn a_call_of_an_offered_function_in_another_notation_is_unreadable() {
        for content in [
            r#"{"do": "weather.get", "where": "Oslo"}"#,
            r#"<function=weather.get>{"city": "Oslo"}</function> It rains."#,
            "<tool_call>\n<function=weather.get>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
            "Action: weather.get\nAction Input: Oslo",
            "Action: weather.get[Oslo]",
            "Action: weather.get\nAction Input: {}\nObservation: rain\nAction: weather.get\nAction Input: {}",
            "I will call\n```json\n{\"name\": \"weather.get\", \"arguments\": {\"city\": \"Oslo\"}}\n```\nfor you.",
            r#"<tool_call>{"name": "weather.get", "arguments": {}}</tool_call> That is it."#,
            "To answer, I will look it up.\n\n[weather.get(city=\"Oslo\")]",
            "<｜DSML｜invoke name=\"weather.get\">\n<｜DSML｜parameter name=\"city\">Oslo</｜DSML｜parameter>\n</｜DSML｜invoke>",
            "weather.get('Oslo')",
        ] {
            assert!(matches!(from_content(content), RecordedAnswer::Unreadable(_)), "{content}");
        }
        for content in [
            r#"{"answer": "weather.get cannot do that"}"#,
            "Thought: none fits.\nAction: none\nAction Input: {}",
            "Thought: none fits.\nFinal Answer: I cannot do that.",
        ] {
            assert_eq!(from_content(content), RecordedAnswer::Declined, "{content}");
        }
    }

    #[test]
    fn a_decline_that_calls_a_function_with_its_parameters_is_unreadable() {
        let functions = [json!({"name": "weather.get", "parameters": {"properties": {"city": {}}}})];
        let of = |content: &str| {
            let response = Message::text(Role::Assistant, content);
            unless_attempted(from_content(content), Some(&response), &functions)
        };
        assert!(matches!(of("weather.get | city | Oslo"), RecordedAnswer::Unreadable(_)));
        assert_eq!(of("weather.get has no city in Norway."), RecordedAnswer::Declined);
        assert!(matches!(of("[weather.get(city='Oslo')]"), RecordedAnswer::Calls(_)));
        assert_eq!(unless_attempted(RecordedAnswer::Empty, None, &functions), RecordedAnswer::Empty);
    }

    #[test]
    fn the_error_of_a_server_is_a_failure_and_no_prose() {
        for content in [
            "Error: 503 upstream timeout",
            "Error during inference: Error code: 429 - rate limit reached",
            "Internal Server Error",
            r#"{"error": {"message": "overloaded", "type": "server_error"}}"#,
            r#"{"detail": "Internal Server Error"}"#,
        ] {
            assert_eq!(from_content(content), RecordedAnswer::Failed, "{content}");
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
            assert_eq!(
                recorded_answer(Some(&whole), Some(reason), None, is_offered),
                RecordedAnswer::Truncated
            );
        }
    }

    #[test]
    fn an_error_status_or_a_filter_is_a_failure() {
        let whole = Message::text(Role::Assistant, "[f(a=1)]");
        assert_eq!(recorded_answer(Some(&whole), None, Some(429), is_offered), RecordedAnswer::Failed);
        assert_eq!(
            recorded_answer(Some(&whole), Some("content_filter"), Some(200), is_offered),
            RecordedAnswer::Failed
        );
        assert_eq!(recorded_answer(None, None, Some(500), is_offered), RecordedAnswer::Failed);
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
                None,
                is_offered
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
                recorded_answer(Some(&message), None, None, is_offered),
                RecordedAnswer::Calls(vec![call("now", json!({}))])
            );
        }
    }

    #[test]
    fn a_missing_response_or_text_is_empty() {
        assert_eq!(recorded_answer(None, Some("stop"), Some(200), is_offered), RecordedAnswer::Empty);
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
