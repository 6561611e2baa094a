//! Messages and tools of OpenAI, with the results joined by the ids of the calls.

use callsieve_bfcl::conversation::{Role, openai_message};
use serde_json::{Value, json};

use super::Sample;
use crate::record::Record;
use crate::source::messages;

/// Returns messages as OpenAI has them.
pub fn openai_messages(record: &Record) -> Vec<Value> {
    messages(record).iter().map(openai_message).collect()
}

/// Returns the line: `messages`, `tools`, and `loss_mask` with 1 for each message that a model learns to write.
#[allow(clippy::unnecessary_wraps)] // The type of a form.
pub(super) fn line(sample: &Sample<'_>) -> Option<Value> {
    let messages = messages(sample.record);
    let mask: Vec<u8> = messages.iter().map(|message| u8::from(message.role == Role::Assistant)).collect();
    Some(json!({
        "id": sample.id,
        "messages": messages.iter().map(openai_message).collect::<Vec<_>>(),
        "tools": tools(sample.functions),
        "loss_mask": mask,
    }))
}

/// Returns functions as tools of OpenAI.
pub fn tools(functions: &[Value]) -> Vec<Value> {
    functions.iter().map(|function| json!({"type": "function", "function": function})).collect()
}
