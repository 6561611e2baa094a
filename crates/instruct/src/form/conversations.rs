//! Conversations of turns with a speaker and a text: `ShareGPT`, Hermes, `ToolLLaMA`.

use callsieve_bfcl::conversation::{Call, Message, Role};
use serde_json::{Value, json};

use super::{Sample, openai};
use crate::source::messages;

/// Returns the line of `ShareGPT` as `LLaMA-Factory` reads it: several calls of a turn are a list in one message, and so are
/// their results; `tools` is a text.
#[allow(clippy::unnecessary_wraps)] // The type of a form.
pub(super) fn sharegpt(sample: &Sample<'_>) -> Option<Value> {
    let one_or_list =
        |mut values: Vec<Value>| if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
    let mut turns: Vec<Value> = Vec::new();
    for group in grouped(&messages(sample.record)) {
        let turn = match group {
            [message] if message.role == Role::User => json!({"from": "human", "value": message.content}),
            [message] if message.role == Role::Assistant && message.calls.is_empty() => {
                json!({"from": "gpt", "value": message.content})
            }
            [message] if message.role == Role::Assistant => {
                let calls = message.calls.iter().map(named_call).collect();
                json!({"from": "function_call", "value": one_or_list(calls).to_string()})
            }
            results => {
                let results = results.iter().map(|message| parsed(&message.content)).collect();
                json!({"from": "observation", "value": one_or_list(results).to_string()})
            }
        };
        turns.push(turn);
    }
    Some(json!({"id": sample.id, "conversations": turns, "tools": json!(sample.functions).to_string()}))
}

/// Returns the line of Hermes: the tools are in the system prompt, calls and results in tags.
#[allow(clippy::unnecessary_wraps)] // The type of a form.
pub(super) fn hermes(sample: &Sample<'_>) -> Option<Value> {
    let tools: Vec<String> = openai::tools(sample.functions).iter().map(Value::to_string).collect();
    let system = format!(
        "You can call functions. Their signatures are in <tools></tools>:\n<tools>\n{}\n</tools>\nFor each call, write an object with the name and the arguments in <tool_call></tool_call>:\n<tool_call>\n{{\"name\": NAME, \"arguments\": OBJECT}}\n</tool_call>",
        tools.join("\n")
    );
    let mut turns = vec![json!({"from": "system", "value": system})];
    for group in grouped(&messages(sample.record)) {
        let tagged = |tag: &str, texts: Vec<String>| {
            let texts: Vec<String> = texts.iter().map(|text| format!("<{tag}>\n{text}\n</{tag}>")).collect();
            texts.join("\n")
        };
        let turn = match group {
            [message] if message.role == Role::User => json!({"from": "human", "value": message.content}),
            [message] if message.role == Role::Assistant && message.calls.is_empty() => {
                json!({"from": "gpt", "value": message.content})
            }
            [message] if message.role == Role::Assistant => {
                let calls = message.calls.iter().map(|call| named_call(call).to_string()).collect();
                json!({"from": "gpt", "value": tagged("tool_call", calls)})
            }
            results => {
                let result = |message: &Message| {
                    json!({"name": message.name, "content": parsed(&message.content)}).to_string()
                };
                json!({"from": "tool", "value": tagged("tool_response", results.iter().map(result).collect())})
            }
        };
        turns.push(turn);
    }
    Some(json!({"id": sample.id, "conversations": turns}))
}

/// Returns the line of `ToolLLaMA`: one action a message, and `Finish` with the answer at the end. Calls that were made at
/// once follow each other. It ends with an answer, so the calls must have results.
pub(super) fn toolllama(sample: &Sample<'_>) -> Option<Value> {
    if !sample.record.is_executed() {
        return None;
    }
    let tools = json!(sample.functions).to_string();
    let system = format!(
        "Call functions to do what the user asks. At each step write a thought, an action and its input:\nThought: ...\nAction: NAME\nAction Input: OBJECT\nEnd with the action Finish, whose input has return_type and final_answer.\nThe functions are: {tools}"
    );
    let action = |name: &str, input: &Value| format!("\nThought: \nAction: {name}\nAction Input: {input}");
    let mut turns = vec![json!({"from": "system", "value": system})];
    let messages = messages(sample.record);
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::User => {
                turns.push(json!({"from": "user", "value": format!("\n{}\nBegin!\n", message.content)}));
            }
            Role::Assistant if message.calls.is_empty() => {
                let input = json!({"return_type": "give_answer", "final_answer": message.content});
                turns.push(json!({"from": "assistant", "value": action("Finish", &input)}));
            }
            Role::Assistant => {
                for call in &message.calls {
                    turns.push(json!({"from": "assistant", "value": action(&call.name, &call.arguments)}));
                    let answers = |other: &&Message| other.role == Role::Tool && other.call_id == call.id;
                    let result =
                        messages[at..].iter().find(answers).map_or("", |message| message.content.as_str());
                    turns.push(json!({"from": "function", "value": result}));
                }
            }
            Role::System | Role::Tool => {}
        }
    }
    Some(json!({"id": sample.id, "conversations": turns}))
}

/// Groups the results that follow the calls of one message; every other message is alone.
fn grouped(messages: &[Message]) -> Vec<&[Message]> {
    messages.chunk_by(|one, next| one.role == Role::Tool && next.role == Role::Tool).collect()
}

fn named_call(call: &Call) -> Value {
    json!({"name": call.name, "arguments": call.arguments})
}

/// A result as JSON, where it is.
fn parsed(content: &str) -> Value {
    serde_json::from_str(content).unwrap_or_else(|_| content.into())
}
