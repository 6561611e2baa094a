//! The conversation of a request, independent of the API.
//!
//! Ingest converts every log format to these types once, and all later modules (collapsing, answers, export) use only
//! them. Text stays as it was sent; only the format around it (content parts, tool-use blocks, arguments as JSON inside
//! a string) is made uniform. Doc lists are defined in `docs`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the application; includes `developer`.
    System,
    /// The person or program that sends the query.
    User,
    /// The model.
    Assistant,
    /// The result of a call; includes `function`.
    Tool,
}

/// One function call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The call's id, if the API has one; tool messages refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The function's name as the model wrote it.
    pub name: String,
    /// The arguments: an object, or the string that the model wrote if it is not a JSON object.
    pub arguments: Value,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The author of a message.
    pub role: Role,
    /// The text; parts of a list are joined by a newline. Empty if there is none.
    pub content: String,
    /// The assistant's calls in this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// For a tool message: the id of the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// For a tool message: the name of the called function, if the API has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For a tool message: the API marked the call as failed (`is_error`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// Returns whether a message calls a function or holds a result.
pub fn has_calls(messages: &[Message]) -> bool {
    messages.iter().any(|message| message.role == Role::Tool || !message.calls.is_empty())
}

/// Returns the last message of the user, which is the query.
pub fn last_user(messages: &[Message]) -> Option<&Message> {
    messages.iter().rfind(|message| message.role == Role::User)
}

/// Returns a message as the OpenAI API has it: the arguments of calls are texts, and a message of calls without a text has none.
pub fn openai_message(message: &Message) -> Value {
    let content = &message.content;
    match message.role {
        Role::Assistant if !message.calls.is_empty() => {
            let call = |call: &Call| {
                // Arguments that are a text are what the model wrote.
                let arguments =
                    call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
                let function = json!({"name": call.name, "arguments": arguments});
                json!({"id": call.id, "type": "function", "function": function})
            };
            let calls: Vec<Value> = message.calls.iter().map(call).collect();
            let content = Some(content).filter(|text| !text.is_empty());
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Role::Tool => {
            json!({"role": "tool", "tool_call_id": message.call_id, "name": message.name, "content": content})
        }
        role => json!({"role": role, "content": content}),
    }
}

impl Message {
    /// Returns a message of plain text.
    pub fn text(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), calls: Vec::new(), call_id: None, name: None, is_error: false }
    }
}
