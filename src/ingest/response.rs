//! What the model answered becomes one assistant message and the reason it stopped.
//!
//! An answer that failed, or that cannot be read, is no message: the request is kept
//! without it, and the finish reason says which of the two it was. JSON of no known
//! shape is kept as its text, because some logs store a model's calls that way.

use serde_json::Value;

use crate::conversation::{Message, Role};
use crate::ingest::messages::read_answer;
use crate::ingest::path::{Path, find, unwrap_json};

/// The finish reason of a request that failed.
pub(super) const FINISHED_WITH_ERROR: &str = "error";

/// The finish reason of a response that holds more than text and calls.
pub(super) const FINISHED_UNREADABLE: &str = "unreadable";

/// A response, read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) message: Option<Message>,
    pub(super) finish_reason: Option<String>,
}

impl Answer {
    /// No message, and why.
    pub(super) fn finished(reason: &str) -> Self {
        Self { message: None, finish_reason: Some(reason.to_owned()) }
    }
}

/// What a response looks like: the first whose sign is there counts.
struct Shape {
    sign: Path,
    message: Path,
    finish_reason: Path,
}

const SHAPES: &[Shape] = &[
    Shape {
        sign: &["choices", "0", "text"],
        message: &["choices", "0", "text"],
        finish_reason: &["choices", "0", "finish_reason"],
    },
    Shape {
        sign: &["choices"],
        message: &["choices", "0", "message"],
        finish_reason: &["choices", "0", "finish_reason"],
    },
    // Gemini's, as the API and as its Python library write it.
    Shape {
        sign: &["candidates", "0", "finish_reason"],
        message: &["candidates", "0", "content"],
        finish_reason: &["candidates", "0", "finish_reason"],
    },
    Shape {
        sign: &["candidates"],
        message: &["candidates", "0", "content"],
        finish_reason: &["candidates", "0", "finishReason"],
    },
    Shape {
        sign: &["promptFeedback"],
        message: &["candidates"],
        finish_reason: &["promptFeedback", "blockReason"],
    },
    Shape { sign: &["stop_reason"], message: &[], finish_reason: &["stop_reason"] },
    Shape { sign: &["role"], message: &[], finish_reason: &["finish_reason"] },
    Shape { sign: &["content"], message: &[], finish_reason: &["finish_reason"] },
    Shape { sign: &["tool_calls"], message: &[], finish_reason: &["finish_reason"] },
    Shape { sign: &["function_call"], message: &[], finish_reason: &["finish_reason"] },
];

/// What tells a response that was stored as a string from a model that answered in JSON.
const STORED_AS_STRING: &[(&str, &str)] =
    &[("object", "chat.completion"), ("type", "message"), ("role", "assistant")];

/// Reads a response of any API; null, an empty text and an empty object are no response.
pub(super) fn read_response(mut response: Value) -> Answer {
    if let Some(inner) = response.as_str().and_then(unwrap_json).filter(is_stored_response) {
        response = inner;
    }
    if is_empty(&response) {
        return Answer::default();
    }
    if response.get("error").is_some_and(|error| !is_empty(error)) {
        return Answer::finished(FINISHED_WITH_ERROR);
    }
    let Some(shape) = SHAPES.iter().find(|shape| find(&mut response, shape.sign).is_some()) else {
        let text = match response {
            Value::String(text) => text,
            other => other.to_string(),
        };
        return Answer { message: Some(Message::text(Role::Assistant, text)), finish_reason: None };
    };
    let finish_reason = find(&mut response, shape.finish_reason).and_then(|v| v.as_str().map(str::to_owned));
    let message = find(&mut response, shape.message).map(Value::take);
    match message.map(read_answer) {
        Some(Ok(message)) => Answer { message: Some(message), finish_reason },
        // Blocked before a word was said: the reason is all there is.
        None if finish_reason.is_some() => Answer { message: None, finish_reason },
        _ => Answer::finished(FINISHED_UNREADABLE),
    }
}

