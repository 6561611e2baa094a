//! Reads conversations as training sets have them: lists under any key, JSON in a text, one text with marks.
//!
//! A conversation in the form of an API is read as one. Any other is read turn by turn, with roles and keys in any case,
//! because one turn that cannot be read must not hide the others. Turns of unknown speakers are left out.

use serde_json::{Map, Value, json};

use crate::messages::{read_contents, read_messages};
use crate::path::{unwrap_json, written_list};
use crate::transcripts::messages_of_text;
use callsieve_bfcl::conversation::{Message, Role};

/// Names of speakers, in lower case.
const SPEAKERS: &[(&str, Role)] = &[
    ("user", Role::User),
    ("human", Role::User),
    ("prompter", Role::User),
    ("customer", Role::User),
    ("assistant", Role::Assistant),
    ("gpt", Role::Assistant),
    ("chatgpt", Role::Assistant),
    ("model", Role::Assistant),
    ("bot", Role::Assistant),
    ("chatbot", Role::Assistant),
    ("ai", Role::Assistant),
    ("function_call", Role::Assistant),
    ("function-call", Role::Assistant),
    ("tool_call", Role::Assistant),
    ("tool_calls", Role::Assistant),
    ("system", Role::System),
    ("developer", Role::System),
    ("tool", Role::Tool),
    ("function", Role::Tool),
    ("observation", Role::Tool),
    ("function_response", Role::Tool),
    ("function-response", Role::Tool),
    ("tool_response", Role::Tool),
    ("tool_result", Role::Tool),
    ("ipython", Role::Tool),
    ("environment", Role::Tool),
];
/// Keys of the speaker of a turn.
const SPEAKER_KEYS: &[&str] = &["role", "from", "speaker", "author", "sender"];
/// Keys of what is said in a turn.
const CONTENT_KEYS: &[&str] = &["content", "value", "text", "parts", "message", "utterance"];

/// Reads a conversation: a list of turns, the same in a text, or a text with marks of turns; `None` for anything else.
pub(super) fn conversation(value: &Value) -> Option<Vec<Message>> {
    let messages = match value {
        Value::Array(turns) => of_list(turns),
        Value::String(text) => match written_list(text) {
            Some(Value::Array(turns)) => of_list(&turns),
            _ => messages_of_text(text).unwrap_or_default(),
        },
        Value::Object(_) if speaker(value).is_some() => turn(value),
        _ => return None,
    };
    let has_words = |message: &Message| matches!(message.role, Role::User | Role::Assistant);
    messages.iter().any(has_words).then_some(messages)
}

/// Reads earlier turns: a conversation, or pairs of question and answer.
pub(super) fn history(value: &Value) -> Vec<Message> {
    if let Some(messages) = conversation(value) {
        return messages;
    }
    let listed = value.as_str().and_then(written_list);
    let pairs = listed.as_ref().unwrap_or(value).as_array().into_iter().flatten().filter_map(Value::as_array);
    let message = |(at, text): (usize, &Value)| {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        text.as_str().map(|text| Message::text(role, text))
    };
    pairs.flat_map(|pair| pair.iter().enumerate().filter_map(message).collect::<Vec<_>>()).collect()
}

/// Reads an answer: messages, or the text or JSON of one.
pub(super) fn answer(value: &Value) -> Vec<Message> {
    if let Some(messages) = conversation(value) {
        return messages;
    }
    let opened = value.as_str().and_then(unwrap_json);
    let is_message = |value: &&Value| CALL_KEYS.iter().any(|key| value.get(*key).is_some());
    if let Some(Value::Object(fields)) = opened.as_ref().or(Some(value)).filter(is_message) {
        return with_role(Role::Assistant, fields.clone());
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    vec![Message::text(Role::Assistant, text)]
}

/// Keys of calls outside the content of a message.
const CALL_KEYS: &[&str] = &["tool_calls", "function_call"];

/// Reads the text, the texts of the parts, or the conversation that a key of texts holds.
pub(super) fn texts(value: &Value) -> Vec<Message> {
    if let Some(messages) = conversation(value) {
        return messages;
    }
    let mut messages = Vec::new();
    add_texts(value, &mut messages);
    messages
}

/// Keys of the text of a part; the value of a part of a call is the call as JSON.
const PART_TEXTS: &[&str] = &["text", "value", "content"];

/// Returns whether a part is what a model thinks, not what it says.
fn is_reasoning(part: &Value) -> bool {
    part.get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| kind.contains("reasoning") || kind.contains("thinking"))
}

