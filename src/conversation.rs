//! What was said in a request, whatever API it was said through.
//!
//! Every log shape is read into these types once, at ingest, and every later
//! room (collapsing, answers, export) sees nothing else. Text is kept as it was
//! sent; only the frame around it (content parts, tool-use blocks, arguments as
//! JSON inside a string) is made uniform. What a doc list is lives in `docs`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the application; `developer` is read as this too.
    System,
    /// The person or program that asks.
    User,
    /// The model.
    Assistant,
    /// The result of a call; `function` is read as this too.
    Tool,
}

/// One function call a model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The call's id, where the API gives one; a tool message answers to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The function's name as the model wrote it.
    pub name: String,
    /// The arguments: an object, or the string the model wrote where that string is not a JSON object.
    pub arguments: Value,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text; parts of a list are joined by a newline. Empty where there is none.
    pub content: String,
    /// Calls an assistant made in this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// For a tool message: the id of the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// For a tool message: the name of the function it answers for, where the API gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For a tool message: the API itself said that the call failed (`is_error`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// The last message of the user, which is what is asked.
pub fn last_user(messages: &[Message]) -> Option<&Message> {
    messages.iter().rfind(|message| message.role == Role::User)
}

impl Message {
    /// A message of plain text.
    pub fn text(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), calls: Vec::new(), call_id: None, name: None, is_error: false }
    }
}
