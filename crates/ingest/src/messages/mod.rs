//! Converts messages of any API to [`Message`]s.
//!
//! One reader handles all chat APIs and the tools that log them, because logs mix them: gateways put content blocks of
//! one API into messages of another. `frames` determines the role of a message, `parts` sorts its content, `calls`
//! reads its calls.

pub(super) mod calls;
mod frames;
mod parts;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::lookup::Lookup as _;
use crate::path::written_list;
use crate::reasons::{BAD_MESSAGE, ItemFault, PARTIAL_CONVERSATION, TRUNCATED};
use calls::{push_call, read_call, string, take_calls};
use callsieve_bfcl::conversation::{Message, Role};
use frames::{Framed, Item, framed, item_of, role_of, unframed};
use parts::{is_part, read_content};

/// Reads a list of messages; nested lists are flattened.
pub(super) fn read_messages(list: Value) -> Result<Vec<Message>, ItemFault> {
    let mut messages = Vec::new();
    push_messages(list, &mut messages)?;
    Ok(messages)
}

/// Reads a query: a list of messages, a text that holds one, or any other text as one user message.
pub(super) fn read_query(query: Value) -> Result<Vec<Message>, ItemFault> {
    match query {
        Value::String(text) => match written_list(&text).filter(is_message_list) {
            Some(list) => read_messages(list),
            None => Ok(vec![Message::text(Role::User, text)]),
        },
        Value::Number(number) => Ok(vec![Message::text(Role::User, number.to_string())]),
        other => read_messages(other),
    }
}

/// Reads messages in the attributes of spans, where lists of parts are often strings.
pub(super) fn read_attribute_messages(mut messages: Value) -> Result<Vec<Message>, ItemFault> {
    if let Value::String(text) = &mut messages {
        match written_list(text) {
            Some(list) => messages = list,
            None if text.trim_start().starts_with(['[', '{']) => {
                return Err(ItemFault::new(TRUNCATED, "the attribute is incomplete JSON"));
            }
            None => return Ok(vec![Message::text(Role::User, std::mem::take(text))]),
        }
    }
    for message in messages.as_array_mut().into_iter().flatten() {
        if let Some(content) = message.field_mut("content")
            && let Some(parts) = content.as_str().and_then(written_list)
            && parts.as_array().is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_part))
        {
            *content = parts;
        }
    }
    read_messages(messages)
}

/// Reads an assistant's message that needs no role: its fields, its parts, several messages of one turn, or just its
/// text.
pub(super) fn read_answer(answer: Value) -> Result<Message, ItemFault> {
    match answer {
        Value::Object(fields) => {
            let fields = unframed(fields);
            if !SAYS.iter().any(|key| fields.has_field(key)) {
                return Err(ItemFault::new(BAD_MESSAGE, "an answer without content and calls"));
            }
            read_fields(Role::Assistant, fields).map(|(message, _)| message)
        }
        list if is_message_list(&list) => read_messages(list).map(as_one_turn),
        other => {
            let mut content = read_content(other)?;
            let calls = std::mem::take(&mut content.calls);
            Ok(Message { calls, ..Message::text(Role::Assistant, content.text()) })
        }
    }
}

/// The keys of an answer's content; the value may be null.
const SAYS: &[&str] = &[
    "content",
    "parts",
    "contents",
    "tool_calls",
    "toolCalls",
    "function_call",
    "refusal",
    "additional_kwargs",
];

/// Returns `true` if a response is a list of messages, items or parts, not a list that a model wrote.
pub(super) fn is_list_of_messages(response: &Value) -> bool {
    let is_parts =
        |list: &Value| list.as_array().is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_part));
    is_parts(response) || is_message_list(response)
}

/// Joins several messages of the assistant.
fn as_one_turn(messages: Vec<Message>) -> Message {
    let said = messages.into_iter().filter(|message| message.role == Role::Assistant);
    let mut turn = Message::text(Role::Assistant, "");
    for message in said {
        if !turn.content.is_empty() && !message.content.is_empty() {
            turn.content.push('\n');
        }
        turn.content.push_str(&message.content);
        turn.calls.extend(message.calls);
    }
    turn
}

/// Reads instructions outside the messages: a text, a list of text parts, or an object that holds one.
pub(super) fn read_system(mut system: Value) -> Result<Message, ItemFault> {
    let parts = system.field_mut("parts").map(|parts| listed(parts.take()));
    Ok(Message::text(Role::System, read_content(parts.unwrap_or(system))?.text()))
}

