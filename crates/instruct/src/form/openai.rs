//! Messages and tools of OpenAI, with the results joined by the ids of the calls.

use callsieve_bfcl::conversation::{Message, Role};
use serde_json::{Value, json};

use super::Sample;
use crate::record::Record;
use crate::source::messages;

/// Returns messages as OpenAI has them.
pub fn openai_messages(record: &Record) -> Vec<Value> {
    messages(record).iter().map(message).collect()
}

/// Returns the line: `messages`, `tools`, and `loss_mask` with 1 for each message that a model learns to write.
#[allow(clippy::unnecessary_wraps)] // The type of a form.
pub(super) fn line(sample: &Sample<'_>) -> Option<Value> {
    let messages = messages(sample.record);
    let mask: Vec<u8> = messages.iter().map(|message| u8::from(message.role == Role::Assistant)).collect();
    Some(json!({
        "id": sample.id,
        "messages": messages.iter().map(message).collect::<Vec<_>>(),
        "tools": tools(sample.functions),
        "loss_mask": mask,
    }))
}

/// Returns functions as tools of OpenAI.
pub fn tools(functions: &[Value]) -> Vec<Value> {
    functions.iter().map(|function| json!({"type": "function", "function": function})).collect()
}

/// A message; the arguments of its calls are texts, as OpenAI has them.
fn message(message: &Message) -> Value {
    match message.role {
        Role::Assistant if !message.calls.is_empty() => {
            let calls: Vec<Value> = message
                .calls
                .iter()
                .map(|call| {
                    let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
                    json!({"id": call.id, "type": "function", "function": function})
                })
                .collect();
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        }
        Role::Tool => {
            json!({"role": "tool", "tool_call_id": message.call_id, "name": message.name, "content": message.content})
        }
        role => json!({"role": role, "content": message.content}),
    }
}
