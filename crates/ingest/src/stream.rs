//! Detects streamed answers that were stored as chunks, by the chunks or by the text of the event stream.

use serde_json::Value;

use crate::path::unwrap_json;

/// The fields that identify the chunks of streamed answers.
const CHUNKS: &[(&str, &str)] = &[
    ("object", "chat.completion.chunk"),
    ("type", "message_start"),
    ("type", "message_delta"),
    ("type", "message_stop"),
    ("type", "content_block_start"),
    ("type", "content_block_delta"),
    ("type", "content_block_stop"),
    ("type", "response.created"),
    ("type", "response.in_progress"),
    ("type", "response.completed"),
    ("type", "response.output_item.added"),
    ("type", "response.output_item.done"),
    ("type", "response.output_text.delta"),
    ("type", "response.function_call_arguments.delta"),
];

/// Returns the keys that identify a chunk of a streamed answer.
pub(super) fn names() -> Vec<&'static str> {
    CHUNKS.iter().map(|(key, _)| *key).collect()
}

/// Returns `true` if a value is one chunk of a streamed answer.
pub(super) fn is_chunk(value: &Value) -> bool {
    CHUNKS.iter().any(|(key, word)| value.get(key).and_then(Value::as_str) == Some(word))
}

/// Returns `true` if a text is an event stream (server-sent events).
pub(super) fn is_event_stream(text: &str) -> bool {
    let fields = ["data:", "event:", "id:", "retry:", ":"];
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let sends = |line: &str| {
        let data = line.strip_prefix("data:").map(str::trim_start);
        data.is_some_and(|data| data.starts_with('{') || data == "[DONE]")
    };
    text.trim_start().starts_with(['d', 'e', 'i', 'r', ':'])
        && lines.clone().any(sends)
        && lines.all(|line| fields.iter().any(|field| line.starts_with(field)))
}

/// Returns `true` if a response is a stream: its text, a list of its chunks or lines, or one chunk.
pub(super) fn is_stream(response: &Value) -> bool {
    match response {
        Value::String(text) => is_event_stream(text),
        Value::Array(list) => list.first().is_some_and(|first| {
            is_chunk(first)
                || first.as_str().is_some_and(|line| is_event_stream(line) || is_stored_chunk(line))
        }),
        other => is_chunk(other),
    }
}

fn is_stored_chunk(text: &str) -> bool {
    unwrap_json(text).is_some_and(|value| is_chunk(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_distinguished_from_a_text_about_data() {
        for text in ["data: {\"a\": 1}\n\ndata: [DONE]\n", "event: ping\ndata: {}\n", ": wait\n\ndata: {}"] {
            assert!(is_event_stream(text), "{text}");
        }
        for text in ["", "data: none", "data: {}\nand more", "event: ping", "ideas: {}"] {
            assert!(!is_event_stream(text), "{text}");
        }
    }
}