fn is_stored_response(value: &Value) -> bool {
    value.get("choices").is_some()
        || STORED_AS_STRING.iter().any(|(key, text)| value.get(key).and_then(Value::as_str) == Some(text))
        || value.as_object().is_some_and(serde_json::Map::is_empty)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Call;

    fn answer(message: Message, finish_reason: Option<&str>) -> Answer {
        Answer { message: Some(message), finish_reason: finish_reason.map(str::to_owned) }
    }

    fn calling(id: Option<&str>, text: &str) -> Message {
        let call = Call { id: id.map(str::to_owned), name: "f".to_owned(), arguments: json!({"x": 1}) };
        Message { calls: vec![call], ..Message::text(Role::Assistant, text) }
    }

    #[test]
    fn responses_of_every_shape_are_read() {
        let openai = json!({"object": "chat.completion", "choices": [{"finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}}]});
        assert_eq!(read_response(openai.clone()), answer(calling(Some("c"), ""), Some("tool_calls")));
        assert_eq!(
            read_response(json!(openai.to_string())),
            answer(calling(Some("c"), ""), Some("tool_calls"))
        );
        let legacy = json!({"choices": [{"finish_reason": "function_call", "message": {
            "content": "", "function_call": {"name": "f", "arguments": "{\"x\": 1}"}}}]});
        assert_eq!(read_response(legacy), answer(calling(None, ""), Some("function_call")));
        let anthropic = json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "text", "text": "So."}, {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}]});
        assert_eq!(read_response(anthropic), answer(calling(Some("t"), "So."), Some("tool_use")));
        let gemini = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "So."}, {"functionCall": {"name": "f", "args": {"x": 1}}}]}}]});
        assert_eq!(read_response(gemini), answer(calling(None, "So."), Some("STOP")));
        let library = json!({"candidates": [{"finish_reason": "STOP", "content": {"parts": [
            {"function_call": {"id": "g", "name": "f", "args": {"x": 1}}}]}}]});
        assert_eq!(read_response(library), answer(calling(Some("g"), ""), Some("STOP")));
        let bare = json!({"role": "assistant", "content": "Hi"});
        assert_eq!(read_response(bare), answer(Message::text(Role::Assistant, "Hi"), None));
        let completion = json!({"choices": [{"text": "Hi", "finish_reason": "stop"}]});
        assert_eq!(read_response(completion), answer(Message::text(Role::Assistant, "Hi"), Some("stop")));
    }

    #[test]
    fn text_and_json_of_no_shape_are_kept_as_text() {
        for text in ["[f(x=1)]", "{\"name\": \"f\"}", " "] {
            assert_eq!(read_response(json!(text)), answer(Message::text(Role::Assistant, text), None));
        }
        let calls = json!([{"name": "f"}]);
        assert_eq!(read_response(calls), answer(Message::text(Role::Assistant, "[{\"name\":\"f\"}]"), None));
        let call = json!({"name": "f", "arguments": {}});
        assert_eq!(
            read_response(call),
            answer(Message::text(Role::Assistant, "{\"name\":\"f\",\"arguments\":{}}"), None)
        );
    }

    #[test]
    fn what_is_no_answer_says_so() {
        for nothing in [json!(null), json!(""), json!({}), json!("{}"), json!([])] {
            assert_eq!(read_response(nothing), Answer::default());
        }
        assert_eq!(read_response(json!({"error": {"code": 429}})), Answer::finished(FINISHED_WITH_ERROR));
        assert_eq!(read_response(json!({"choices": []})), Answer::finished(FINISHED_UNREADABLE));
        let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
        assert_eq!(read_response(blocked), Answer::finished("SAFETY"));
        let malformed = json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]});
        assert_eq!(read_response(malformed), Answer::finished("MALFORMED_FUNCTION_CALL"));
        let image = json!({"role": "assistant", "content": [{"type": "image"}]});
        assert_eq!(read_response(image), Answer::finished(FINISHED_UNREADABLE));
    }
}
