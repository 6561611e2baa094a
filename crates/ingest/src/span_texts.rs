//! Looks for texts in the attributes of a span that no log format reads.
//!
//! A logger that stores no content still names the model and counts tokens. So a span without messages of a known
//! convention says that its content was not stored only if no other attribute can hold messages.

use serde_json::Value;

use crate::explain::MAX_LISTED_KEYS;
use crate::path::{at, unwrap_json};
use crate::span_events;

/// The maximum nesting of attributes, and of JSON in one of them, that is looked at.
const MAX_LEVELS: usize = 16;
const MAX_JSON_LEVELS: usize = 5;

/// Returns `true` if an attribute may hold a conversation.
pub(super) fn holds_texts(line: &Value) -> bool {
    attributes_of(line).iter().any(|(name, value)| may_hold_messages(name, value))
}

/// Names the attributes of a line, and which of them may hold its messages; `None` if it has no attributes.
pub(super) fn outline(line: &Value) -> Option<String> {
    if let Some(event) = at(line, &["attributes", "event", "name"]).and_then(Value::as_str)
        && span_events::is_known(event)
    {
        return Some(format!("the event {event} is one message, and its request is on other lines"));
    }
    let attributes = attributes_of(line);
    let (texts, others): (Vec<_>, Vec<_>) =
        attributes.iter().partition(|(name, value)| may_hold_messages(name, value));
    match (texts.is_empty(), others.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("a line with the attributes {}", listed(&others))),
        (false, true) => Some(format!("no log format reads the attributes {}", listed(&texts))),
        (false, false) => {
            Some(format!("no log format reads the attributes {}, beside {}", listed(&texts), listed(&others)))
        }
    }
}

/// Returns the first names of attributes.
fn listed(attributes: &[&(String, &Value)]) -> String {
    let names: Vec<&str> = attributes.iter().take(MAX_LISTED_KEYS).map(|(name, _)| name.as_str()).collect();
    match attributes.len() - names.len() {
        0 => names.join(", "),
        n => format!("{} and {n} more", names.join(", ")),
    }
}

/// Returns the attributes of a line by their full names.
fn attributes_of(line: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    if let Some(attributes) = line.get("attributes") {
        add_attributes("", attributes, MAX_LEVELS, &mut found);
    }
    found
}

fn add_attributes<'v>(name: &str, value: &'v Value, levels: usize, found: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(fields) if levels > 0 => {
            for (key, inner) in fields {
                let dot = if name.is_empty() || key.is_empty() { "" } else { "." };
                add_attributes(&format!("{name}{dot}{key}"), inner, levels - 1, found);
            }
        }
        Value::Null => {}
        _ if name.is_empty() => {}
        _ => found.push((name.to_owned(), value)),
    }
}

/// Words of names of texts.
#[rustfmt::skip] // Singular and plural are together.
const TEXTS: &[&str] = &[
    "prompt", "prompts", "completion", "completions", "message", "messages", "input", "inputs", "output", "outputs",
    "content", "contents", "query", "question", "answer", "request", "response", "text", "texts", "value", "values",
    "conversation", "transcript", "result",
];

/// Last words of names of short facts.
const FACTS: &[&str] =
    &["name", "model", "id", "type", "kind", "reason", "url", "version", "user", "format", "agent"];

/// First words of names that are about a server or a program.
const ELSEWHERE: &[&str] = &[
    "http",
    "url",
    "net",
    "server",
    "client",
    "otel",
    "process",
    "host",
    "service",
    "exception",
    "error",
    "k8s",
];

/// Words of names of function docs and settings, which may be JSON too.
const SETTINGS: &[&str] =
    &["tool", "tools", "function", "functions", "parameters", "definitions", "schema", "settings"];

fn may_hold_messages(name: &str, value: &Value) -> bool {
    let words = words_of(name);
    let is_one_of =
        |words: &[String], known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if is_one_of(&words, SETTINGS) || is_one_of(&words[..words.len().min(1)], ELSEWHERE) {
        return false;
    }
    let parsed = value.as_str().and_then(unwrap_json);
    match parsed.as_ref().unwrap_or(value) {
        Value::String(text) => {
            text.trim().contains(char::is_whitespace)
                && is_one_of(&words, TEXTS)
                && !is_one_of(&words[words.len() - 1..], FACTS)
        }
        structured => holds_turns(structured, MAX_JSON_LEVELS),
    }
}

/// Returns the words of a name in lower case, with the parts of camel case apart.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_lower = c.is_lowercase();
    }
    words
}

/// Keys of messages and their parts.
const TURNS: &[&str] =
    &["role", "content", "parts", "text", "messages", "prompt", "event.name", "tool_calls"];

fn holds_turns(value: &Value, levels: usize) -> bool {
    match value {
        Value::Object(fields) => {
            TURNS.iter().any(|key| fields.contains_key(*key))
                || levels > 0 && fields.values().any(|inner| holds_turns(inner, levels - 1))
        }
        Value::Array(list) => levels > 0 && list.iter().any(|inner| holds_turns(inner, levels - 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_of_unknown_conventions_are_noticed_and_facts_are_not() {
        for (name, value) in [
            ("acme.llm.inputs", json!("[{\"role\": \"user\", \"content\": \"Open the greenhouse\"}]")),
            ("input.value", json!("Open the greenhouse")),
            ("spanInputs", json!({"messages": [{"content": "Open the greenhouse"}]})),
            ("llmPrompt", json!("Open the greenhouse")),
            ("events", json!([{"event.name": "gen_ai.user.message"}])),
        ] {
            assert!(may_hold_messages(name, &value), "{name}");
        }
        for (name, value) in [
            ("gen_ai.request.model", json!("large model")),
            ("gen_ai.output.type", json!("text")),
            ("gen_ai.usage.input_tokens", json!(120)),
            ("gen_ai.response.finish_reasons", json!(["stop"])),
            ("gen_ai.tool.definitions", json!([{"name": "f", "parameters": {"properties": {"text": {}}}}])),
            ("llm.invocation_parameters", json!("{\"prompt\": 1}")),
            ("http.request.header", json!("Mozilla or another")),
            ("input.value", json!("")),
        ] {
            assert!(!may_hold_messages(name, &value), "{name}");
        }
    }

    #[test]
    fn the_attributes_are_named_with_those_of_messages_first() {
        let line = json!({"attributes": {"acme": {"model": "m", "input": {"value": "Open the greenhouse"}}, "n": 1}});
        let named = "no log format reads the attributes acme.input.value, beside acme.model, n";
        assert_eq!(outline(&line).unwrap(), named);
        let many: serde_json::Map<_, _> = (0..15).map(|n| (format!("k{n:02}"), json!(n))).collect();
        let named = outline(&json!({"attributes": many})).unwrap();
        assert!(
            named.starts_with("a line with the attributes k00, k01") && named.ends_with("k11 and 3 more")
        );
        let event = json!({"attributes": {"event": {"name": "gen_ai.user.message"}}});
        assert!(outline(&event).unwrap().starts_with("the event gen_ai.user.message is one message"));
        assert_eq!(outline(&json!({"attributes": {}})), None);
        assert_eq!(outline(&json!({"level": "info"})), None);
    }
}
