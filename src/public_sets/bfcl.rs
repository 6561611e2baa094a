//! BFCL's own files, V1 to V4.
//!
//! `question` is a text (V1), a list of messages (V2) or a list of turns of them (V3, V4);
//! `function` one object or a list. Multi-turn files name classes instead of functions, and
//! answer files hold neither: both are told as unreadable.

use serde_json::Value;

use super::formats::{Entry, first, functions_of, id_of, keys_of, messages_of, queries_of};

/// Reads one record.
pub(super) fn read(record: &Value) -> Result<Entry, String> {
    let question = first(record, &["question"]).ok_or_else(|| format!("no question: {}", keys_of(record)))?;
    let function = first(record, &["function"]).ok_or_else(|| format!("no function: {}", keys_of(record)))?;
    Ok(Entry {
        id: id_of(record),
        functions: functions_of(function)?,
        queries: queries_of(&messages_of(question)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_version_gives_the_same_entry() {
        let message = json!({"role": "user", "content": "Ring it"});
        let function = json!({"name": "ring", "parameters": {"type": "dict"}});
        let expected = Entry {
            id: Some("a_1".to_owned()),
            functions: vec![function.clone()],
            queries: vec!["Ring it".to_owned()],
        };
        for question in [json!("Ring it"), json!([message]), json!([[message]])] {
            for function in [function.clone(), json!([function])] {
                let record = json!({"id": "a_1", "question": question, "function": function});
                assert_eq!(read(&record), Ok(expected.clone()), "{record}");
            }
        }
        assert!(read(&json!({"id": "a", "ground_truth": []})).unwrap_err().contains("no question"));
        assert!(read(&json!({"question": [], "involved_classes": []})).unwrap_err().contains("no function"));
    }
}
