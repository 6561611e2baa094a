//! Sorts the content of a message into text, calls and results.
//!
//! A type or a key determines the kind of a part. Reasoning is skipped, because it is not part of the conversation. A
//! part that is not text, a call or a result is a fault, because a request without its image is another request.

use serde_json::Value;

use super::calls::{read_call, string};
use crate::lookup::Lookup as _;
use crate::reasons::{ItemFault, NON_TEXT_PART};
use callsieve_bfcl::conversation::{Call, Message, Role};

/// The sorted content of a message.
#[derive(Default)]
pub(super) struct Content {
    pub(super) texts: Vec<String>,
    pub(super) calls: Vec<Call>,
    pub(super) results: Vec<Message>,
}

impl Content {
    /// Returns the joined texts.
    pub(super) fn text(mut self) -> String {
        if self.texts.len() == 1 { self.texts.swap_remove(0) } else { self.texts.join("\n") }
    }
}

/// The kind of a part, by its type.
#[derive(Clone, Copy)]
enum PartKind {
    /// Text, in the first existing one of these fields.
    Text(&'static [&'static str]),
    Call,
    Result,
    /// Reasoning, and marks for the API, which are skipped.
    Silent,
    /// A part inside an object of this name.
    Framed(&'static str),
}

const PARTS: &[(&str, PartKind)] = &[
    ("text", PartKind::Text(&["text", "content", "value"])),
    ("input_text", PartKind::Text(&["text"])),
    ("output_text", PartKind::Text(&["text"])),
    ("refusal", PartKind::Text(&["refusal"])),
    ("tool_use", PartKind::Call),
    ("tool_call", PartKind::Call),
    ("tool-call", PartKind::Call),
    ("tool_result", PartKind::Result),
    ("tool_call_response", PartKind::Result),
    ("tool-result", PartKind::Result),
    ("thinking", PartKind::Silent),
    ("redacted_thinking", PartKind::Silent),
    ("reasoning", PartKind::Silent),
];

/// The kind of a part without a type, by a key, as in Gemini and Bedrock.
const KEYED_PARTS: &[(&str, PartKind)] = &[
    ("functionCall", PartKind::Call),
    ("function_call", PartKind::Call),
    ("toolUse", PartKind::Call),
    // A call as the Vercel AI SDK lists it; a result of it has its own type.
    ("toolName", PartKind::Call),
    ("functionResponse", PartKind::Result),
    ("function_response", PartKind::Result),
    ("toolResult", PartKind::Result),
    ("thought", PartKind::Silent),
    ("reasoningContent", PartKind::Silent),
    ("cachePoint", PartKind::Silent),
    ("message_content", PartKind::Framed("message_content")),
];

/// Reads the content of a message: a text, a list of parts, or JSON that is kept as its text.
pub(super) fn read_content(content: Value) -> Result<Content, ItemFault> {
    let mut found = Content::default();
    match content {
        Value::Null => {}
        Value::String(text) => found.texts.push(text),
        Value::Array(parts) => parts.into_iter().try_for_each(|part| read_part(part, &mut found))?,
        // A single part without a list, as OpenTelemetry's conventions allow.
        part @ Value::Object(_) if is_part(&part) => read_part(part, &mut found)?,
        // Some logs store a tool's result as JSON.
        other => found.texts.push(other.to_string()),
    }
    Ok(found)
}

fn read_part(mut part: Value, found: &mut Content) -> Result<(), ItemFault> {
    if part.is_string() {
        found.texts.extend(string(part));
        return Ok(());
    }
    match part_kind(&part)? {
        PartKind::Text(fields) => {
            match fields.iter().find_map(|field| part.field_mut(field).map(Value::take)) {
                Some(Value::String(text)) => found.texts.push(text),
                _ => return Err(ItemFault::new(NON_TEXT_PART, "a text part without text")),
            }
        }
        PartKind::Call => found.calls.push(read_call(part)?),
        PartKind::Result => found.results.push(read_result(part)?),
        PartKind::Silent => {}
        PartKind::Framed(frame) => {
            read_part(part.field_mut(frame).map(Value::take).unwrap_or_default(), found)?;
        }
    }
    Ok(())
}

