//! Describes why a line is not a request: what it is instead, or which part of a request is missing.
//!
//! Only lines of no log format are explained, so this module never handles a request. Checks for what a line certainly
//! is come before checks for what is missing.

use serde_json::Value;

use crate::fate::{LineFate, no_request};
use crate::log_formats::envelopes::ENVELOPES;
use crate::log_formats::{Columns, Envelope, FieldPlace};
use crate::marks::{cut_mark, is_hidden};
use crate::path::{Path, find, find_object, unwrap_json};
use crate::reasons::{
    CONTENT_NOT_STORED, ItemFault, NO_FUNCTIONS, NO_MESSAGES, RESPONSE_WITHOUT_REQUEST, STREAM_CHUNK,
    SURROUNDING_SPAN, TRUNCATED, UNKNOWN_LOG_FORMAT,
};
use crate::response::is_lone_response;
use crate::stream::is_chunk;
use crate::{nested_spans, span_texts};

/// Returns the fate of a line that matches no log format.
pub(super) fn explain(line: &mut Value, columns: &Columns) -> LineFate {
    if is_chunk(line) {
        return no_request(STREAM_CHUNK, "a chunk of an answer");
    }
    if let Some(mark) = cut_mark(&line.to_string().replace("\\\"", "\"")) {
        return LineFate::Unreadable(ItemFault::new(TRUNCATED, format!("the line holds the mark {mark:?}")));
    }
    if let Some(path) = cut_body(line) {
        let detail = format!("{} is JSON that ends too early", path.join("."));
        return LineFate::Unreadable(ItemFault::new(TRUNCATED, detail));
    }
    if let Some(detail) = nested_spans::surrounding(line) {
        return no_request(SURROUNDING_SPAN, detail);
    }
    if let Some(detail) = not_stored(line) {
        return no_request(CONTENT_NOT_STORED, detail);
    }
    lacking(line, columns)
        .or_else(|| is_lone_response(line).then(|| no_request(RESPONSE_WITHOUT_REQUEST, outline(line))))
        .unwrap_or_else(|| {
            no_request(UNKNOWN_LOG_FORMAT, span_texts::outline(line).unwrap_or_else(|| outline(line)))
        })
}

/// Returns the keys that identify a line without a request.
pub(super) fn names() -> Vec<&'static str> {
    let not_stored = NOT_STORED.iter().flat_map(|case| case.empty.iter().chain([&case.sign]));
    let paths = STORED_AS_STRINGS.iter().chain(not_stored).chain(MESSAGES).chain(TOOL_LISTS);
    paths.map(|path| path[0]).chain(SAYS.iter().chain(CONVERSATIONS).copied()).collect()
}

/// Returns the path of a body that was stored as a string and is incomplete JSON.
fn cut_body(line: &mut Value) -> Option<Path> {
    let places = ENVELOPES.iter().map(|envelope| envelope.body).chain(STORED_AS_STRINGS.iter().copied());
    places.filter(|path| !path.is_empty()).find(|path| {
        let text = find(line, path).and_then(|value| value.as_str()).map(str::trim);
        text.is_some_and(|text| text.starts_with(['{', '[']) && unwrap_json(text).is_none())
    })
}

/// Other paths at which tables of traces hold the conversation as strings.
const STORED_AS_STRINGS: &[Path] = &[&["inputs"], &["attributes"]];

/// A pattern of a line whose text the logger did not store: `sign` exists, and all of `empty` hold nothing.
struct NotStored {
    sign: Path,
    empty: &'static [Path],
    detail: &'static str,
}

const NOT_STORED: &[NotStored] = &[
    NotStored {
        sign: &["proxy_server_request"],
        empty: &[&["proxy_server_request"], &["messages"]],
        detail: "messages and proxy_server_request are empty",
    },
    NotStored { sign: &["model_parameters"], empty: &[&["messages"]], detail: "messages is empty or hidden" },
    NotStored {
        sign: &["signed_body_url"],
        empty: &[&["request_body"]],
        detail: "the bodies are stored at signed_body_url",
    },
    NotStored { sign: &["request_path"], empty: &[&["request_body"]], detail: "request_body is empty" },
    NotStored {
        sign: &["attributes", "gen_ai", "request"],
        empty: SPAN_MESSAGES,
        detail: "the span has no messages",
    },
    NotStored {
        sign: &["attributes", "llm", "model_name"],
        empty: SPAN_MESSAGES,
        detail: "the span has no messages",
    },
    NotStored {
        sign: &["attributes", "ai", "model"],
        empty: SPAN_MESSAGES,
        detail: "the span has no messages",
    },
    NotStored { sign: &["inputs"], empty: &[&["inputs"]], detail: "inputs is empty" },
    NotStored { sign: &["traceId"], empty: &[&["input"]], detail: "input is empty" },
];