/// Adds a text, or the texts of the parts of a message, each as a message of the user.
fn add_texts(value: &Value, messages: &mut Vec<Message>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => messages.push(Message::text(Role::User, text)),
        Value::Array(parts) => {
            for part in parts.iter().filter(|part| !is_reasoning(part)) {
                let inside = PART_TEXTS.iter().find_map(|key| part.get(*key));
                add_texts(inside.unwrap_or(part), messages);
            }
        }
        _ => {}
    }
}

/// Reads a list of turns in the form of an API, or else turn by turn.
fn of_list(turns: &[Value]) -> Vec<Message> {
    if !turns.iter().any(|turn| turn.is_object() || turn.is_array()) {
        return Vec::new();
    }
    read_messages(Value::Array(turns.to_vec())).unwrap_or_else(|_| turns.iter().flat_map(turn).collect())
}

/// Reads a turn; nothing if it has no speaker, or one that is neither user nor model.
fn turn(turn: &Value) -> Vec<Message> {
    let is_of_gemini = turn.get("parts").is_some();
    let as_it_is = json!([turn]);
    let read = if is_of_gemini { read_contents(as_it_is) } else { read_messages(as_it_is) };
    match read {
        Ok(messages) if !messages.is_empty() => return messages,
        _ => {}
    }
    match turn {
        Value::Array(pair) => match &pair[..] {
            [Value::String(name), said] if role_named(name).is_some() => said_by(role_named(name), said),
            _ => of_list(pair),
        },
        Value::Object(fields) => match speaker(turn) {
            Some(name) => {
                let Some(role) = role_named(name) else { return Vec::new() };
                with_role(role, fields.clone())
            }
            None => fields.iter().flat_map(|(name, said)| said_by(role_named(name), said)).collect(),
        },
        _ => Vec::new(),
    }
}

/// Reads the fields of a message of the user or the model.
fn with_role(role: Role, mut fields: Map<String, Value>) -> Vec<Message> {
    let key = fields.keys().find(|key| CONTENT_KEYS.contains(&key.to_lowercase().as_str())).cloned();
    let said = key.and_then(|key| fields.remove(&key)).unwrap_or_default();
    for key in SPEAKER_KEYS {
        fields.remove(*key);
    }
    if role == Role::Tool {
        // Results as APIs have them need ids of calls.
        return said_by(Some(role), &said);
    }
    fields.insert("role".to_owned(), json!(role));
    fields.insert("content".to_owned(), said.clone());
    read_messages(json!([fields])).unwrap_or_else(|_| said_by(Some(role), &said))
}

/// Returns what a user or model says; parts that are no text are passed over.
fn said_by(role: Option<Role>, said: &Value) -> Vec<Message> {
    let mut messages = Vec::new();
    if let Some(role) = role {
        add_texts(said, &mut messages);
        for message in &mut messages {
            message.role = role;
        }
    }
    messages
}

/// Returns the name of the speaker of a turn.
fn speaker(turn: &Value) -> Option<&str> {
    SPEAKER_KEYS.iter().find_map(|key| turn.get(*key)?.as_str())
}

fn role_named(name: &str) -> Option<Role> {
    let name = name.trim().to_lowercase();
    SPEAKERS.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}
