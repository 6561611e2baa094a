//! Converts the model's response to one assistant message and the finish reason.
//!
//! A failed or unreadable response has no message: the request is kept without it, and the finish reason distinguishes
//! the two cases. JSON of no known API is kept as its text, because some logs store a model's calls that way. The
//! chunks of streams are not joined, and truncated responses are not partly read.

use serde_json::Value;

use crate::marks::missing_text;
use crate::messages::{is_list_of_messages, read_answer};
use crate::path::{Path, find, unwrap_json};
use crate::stream::is_stream;
use callsieve_bfcl::conversation::{Message, Role};

/// The lowest HTTP status of a failed request.
pub(super) const FIRST_FAILED_STATUS: i64 = 400;

/// The finish reason of a request that failed.
pub(super) const FINISHED_WITH_ERROR: &str = "error";

/// The finish reason of a response that holds more than text and calls.
pub(super) const FINISHED_UNREADABLE: &str = "unreadable";

/// The finish reason of a response that is stored as the chunks of a stream.
pub(super) const FINISHED_AS_STREAM: &str = "stream";

/// The finish reason of a response that the logger truncated.
pub(super) const FINISHED_TRUNCATED: &str = "truncated";

/// A parsed response.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ParsedResponse {
    pub(super) message: Option<Message>,
    pub(super) finish_reason: Option<String>,
}

impl ParsedResponse {
    /// Returns a response without a message, with its finish reason.
    pub(super) fn finished(reason: &str) -> Self {
        Self { message: None, finish_reason: Some(reason.to_owned()) }
    }
}

/// A format of responses; the first whose sign matches is used.
struct ResponseFormat {
    sign: Sign,
    message: Path,
    finish_reason: Path,
}

/// A condition that a response of a format must meet.
#[derive(Clone, Copy)]
enum Sign {
    /// The path exists and is not null.
    Has(Path),
    /// The field holds this word.
    Is(&'static str, &'static str),
    /// It has a text in both fields.
    Both(&'static str, &'static str),
    /// It has a text in one of the first fields, and no field outside both lists, which may make it JSON of the model.
    Among(&'static [&'static str], &'static [&'static str]),
}

