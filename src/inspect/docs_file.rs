//! Decides whether a file without requests is a file of function docs.
//!
//! The parser of docs finds a tool in nearly anything that holds one, also in the spans of a trace and in the text log of
//! a server. Such a file is a log, so it is no use to convert it.

use serde_json::Value;

use crate::docs::parse::parse;
use crate::docs::parse::step::ParseStep;

/// The number of lines and of values at the beginning of a file that are looked at.
const MAX_LINES: usize = 100;

/// Returns `true` if a text is function docs and nothing else.
pub(super) fn is_docs(text: &str) -> bool {
    let is_log = text.lines().take(MAX_LINES).any(is_log_line) || holds_spans(text);
    !is_log && parse(text).is_ok_and(|parsed| !is_inside_prose(text, &parsed.steps))
}

/// Returns `true` if docs were found inside another text.
fn is_inside_prose(text: &str, steps: &[ParseStep]) -> bool {
    let begins_with_tag = || text.trim_start().starts_with(['<', '[']);
    steps.contains(&ParseStep::Prose) || steps.contains(&ParseStep::Tags) && !begins_with_tag()
}

/// Levels of log lines.
const LEVELS: &[&str] =
    &["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL", "SEVERE"];

/// Returns `true` if a line begins with a time or a level, as those of text logs do.
fn is_log_line(line: &str) -> bool {
    let mut words: Vec<&str> = line.split_whitespace().take(MAX_WORDS).collect();
    // The name of a container.
    if words.get(1) == Some(&"|") {
        words.drain(..2);
    }
    let is_marked = |word: &str| word.contains(|c: char| c.is_ascii_digit() || matches!(c, '[' | ':'));
    let begins_with_level = words.first().is_some_and(|word| is_level(word));
    let has_level = begins_with_level && words.iter().take(2).any(|word| is_marked(word));
    let time = words.iter().position(|word| has_clock_time(word));
    has_level || time.is_some_and(|time| words[..time].iter().all(|word| goes_before_time(word)))
}

/// The words of a log line before its message that are looked at.
const MAX_WORDS: usize = 7;

fn is_level(word: &str) -> bool {
    !word.starts_with(['"', '\'']) && LEVELS.contains(&word.trim_matches(|c: char| !c.is_alphabetic()))
}

/// Returns `true` for a level, a part of a date, and signs; a sentence about a time begins with other words.
fn goes_before_time(word: &str) -> bool {
    let is_short_name = word.len() == 3 && word.chars().next().is_some_and(char::is_uppercase);
    is_level(word)
        || is_short_name
        || word.contains(|c: char| c.is_ascii_digit())
        || !word.contains(char::is_alphanumeric)
}

/// Returns `true` if a word has a clock time with seconds, such as `08:42:03`.
fn has_clock_time(word: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let is_time = |window: &[u8]| match window {
        [hour @ .., b':', tens, ones] if hour.len() == 5 && hour[2] == b':' => {
            [&hour[0], &hour[1], &hour[3], &hour[4], tens, ones].into_iter().all(is_digit)
        }
        _ => false,
    };
    !word.starts_with(['{', '"', '\'']) && word.as_bytes().windows(8).any(is_time)
}

/// Keys that only spans, and lines of several of them, have.
const SPAN_KEYS: &[&str] = &[
    "traceId",
    "trace_id",
    "spanId",
    "span_id",
    "resourceSpans",
    "resource_spans",
    "resourceLogs",
    "scopeSpans",
    "span_attributes",
    "SpanAttributes",
];

/// Prefixes of the attributes of spans.
const ATTRIBUTES: &[&str] = &["gen_ai.", "ai.", "llm."];

/// Returns `true` if one of the first JSON values of a text is a span.
fn holds_spans(text: &str) -> bool {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.take(MAX_LINES).map_while(Result::ok).any(|value| match &value {
        Value::Array(list) => list.iter().take(MAX_LINES).any(is_span),
        other => is_span(other),
    })
}

fn is_span(value: &Value) -> bool {
    let Some(fields) = value.as_object() else { return false };
    let is_attribute = |name: &String| ATTRIBUTES.iter().any(|start| name.starts_with(start));
    let inside = ["attributes", "context"].iter().filter_map(|key| fields.get(*key)?.as_object());
    SPAN_KEYS.iter().any(|key| fields.contains_key(*key))
        || fields.keys().any(is_attribute)
        || inside
            .into_iter()
            .any(|inner| inner.keys().any(|name| is_attribute(name) || SPAN_KEYS.contains(&name.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: &str = r#"{"name": "prune", "description": "Prunes a hedge.", "parameters": {"type": "object", "properties": {"height": {"type": "integer", "description": "Height in cm."}}}}"#;

    #[test]
    fn function_docs_of_every_form_are_a_file_of_docs() {
        for text in [
            TOOL.to_owned(),
            format!("[{TOOL}]"),
            format!("{TOOL}\n{TOOL}\n"),
            format!("{{\"tools\": [{TOOL}]}}"),
            format!("<tools>\n{TOOL}\n</tools>"),
            format!("```json\n[{TOOL}]\n```"),
            "def prune(height: int):\n    \"\"\"Prunes a hedge.\n\n    INFO is logged, such as 08:15:00.\n    \"\"\"\n".to_owned(),
            "- name: prune\n  description: Begins at 08:15:00.\n  parameters:\n    type: object\n    properties:\n      level:\n        type: string\n        enum:\n          - INFO\n          - WARN\n".to_owned(),
        ] {
            assert!(is_docs(&text), "{text}");
        }
    }

    #[test]
    fn spans_and_text_logs_that_hold_a_tool_are_no_file_of_docs() {
        for text in [
            format!("{{\"traceId\": \"a\", \"attributes\": {{\"tools\": [{TOOL}]}}}}"),
            format!("{{\"name\": \"chat\", \"attributes\": {{\"gen_ai.tool.definitions\": [{TOOL}]}}}}"),
            format!("[{{\"context\": {{\"span_id\": \"b\"}}, \"tools\": [{TOOL}]}}]"),
            format!("{{\"resourceSpans\": [], \"tools\": [{TOOL}]}}"),
            format!("started\nrequest with tools=[{TOOL}] accepted\nanswered\n"),
            format!("INFO 03-02 07:15:44 [serve.py:8] prompt: '<tools>\n{TOOL}\n</tools>'\nINFO done\n"),
            format!("2026-03-02T07:15:44Z sent\n```\n[{TOOL}]\n```\n"),
            format!("api-1  | WARN: slow\n{TOOL}\n"),
            format!("Mar 02 07:15:44 host serve: tools follow\n{TOOL}\n"),
        ] {
            assert!(!is_docs(&text), "{text}");
        }
    }
}