fn part_kind(part: &Value) -> Result<PartKind, ItemFault> {
    let Some(name) = part.field("type").and_then(Value::as_str) else {
        let is_there = |key: &str| {
            part.field(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        };
        let keyed = KEYED_PARTS.iter().find(|(key, _)| is_there(key)).map(|(_, kind)| *kind);
        return match (keyed, part.field("text"), part.as_object().and_then(|fields| fields.keys().next())) {
            (Some(kind), _, _) => Ok(kind),
            (None, None, Some(key)) => {
                Err(ItemFault::new(NON_TEXT_PART, format!("a part with {key:?} and no text")))
            }
            _ => Ok(PartKind::Text(&["text"])),
        };
    };
    let known = PARTS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    known.ok_or_else(|| ItemFault::new(NON_TEXT_PART, format!("a part of type {name:?}")))
}

/// Returns `true` if an object is certainly a part, not other JSON.
pub(super) fn is_part(value: &Value) -> bool {
    let name = value.field("type").and_then(Value::as_str);
    // A call as the Vercel AI SDK lists it has no type.
    let has = |key: &str| value.field(key).is_some_and(Value::is_string);
    name.is_some_and(|name| PARTS.iter().any(|(known, _)| *known == name))
        || has("toolCallId")
            && has("toolName")
            && ["input", "args"].iter().any(|key| value.field(key).is_some())
}

/// The keys of objects that may hold a result; in Anthropic's API the part itself does.
const RESULT_FRAMES: &[&str] = &["functionResponse", "function_response", "toolResult"];

/// The keys of a result's content.
const RESULTS: &[&str] = &["content", "response", "result", "output"];

/// The keys of the call's id.
const CALL_IDS: &[&str] = &["tool_use_id", "toolUseId", "toolCallId", "call_id", "id"];

fn read_result(mut part: Value) -> Result<Message, ItemFault> {
    let frame = RESULT_FRAMES.iter().find(|frame| part.field(frame).is_some_and(Value::is_object));
    if let Some(frame) = frame {
        part = part.field_mut(frame).map(Value::take).unwrap_or_default();
    }
    let mut take = |key: &str| part.field_mut(key).map(Value::take).filter(|value| !value.is_null());
    let content = RESULTS.iter().find_map(|key| take(key)).unwrap_or_default();
    let (content, failed) = without_output_frame(content);
    let content = read_content(without_json_frames(content))?.text();
    let is_error =
        failed || take("is_error") == Some(Value::Bool(true)) || take("status") == Some("error".into());
    let call_id = CALL_IDS.iter().find_map(|key| take(key)).and_then(string);
    let name = ["name", "toolName"].iter().find_map(|key| take(key)).and_then(string);
    Ok(Message { call_id, name, is_error, ..Message::text(Role::Tool, content) })
}

/// The types of a result in which the Vercel AI SDK wraps a value, and whether the call failed.
const OUTPUTS: &[(&str, bool)] = &[
    ("json", false),
    (PARTS_OUTPUT, false),
    ("error-json", true),
    ("error-text", true),
    ("execution-denied", true),
];

/// The type of a result that is a list of parts.
const PARTS_OUTPUT: &str = "content";

/// Returns the value that a result wraps as `{"type": "json", "value": …}`, and whether it says that the call failed.
fn without_output_frame(mut content: Value) -> (Value, bool) {
    let is_frame = content.as_object().is_some_and(|fields| {
        fields.keys().all(|key| matches!(key.as_str(), "type" | "value" | "reason" | "providerOptions"))
    });
    let name = content.field("type").and_then(Value::as_str).filter(|_| is_frame);
    let Some((name, failed)) = name.and_then(|name| OUTPUTS.iter().find(|(known, _)| *known == name)) else {
        return (content, false);
    };
    match ["value", "reason"].iter().find_map(|key| content.field_mut(key).map(Value::take)) {
        Some(value @ Value::String(_)) => (value, *failed),
        Some(parts @ Value::Array(_)) if *name == PARTS_OUTPUT => (parts, false),
        // Any other value is JSON of the function, not parts of a message.
        Some(value) => (Value::String(value.to_string()), *failed),
        None => (content, *failed),
    }
}

/// Returns the content of a result; Bedrock wraps JSON as `{"json": …}`.
fn without_json_frames(mut content: Value) -> Value {
    for part in content.as_array_mut().into_iter().flatten() {
        let is_frame = part.as_object().is_some_and(|fields| fields.len() == 1);
        if let Some(json) = part.field_mut("json").filter(|_| is_frame) {
            *part = Value::String(json.take().to_string());
        }
    }
    content
}
