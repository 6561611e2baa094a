//! Reads conversations that are lists: `ShareGPT`'s `from` and `value`, or `role` and `content`.
//!
//! A list under `conversations` is always a transcript. A list under `messages` is one only if its instructions hold
//! the tool list; otherwise it is a chat without tools, which the tables of log formats handle. Unknown roles are a
//! fault.

use serde_json::{Map, Value};

use super::{Speaker, Transcript, Turn, frame, system_beside};
use crate::log_formats::{Columns, column};
use crate::path::become_list;
use crate::reasons::{BAD_MESSAGE, ItemFault};
use callsieve_bfcl::conversation::Role;

/// The keys of conversations in training sets.
pub(super) const TRANSCRIPTS: &[&str] = &["conversations", "conversation"];

/// The keys of conversations in requests.
pub(super) const MESSAGES: &str = "messages";

const SPEAKERS: &[(&str, Speaker)] = &[
    ("system", Speaker::Role(Role::System)),
    ("developer", Speaker::Role(Role::System)),
    ("human", Speaker::Role(Role::User)),
    ("user", Speaker::Role(Role::User)),
    ("gpt", Speaker::Role(Role::Assistant)),
    ("chatgpt", Speaker::Role(Role::Assistant)),
    ("bot", Speaker::Role(Role::Assistant)),
    ("assistant", Speaker::Role(Role::Assistant)),
    ("model", Speaker::Role(Role::Assistant)),
    ("function_call", Speaker::Calls),
    ("function-call", Speaker::Calls),
    ("tool_call", Speaker::Calls),
    ("tool_calls", Speaker::Calls),
    ("observation", Speaker::Role(Role::Tool)),
    ("tool", Speaker::Role(Role::Tool)),
    ("function", Speaker::Role(Role::Tool)),
    ("function_response", Speaker::Role(Role::Tool)),
    ("function-response", Speaker::Role(Role::Tool)),
    ("tool_response", Speaker::Role(Role::Tool)),
    ("ipython", Speaker::Role(Role::Tool)),
];

/// Finds a conversation that is a list.
pub(super) fn find(body: &Value, columns: &Columns) -> Option<Result<Transcript, ItemFault>> {
    if let Some(list) = TRANSCRIPTS.iter().find_map(|key| list_at(body, key)) {
        let log_format = if is_sharegpt(&list) { "sharegpt" } else { "transcript" };
        return Some(read(log_format, list, body, columns));
    }
    let list = list_at(body, MESSAGES)?;
    if is_sharegpt(&list) {
        return Some(read("sharegpt", list, body, columns));
    }
    match read("chat-with-tools-in-text", list, body, columns) {
        Ok(talk) => {
            let has_tools = frame::tool_list(talk.system.as_deref()?).is_some();
            has_tools.then_some(Ok(Transcript { is_prompt: true, ..talk }))
        }
        Err(_) => None,
    }
}

/// Returns the conversation at a key; a list of lists is concatenated.
fn list_at(body: &Value, key: &str) -> Option<Vec<Value>> {
    let mut value = body.get(key)?.clone();
    if !become_list(&mut value) {
        return None;
    }
    let Value::Array(list) = value else { return None };
    let flat = list.into_iter().flat_map(|element| match element {
        Value::Array(inner) => inner,
        other => vec![other],
    });
    Some(flat.collect())
}

fn is_sharegpt(list: &[Value]) -> bool {
    list.iter().any(|turn| turn.get("from").is_some())
}

fn read(
    log_format: &'static str,
    list: Vec<Value>,
    body: &Value,
    columns: &Columns,
) -> Result<Transcript, ItemFault> {
    let beside = column(body, &columns.functions).map(|tools| match tools {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let beside = beside.filter(|text| !text.trim().is_empty());
    let mut talk = Transcript { log_format, beside, ..Transcript::default() };
    let mut systems: Vec<String> = system_beside(body, columns).transpose()?.into_iter().collect();
    for (number, element) in (1..).zip(list) {
        let turn = turn(number, element)?;
        if turn.speaker == Speaker::Role(Role::System) && talk.turns.is_empty() {
            systems.extend(text_of(&turn.value).map(str::to_owned));
        } else {
            talk.turns.push(turn);
        }
    }
    systems.retain(|text| !text.trim().is_empty());
    talk.system = (!systems.is_empty()).then(|| systems.join("\n\n"));
    Ok(talk)
}

/// Returns the text of a turn without calls: a text, or the content of an object.
pub(super) fn text_of(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("content")?.as_str())
}

fn turn(number: usize, element: Value) -> Result<Turn, ItemFault> {
    let Value::Object(mut fields) = element else {
        return Err(ItemFault::new(BAD_MESSAGE, format!("message {number} is not an object")));
    };
    let mut take = |key: &str| fields.get_mut(key).map(Value::take).filter(|value| !value.is_null());
    let Some(Value::String(name)) = take("from").or_else(|| take("role")) else {
        return Err(ItemFault::new(BAD_MESSAGE, format!("message {number} has no role")));
    };
    let known = SPEAKERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
    let Some(&(_, speaker)) = known else {
        return Err(ItemFault::new(BAD_MESSAGE, format!("message {number} has the role {name:?}")));
    };
    let said = take("value").or_else(|| take("content")).unwrap_or_default();
    let value = match speaker {
        Speaker::Calls => said,
        Speaker::Role(_) => message(said, fields),
    };
    Ok(Turn { speaker, value })
}

/// Returns a message with the keys of the chat APIs and all its other members.
fn message(said: Value, mut fields: Map<String, Value>) -> Value {
    fields.insert("content".to_owned(), said);
    Value::Object(fields)
}
