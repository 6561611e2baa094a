//! Glaive v1 and v2: one conversation as text.
//!
//! v2 has `system` and `chat`, v1 one field of both. Functions stand behind "Use them if
//! required" as objects side by side; a system text of "no access to … functions" has none.

use serde_json::Value;

use super::formats::{Entry, first, functions_of, id_of, keys_of};

/// What stands ahead of the functions.
const MARKER: &str = "Use them if required";

/// What begins a turn.
const TURNS: [&str; 4] = ["USER:", "ASSISTANT:", "FUNCTION RESPONSE:", "SYSTEM:"];

/// Reads one record.
pub(super) fn read(record: &Value) -> Result<Entry, String> {
    let text = |keys: &[&str]| first(record, keys).and_then(Value::as_str);
    let (system, chat) = match (text(&["system"]), text(&["chat", "text", "sample"])) {
        (Some(system), chat) => (system, chat.unwrap_or_default()),
        (None, Some(whole)) => whole.split_at(whole.find("USER:").unwrap_or(whole.len())),
        (None, None) => return Err(format!("neither system nor chat: {}", keys_of(record))),
    };
    let functions = match system.split_once(MARKER) {
        Some((_, rest)) => {
            let objects = rest.find(['{', '[']).map_or("", |at| &rest[at..]);
            functions_of(&Value::String(objects.trim().to_owned()))?
        }
        None => Vec::new(),
    };
    Ok(Entry { id: id_of(record), functions, queries: turns(chat) })
}

/// What stands behind each `USER:`, up to the next turn.
fn turns(chat: &str) -> Vec<String> {
    let asked = chat.split("USER:").skip(1).map(|turn| {
        let end = TURNS.iter().filter_map(|mark| turn.find(mark)).min().unwrap_or(turn.len());
        turn[..end].replace("<|endoftext|>", "").trim().to_owned()
    });
    asked.filter(|query| !query.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SYSTEM: &str = "SYSTEM: You are a helpful assistant with access to the following functions. Use them if required -\n{\n \"name\": \"ring\"\n}\n\n{\n \"name\": \"peal\"\n}\n";
    const CHAT: &str = "USER: Ring it.\n\n\nASSISTANT: <functioncall> {\"name\": \"ring\"} <|endoftext|>\n\n\nFUNCTION RESPONSE: {}\n\n\nUSER: Again!\n\n\nASSISTANT: Done <|endoftext|>";

    #[test]
    fn both_versions_give_functions_and_turns() {
        for record in
            [json!({"system": SYSTEM, "chat": CHAT}), json!({"sample": format!("{SYSTEM}\n{CHAT}")})]
        {
            let entry = read(&record).unwrap();
            let names: Vec<&Value> = entry.functions.iter().map(|function| &function["name"]).collect();
            assert_eq!(names, ["ring", "peal"]);
            assert_eq!(entry.queries, ["Ring it.", "Again!"]);
        }
    }

    #[test]
    fn a_talk_without_functions_is_no_fault_and_broken_ones_are() {
        let none = json!({"system": "SYSTEM: You are a helpful assistant, with no access to external functions.", "chat": CHAT});
        assert_eq!(read(&none).unwrap().functions, [Value::Null; 0]);
        let broken = json!({"system": format!("{MARKER} - {{\"name\": \"ring\""), "chat": CHAT});
        assert!(read(&broken).unwrap_err().contains("parse/truncated"));
        assert!(read(&json!({"x": 1})).is_err());
    }
}