/// Reads Gemini's contents: messages whose role defaults to the user. Its libraries accept a text as a message, and one
/// message or part as a list of one.
pub(super) fn read_contents(contents: Value) -> Result<Vec<Message>, ItemFault> {
    let contents = match contents {
        Value::String(text) => written_list(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let Value::Array(list) = listed(contents) else { return Ok(Vec::new()) };
    read_messages(list.into_iter().map(content).collect())
}

/// Returns a Gemini content with a role and a list of parts.
fn content(value: Value) -> Value {
    let mut fields = match value {
        Value::Object(fields) if fields.has_field("parts") || fields.has_field("role") => fields,
        said => Map::from_iter([("parts".to_owned(), said)]),
    };
    fields.entry("role").or_insert_with(|| "user".into());
    if let Some(parts) = fields.field_mut("parts") {
        *parts = listed(parts.take());
    }
    Value::Object(fields)
}

/// Returns the value as a list; any other value becomes a list of one.
fn listed(value: Value) -> Value {
    if value.is_array() { value } else { Value::Array(vec![value]) }
}

/// Returns `true` if a list in a text consists of messages; people also ask about lists.
fn is_message_list(list: &Value) -> bool {
    list.as_array().is_some_and(|list| {
        !list.is_empty()
            && list
                .iter()
                .all(|element| is_message(element) || element.is_array() && is_message_list(element))
    })
}

fn is_message(value: &Value) -> bool {
    role_of(value).is_some() || item_of(value).is_some()
}

fn push_messages(value: Value, messages: &mut Vec<Message>) -> Result<(), ItemFault> {
    let number = messages.len() + 1;
    if let Some(item) = item_of(&value) {
        return push_item(item, value, messages);
    }
    match value {
        Value::Array(list) => list.into_iter().try_for_each(|element| push_messages(element, messages)),
        Value::Object(fields) => {
            let Framed { role, fields } =
                framed(fields).map_err(|fields| bad_message(number, &Value::Object(fields)))?;
            let (message, results) = read_fields(role, fields)?;
            // A turn with only results has no message of its own.
            let says_nothing = message.content.is_empty() && message.calls.is_empty() && !results.is_empty();
            messages.extend(results);
            if !says_nothing {
                messages.push(message);
            }
            Ok(())
        }
        other => Err(bad_message(number, &other)),
    }
}

/// Adds an item of OpenAI's Responses; the calls of one turn are consecutive items.
fn push_item(item: Item, mut value: Value, messages: &mut Vec<Message>) -> Result<(), ItemFault> {
    match item {
        Item::Call => {
            let call = read_call(value)?;
            match messages.last_mut().filter(|last| last.role == Role::Assistant) {
                Some(turn) => push_call(call, &mut turn.calls),
                None => messages.push(Message { calls: vec![call], ..Message::text(Role::Assistant, "") }),
            }
        }
        Item::Result => {
            let mut take = |key: &str| value.field_mut(key).map(Value::take).unwrap_or_default();
            let (call_id, output) = (string(take("call_id")), take("output"));
            messages.push(Message { call_id, ..Message::text(Role::Tool, read_content(output)?.text()) });
        }
        Item::Silent => {}
        Item::Elsewhere => {
            return Err(ItemFault::new(PARTIAL_CONVERSATION, "an item is only a reference"));
        }
    }
    Ok(())
}

fn bad_message(number: usize, value: &Value) -> ItemFault {
    let detail = match value.field("role") {
        Some(role) => format!("message {number} has the role {role}"),
        None if value.is_object() => format!("message {number} has no role"),
        None => format!("message {number} is {}, expected an object with role and content", kind_of(value)),
    };
    ItemFault::new(BAD_MESSAGE, detail)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads the fields of a message. Results of calls in its content become separate messages.
fn read_fields(role: Role, mut fields: Map<String, Value>) -> Result<(Message, Vec<Message>), ItemFault> {
    let mut take = |keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| fields.field_mut(key).map(Value::take));
        found.find(|value| !value.is_null()).unwrap_or_default()
    };
    let mut content = read_content(take(CONTENTS))?;
    if let Value::String(refusal) = take(&["refusal"]) {
        content.texts.push(refusal);
    }
    let is_result = role == Role::Tool;
    let call_id = string(take(CALL_IDS));
    let name = if is_result { string(take(&["name"])) } else { None };
    let is_error = is_result && take(&["status"]) == "error";
    let (mut calls, results) = (std::mem::take(&mut content.calls), std::mem::take(&mut content.results));
    take_calls(&mut fields, &mut calls)?;
    Ok((Message { role, content: content.text(), calls, call_id, name, is_error }, results))
}

/// The keys of a message's content.
const CONTENTS: &[&str] = &["content", "parts", "contents", "text"];

/// The keys of the call's id in a result.
const CALL_IDS: &[&str] = &["tool_call_id", "toolCallId"];