const SPAN_MESSAGES: &[Path] = &[
    &["attributes", "gen_ai", "input", "messages"],
    &["attributes", "gen_ai", "prompt"],
    &["attributes", "llm", "input_messages"],
    &["input"],
];

fn not_stored(line: &mut Value) -> Option<&'static str> {
    if span_texts::holds_texts(line) {
        return None;
    }
    // Only rows of Langfuse have the key without a value; a span of another tool has no such key.
    let has_input = line.get("input").is_some();
    NOT_STORED
        .iter()
        .find(|case| {
            (has_input || case.sign != ["traceId"])
                && find(line, case.sign).is_some()
                && case.empty.iter().all(|path| find(line, path).is_none_or(|value| holds_nothing(value)))
        })
        .map(|case| case.detail)
}

fn holds_nothing(value: &Value) -> bool {
    match value {
        Value::String(text) => matches!(text.trim(), "" | "{}" | "[]" | "null") || is_hidden(text),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.is_null(),
    }
}

/// Returns the fate of a line with only some parts of a request.
fn lacking(line: &mut Value, columns: &Columns) -> Option<LineFate> {
    let has_conversation = |envelope: &Envelope| {
        let content = find_object(line, envelope.body)?;
        CONVERSATIONS.iter().find_map(|key| content.get(*key).filter(|turns| !holds_nothing(turns))).map(drop)
    };
    if ENVELOPES.iter().find_map(has_conversation).is_some() {
        return Some(no_request(NO_FUNCTIONS, "messages without tools"));
    }
    for envelope in ENVELOPES {
        let Some(content) = find_object(line, envelope.body) else { continue };
        if FieldPlace::Query.is_in(content, columns) {
            return Some(no_request(NO_FUNCTIONS, format!("none of {}", columns.functions.join(", "))));
        }
        if is_lone_response(content) {
            return Some(no_request(RESPONSE_WITHOUT_REQUEST, outline(content)));
        }
        if FieldPlace::Functions.is_in(content, columns) {
            let detail =
                tool_list(content).unwrap_or_else(|| format!("none of {}", columns.query.join(", ")));
            return Some(no_request(NO_MESSAGES, detail));
        }
    }
    if MESSAGES.iter().any(|path| find(line, path).is_some_and(|messages| !holds_nothing(messages))) {
        return Some(no_request(NO_FUNCTIONS, "messages without tools"));
    }
    tool_list(line).map(|detail| no_request(NO_MESSAGES, detail))
}

/// The keys of a conversation in a body.
const CONVERSATIONS: &[&str] = &["messages", "contents"];

/// The paths of messages in traces.
const MESSAGES: &[Path] = &[
    &["attributes", "gen_ai", "input", "messages"],
    &["attributes", "gen_ai", "prompt"],
    &["attributes", "llm", "input_messages"],
    &["attributes", "ai", "prompt", "messages"],
    &["attributes", "ai", "prompt", "prompt"],
    &["inputs", "messages"],
];

/// The paths of the tool lists of servers (MCP), bare or as the answer to a call.
const TOOL_LISTS: &[Path] = &[&["result", "tools"], &["tools"]];

/// The keys of queries next to tools, also of unknown log formats.
const SAYS: &[&str] = &["messages", "message", "contents", "input", "prompt", "query", "chat_history"];

/// Describes a list of tools without a query: that of one server, or of several servers by name.
fn tool_list(line: &mut Value) -> Option<String> {
    let n_tools = |value: &mut Value| {
        if SAYS.iter().any(|key| value.get(key).is_some()) {
            return 0;
        }
        TOOL_LISTS.iter().find_map(|path| Some(find(value, path)?.as_array()?.len())).unwrap_or_default()
    };
    let n_of_servers =
        |line: &mut Value| line.as_object_mut()?.values_mut().map(n_tools).reduce(|a, b| a + b);
    let n = match n_tools(line) {
        0 => n_of_servers(line).unwrap_or_default(),
        n => n,
    };
    let plural = if n == 1 { "" } else { "s" };
    (n > 0).then(|| format!("a list of {n} tool{plural} without a query"))
}

pub(super) const MAX_LISTED_KEYS: usize = 12;

fn outline(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Array(list) if list.is_empty() => "an empty list".to_owned(),
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().take(MAX_LISTED_KEYS).map(String::as_str).collect();
            format!("an object with the keys {}", keys.join(", "))
        }
        Value::Array(_) => "a list".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) | Value::Null => value.to_string(),
    }
}