const RESPONSE_FORMATS: &[ResponseFormat] = &[
    ResponseFormat {
        sign: Sign::Has(&["choices", "0", "text"]),
        message: &["choices", "0", "text"],
        finish_reason: &["choices", "0", "finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["choices"]),
        message: &["choices", "0", "message"],
        finish_reason: &["choices", "0", "finish_reason"],
    },
    // Gemini's, as the API and as its Python library write it.
    ResponseFormat {
        sign: Sign::Has(&["candidates", "0", "finish_reason"]),
        message: &["candidates", "0", "content"],
        finish_reason: &["candidates", "0", "finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["candidates"]),
        message: &["candidates", "0", "content"],
        finish_reason: &["candidates", "0", "finishReason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["promptFeedback"]),
        message: &["candidates"],
        finish_reason: &["promptFeedback", "blockReason"],
    },
    // OpenAI's Responses: the reason of an early end, or else the status.
    ResponseFormat {
        sign: Sign::Has(&["incomplete_details", "reason"]),
        message: &["output"],
        finish_reason: &["incomplete_details", "reason"],
    },
    ResponseFormat { sign: Sign::Is("object", "response"), message: &["output"], finish_reason: &["status"] },
    // Bedrock's Converse.
    ResponseFormat {
        sign: Sign::Has(&["output", "message", "role"]),
        message: &["output", "message"],
        finish_reason: &["stopReason"],
    },
    // LangChain's, with a message or with plain text.
    ResponseFormat {
        sign: Sign::Has(&["generations", "0", "0", "message"]),
        message: &["generations", "0", "0", "message"],
        finish_reason: &["generations", "0", "0", "generation_info", "finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["generations", "0", "0", "text"]),
        message: &["generations", "0", "0", "text"],
        finish_reason: &["generations", "0", "0", "generation_info", "finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["generations", "0", "message"]),
        message: &["generations", "0", "message"],
        finish_reason: &["generations", "0", "generation_info", "finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["kwargs", "content"]),
        message: &[],
        finish_reason: &["kwargs", "response_metadata", "finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Is("type", "ai"),
        message: &[],
        finish_reason: &["response_metadata", "finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["message", "role"]),
        message: &["message"],
        finish_reason: &["done_reason"],
    },
    // OpenInference's, whose message may hold nothing but calls.
    ResponseFormat {
        sign: Sign::Has(&["message", "tool_calls"]),
        message: &["message"],
        finish_reason: &["finish_reason"],
    },
    ResponseFormat {
        sign: Sign::Has(&["message", "content"]),
        message: &["message"],
        finish_reason: &["finish_reason"],
    },
    ResponseFormat { sign: Sign::Has(&["stop_reason"]), message: &[], finish_reason: &["stop_reason"] },
    ResponseFormat { sign: Sign::Has(&["role"]), message: &[], finish_reason: &["finish_reason"] },
    ResponseFormat { sign: Sign::Has(&["content"]), message: &[], finish_reason: &["finish_reason"] },
    ResponseFormat { sign: Sign::Has(&["tool_calls"]), message: &[], finish_reason: &["finish_reason"] },
    // The Vercel AI SDK's, with the text beside the calls.
    ResponseFormat { sign: Sign::Has(&["toolCalls"]), message: &[], finish_reason: &["finishReason"] },
    ResponseFormat { sign: Sign::Has(&["function_call"]), message: &[], finish_reason: &["finish_reason"] },
    ResponseFormat {
        sign: Sign::Both("text", "finishReason"),
        message: &["text"],
        finish_reason: &["finishReason"],
    },
    ResponseFormat {
        sign: Sign::Among(&["text", "finishReason"], OTHER_FIELDS),
        message: &["text"],
        finish_reason: &["finishReason"],
    },
];

/// Fields with which the Vercel AI SDK describes a response.
const OTHER_FIELDS: &[&str] = &[
    "id",
    "model",
    "timestamp",
    "reasoning",
    "providerMetadata",
    "usage",
    "msToFirstChunk",
    "msToFinish",
    "avgOutputTokensPerSecond",
    "avgCompletionTokensPerSecond",
];

/// Fields that distinguish a response stored as a string from a model's answer in JSON.
const STORED_AS_STRING: &[(&str, &str)] =
    &[("object", "chat.completion"), ("object", "response"), ("type", "message"), ("role", "assistant")];

/// Keys with the same purpose.
const STORED_KEYS: &[&str] =
    &["choices", "candidates", "generations", "additional_kwargs", "toolCallId", "toolCalls"];

/// Reads a response of any API; null, an empty text and an empty object are no response.
pub(super) fn read_response(mut response: Value) -> ParsedResponse {
    if let Some(inner) = response.as_str().and_then(unwrap_json).filter(is_stored_response) {
        response = inner;
    }
    if is_empty(&response) {
        return ParsedResponse::default();
    }
    if response.as_str().is_some_and(is_cut_response) {
        return ParsedResponse::finished(FINISHED_TRUNCATED);
    }
    if is_stream(&response) {
        return ParsedResponse::finished(FINISHED_AS_STREAM);
    }
    if response.get("error").is_some_and(|error| !is_empty(error)) {
        return ParsedResponse::finished(FINISHED_WITH_ERROR);
    }
    let answer = read_known(response);
    let is_cut =
        answer.message.as_ref().is_some_and(|message| missing_text(std::slice::from_ref(message)).is_some());
    if is_cut { ParsedResponse::finished(FINISHED_TRUNCATED) } else { answer }
}

fn read_known(mut response: Value) -> ParsedResponse {
    let Some(log_format) = RESPONSE_FORMATS.iter().find(|log_format| log_format.sign.holds(&mut response))
    else {
        return read_unknown(response);
    };
    let finish_reason =
        find(&mut response, log_format.finish_reason).and_then(|v| v.as_str().map(str::to_owned));
    let message =
        find(&mut response, log_format.message).map(Value::take).filter(|message| !is_hollow(message));
    match message.map(read_answer) {
        Some(Ok(message)) => ParsedResponse { message: Some(message), finish_reason },
        // Blocked before any output: there is only the reason.
        None if finish_reason.is_some() => ParsedResponse { message: None, finish_reason },
        _ => ParsedResponse::finished(FINISHED_UNREADABLE),
    }
}

/// Returns `true` for a message with nothing but a role, which Gemini sends in place of none.
fn is_hollow(message: &Value) -> bool {
    message.as_object().is_some_and(|fields| fields.keys().all(|key| key == "role"))
}

/// Reads a response of no API: a text, a list of messages or of their parts, or any other JSON as its text.
fn read_unknown(response: Value) -> ParsedResponse {
    let message = match response {
        Value::String(text) => Ok(Message::text(Role::Assistant, text)),
        list if is_list_of_messages(&list) => read_answer(list),
        other => Ok(Message::text(Role::Assistant, other.to_string())),
    };
    match message {
        Ok(message) => ParsedResponse { message: Some(message), finish_reason: None },
        Err(_) => ParsedResponse::finished(FINISHED_UNREADABLE),
    }
}

impl Sign {
    fn holds(self, response: &mut Value) -> bool {
        match self {
            Self::Has(path) => find(response, path).is_some(),
            Self::Is(key, word) => response.get(key).and_then(Value::as_str) == Some(word),
            Self::Both(one, other) => {
                [one, other].iter().all(|key| response.get(*key).is_some_and(Value::is_string))
            }
            Self::Among(one_of, others) => response.as_object().is_some_and(|fields| {
                one_of.iter().any(|key| fields.get(*key).is_some_and(Value::is_string))
                    && fields
                        .keys()
                        .all(|key| one_of.contains(&key.as_str()) || others.contains(&key.as_str()))
            }),
        }
    }
}

/// Returns `true` if a text is a truncated stored response: it begins like JSON and has keys of an API.
fn is_cut_response(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['{', '['])
        && CUT_SIGNS.iter().any(|sign| text.contains(sign))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

/// Strings of which one is near the beginning of each API's response.
const CUT_SIGNS: &[&str] = &[
    "\"choices\"",
    "\"chat.completion",
    "\"candidates\"",
    "\"generations\"",
    "\"tool_calls\"",
    "\"stop_reason\"",
    "\"role\"",
];

fn is_stored_response(value: &Value) -> bool {
    let is_sign = |value: &Value| {
        STORED_KEYS.iter().any(|key| value.get(key).is_some())
            || STORED_AS_STRING.iter().any(|(key, text)| value.get(key).and_then(Value::as_str) == Some(text))
    };
    is_sign(value)
        || value.as_object().is_some_and(serde_json::Map::is_empty)
        || value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_sign))
        || is_stream(value)
}

/// Returns `true` if a value is a bare response of a model, without the fields of a request.
pub(super) fn is_lone_response(value: &mut Value) -> bool {
    LONE.iter().any(|path| find(value, path).is_some())
        || STORED_AS_STRING[..3]
            .iter()
            .any(|(key, word)| value.get(key).and_then(Value::as_str) == Some(word))
}

/// Returns the keys that identify a response without a request.
pub(super) fn names() -> Vec<&'static str> {
    LONE.iter().map(|path| path[0]).chain(STORED_AS_STRING.iter().map(|(key, _)| *key)).collect()
}

/// Paths that only a response has: bare, in a batch output, in a result.
const LONE: &[Path] = &[
    &["choices"],
    &["candidates"],
    &["response", "body"],
    &["response", "choices"],
    &["response", "candidates"],
    &["response_body"],
    &["result", "message"],
    &["output", "message", "role"],
];

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
    use callsieve_bfcl::conversation::Call;

    fn answer(message: Message, finish_reason: Option<&str>) -> ParsedResponse {
        ParsedResponse { message: Some(message), finish_reason: finish_reason.map(str::to_owned) }
    }

    fn calling(id: Option<&str>, text: &str) -> Message {
        let call = Call { id: id.map(str::to_owned), name: "f".to_owned(), arguments: json!({"x": 1}) };
        Message { calls: vec![call], ..Message::text(Role::Assistant, text) }
    }

    #[test]
    fn responses_of_every_api_are_read() {
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
    fn text_and_json_of_no_api_are_kept_as_text() {
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
    fn a_truncated_stored_response_is_not_text_and_broken_json_of_a_model_is() {
        let whole =
            json!({"object": "chat.completion", "choices": [{"message": {"content": "Hi"}}]}).to_string();
        for end in [30, whole.len() - 1] {
            assert_eq!(read_response(json!(whole[..end])), ParsedResponse::finished(FINISHED_TRUNCATED));
        }
        for text in ["{\"name\": \"f\", ", "{\"role\": x}", "[f(x=1)"] {
            assert_eq!(read_response(json!(text)), answer(Message::text(Role::Assistant, text), None));
        }
    }

    #[test]
    fn missing_and_blocked_responses_have_a_reason() {
        for nothing in [json!(null), json!(""), json!({}), json!("{}"), json!([])] {
            assert_eq!(read_response(nothing), ParsedResponse::default());
        }
        assert_eq!(
            read_response(json!({"error": {"code": 429}})),
            ParsedResponse::finished(FINISHED_WITH_ERROR)
        );
        assert_eq!(read_response(json!({"choices": []})), ParsedResponse::finished(FINISHED_UNREADABLE));
        let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
        assert_eq!(read_response(blocked), ParsedResponse::finished("SAFETY"));
        let malformed = json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]});
        assert_eq!(read_response(malformed), ParsedResponse::finished("MALFORMED_FUNCTION_CALL"));
        let call = json!({"toolCallId": "c1", "toolName": "tide", "input": {"port": "Oban"}});
        let beside = json!({"text": "I look.", "toolCalls": [call], "finishReason": "tool-calls"});
        for listed in [json!([call]), json!(json!([call]).to_string()), beside] {
            let message = read_response(listed).message.unwrap();
            assert_eq!((message.calls.len(), message.calls[0].name.as_str()), (1, "tide"));
            assert_eq!(message.calls[0].arguments, json!({"port": "Oban"}));
        }
        let said = answer(Message::text(Role::Assistant, "Low."), Some("stop"));
        assert_eq!(read_response(json!({"text": "Low.", "finishReason": "stop", "steps": 2})), said);
        let said = answer(Message::text(Role::Assistant, "Low."), None);
        assert_eq!(read_response(json!({"text": "Low.", "model": "m"})), said);
        let none = json!({"finishReason": "error", "id": "r"});
        assert_eq!(read_response(none), ParsedResponse::finished("error"));
        // JSON that a model wrote.
        for other in [json!({"text": "Low.", "language": "en"}), json!({"finishReason": "stop", "name": "f"})]
        {
            assert_eq!(read_response(other.clone()).message.unwrap().content, other.to_string());
        }
        for content in [json!({}), json!({"role": "model"})] {
            let hollow = json!({"candidates": [{"content": content, "finishReason": "MAX_TOKENS"}]});
            assert_eq!(read_response(hollow), ParsedResponse::finished("MAX_TOKENS"));
        }
        let image = json!({"role": "assistant", "content": [{"type": "image"}]});
        assert_eq!(read_response(image), ParsedResponse::finished(FINISHED_UNREADABLE));
    }
}
