//! Glaive v1 and v2: one conversation as text.
//!
//! The grammar is that of logs, see `ingest::transcripts`; this reader takes only the functions and the user's turns. A
//! system text that announces no functions has none.

use serde_json::Value;

use super::record::{SetRecord, functions_of, id_of, keys_of};
use callsieve_ingest::transcripts;

/// Reads one record.
pub(super) fn read(record: &Value) -> Result<SetRecord, String> {
    let Some((functions, queries)) = transcripts::marked_parts(record) else {
        return Err(format!("neither system nor chat: {}", keys_of(record)));
    };
    let functions = functions.map_or_else(|| Ok(Vec::new()), |text| functions_of(&Value::String(text)))?;
    Ok(SetRecord { id: id_of(record), functions, queries })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SYSTEM: &str = "SYSTEM: You are a helpful assistant with access to the following functions. Use them if required -\n{\n \"name\": \"ring\"\n}\n\n{\n \"name\": \"peal\"\n}\n";
    const CHAT: &str = "USER: Ring it.\n\n\nASSISTANT: <functioncall> {\"name\": \"ring\"} <|endoftext|>\n\n\nFUNCTION RESPONSE: {}\n\n\nUSER: Again!\n\n\nASSISTANT: Done <|endoftext|>";

    #[test]
    fn both_versions_have_functions_and_turns() {
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
    fn a_conversation_without_functions_is_valid_and_broken_functions_are_a_fault() {
        let none = json!({"system": "SYSTEM: You are a helpful assistant, with no access to external functions.", "chat": CHAT});
        assert_eq!(read(&none).unwrap().functions, [Value::Null; 0]);
        let broken = json!({"system": "Use them if required - {\"name\": \"ring\"", "chat": CHAT});
        assert!(read(&broken).unwrap_err().contains("parse/truncated"));
        assert!(read(&json!({"x": 1})).is_err());
    }
}
