//! Conversations with their tools: OpenAI messages, `ShareGPT`, tagged system texts.
//!
//! Messages are under `messages`, `conversations` or `prompt`. Functions are next to them as a list or JSON text,
//! otherwise in the system text: between `<tools>` tags, `[TOOL_LIST]` brackets, or as a list after its prose.

use serde_json::Value;

use super::record::{ChatMessage, SetRecord, first, functions_of, id_of, keys_of, messages_of, queries_of};

const TAGS: [(&str, &str); 4] = [
    ("<tools>", "</tools>"),
    ("[TOOL_LIST]", "[/TOOL_LIST]"),
    ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    ("Here is a list of functions in JSON format that you can invoke:", "Should you decide"),
];

/// Reads one record.
pub(super) fn read(record: &Value) -> Result<SetRecord, String> {
    let conversation = first(record, &["messages", "conversations", "prompt", "question"]);
    let mut messages = conversation.map(messages_of).unwrap_or_default();
    if let Some(system) = first(record, &["system"]).and_then(Value::as_str) {
        messages.insert(0, ChatMessage { role: "system".to_owned(), text: system.to_owned() });
    }
    let functions = match first(record, &["tools", "functions", "function"]) {
        Some(tools) => functions_of(tools)?,
        None => tagged(&messages)?,
    };
    let queries = queries_of(&messages);
    if functions.is_empty() && queries.is_empty() {
        return Err(format!("neither functions nor a user's turn: {}", keys_of(record)));
    }
    Ok(SetRecord { id: id_of(record), functions, queries })
}

/// Returns the functions between tags: the first tags that contain some, as prompts also mention the tags.
fn tagged(messages: &[ChatMessage]) -> Result<Vec<Value>, String> {
    for message in messages {
        for (open, close) in TAGS {
            for rest in message.text.split(open).skip(1) {
                let inside = rest.split_once(close).map_or(rest, |(inside, _)| inside).trim();
                if inside.starts_with(['[', '{']) {
                    return functions_of(&Value::String(inside.to_owned()));
                }
            }
        }
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_format_is_read_as_the_same_record() {
        let tools = json!([{"type": "function", "function": {"name": "ring", "parameters": {}}}]);
        let messages =
            json!([{"role": "user", "content": "Ring it"}, {"role": "assistant", "content": "ok"}]);
        let tagged = |text: String| json!({"messages": [{"role": "system", "content": text}, {"role": "user", "content": "Ring it"}]});
        let expected = SetRecord {
            id: None,
            functions: vec![json!({"name": "ring", "parameters": {}})],
            queries: vec!["Ring it".to_owned()],
        };
        for record in [
            json!({"messages": messages, "tools": tools}),
            json!({"prompt": messages, "tools": tools.to_string()}),
            json!({"prompt": messages.to_string(), "functions": [{"name": "ring", "parameters": {}}]}),
            json!({"conversations": [{"from": "human", "value": "Ring it"}, {"from": "gpt", "value": "ok"}], "tools": tools.to_string()}),
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Ring it"}]}], "tools": tools}),
            tagged(format!("Use [TOOL_LIST] {tools} [/TOOL_LIST]")),
            tagged(
                "You may <tools> [{'name': 'ring', 'parameters': {}}] </tools> {\"title\": \"Other\"}"
                    .to_owned(),
            ),
        ] {
            assert_eq!(read(&record), Ok(expected.clone()), "{record}");
        }
    }

    #[test]
    fn a_conversation_without_tools_has_queries_and_an_invalid_record_is_reported() {
        assert_eq!(
            read(&json!({"conversations": [{"from": "human", "value": "Hi"}], "tools": "[]"}))
                .unwrap()
                .functions,
            [Value::Null; 0]
        );
        assert!(read(&json!({"text": "x"})).unwrap_err().contains("its keys are text"));
        assert_eq!(read(&json!({"tools": [{"name": "ring"}]})).unwrap().functions.len(), 1);
        assert!(read(&json!({"messages": [], "tools": null})).unwrap_err().contains("neither"));
        assert!(read(&json!({"messages": [], "tools": "[{"})).unwrap_err().contains("parse/truncated"));
    }
}
