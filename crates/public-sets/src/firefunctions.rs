//! Firefunctions: `tools` as a list or JSON text, and a prompt that ends with the query.
//!
//! The last message of the prompt has an example, the functions again, and then the user's query, which is the text
//! after the last list of objects.

use serde_json::Value;
use serde_json::de::Deserializer;

use super::record::{SetRecord, first, functions_of, id_of, keys_of, messages_of};

/// The text of the prompt before its functions.
const MARKER: &str = "Here are the list functions available";

/// Reads one record.
pub(super) fn read(record: &Value) -> Result<SetRecord, String> {
    let Some(tools) = first(record, &["tools", "functions"]) else {
        return Err(format!("no tools: {}", keys_of(record)));
    };
    let prompt = first(record, &["prompt", "messages"]).map(messages_of).unwrap_or_default();
    let mut queries = Vec::new();
    for message in prompt.iter().filter(|message| matches!(message.role.as_str(), "user" | "human")) {
        let query = tail(&message.text).trim();
        if !query.is_empty() {
            queries.push(query.to_owned());
        }
    }
    Ok(SetRecord { id: id_of(record), functions: functions_of(tools)?, queries })
}

/// Returns the text after the list of functions; the whole text if there is none.
fn tail(text: &str) -> &str {
    let Some(at) = text.rfind(MARKER) else { return text };
    let Some(open) = text[at..].find('[') else { return &text[at + MARKER.len()..] };
    let list = &text[at + open..];
    let mut values = Deserializer::from_str(list).into_iter::<Value>();
    match values.next() {
        Some(Ok(_)) => &list[values.byte_offset()..],
        _ => list.rsplit(']').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_query_is_what_follows_the_functions() {
        let tools = json!([{"type": "function", "function": {"name": "ring", "parameters": {}}}]);
        let prompt = format!("Example: [1]\nhi\n{MARKER}\n{}\n\nRing [the] bell", json!([{"name": "ring"}]));
        for tools in [tools.clone(), json!(tools.to_string())] {
            let entry =
                read(&json!({"prompt": [{"role": "user", "content": prompt}], "tools": tools})).unwrap();
            assert_eq!(entry.queries, ["Ring [the] bell"]);
            assert_eq!(entry.functions[0]["name"], "ring");
        }
        assert_eq!(tail("Ring it"), "Ring it");
        assert_eq!(tail(&format!("{MARKER} [broken}}] Ring it")), " Ring it");
        assert!(read(&json!({"prompt": "x"})).unwrap_err().contains("no tools"));
    }
}
