//! Reads BFCL's own files, V1 to V4.
//!
//! `bfcl::entry` reads a line; this reader only takes its functions and queries. Multi-turn files have class names
//! instead of functions, and answer files have neither: both are reported as unreadable.

use serde_json::Value;

use super::record::{SetRecord, functions_of, id_of, keys_of};
use callsieve_bfcl::conversation::Role;
use callsieve_bfcl::entry;

/// Reads one record.
pub(super) fn read(record: &Value) -> Result<SetRecord, String> {
    let read = entry::Entry::read(record).map_err(|fault| format!("{fault}; {}", keys_of(record)))?;
    let functions = functions_of(read.function)?;
    let asked = |text: &String| !text.trim().is_empty();
    let users = read.into_messages().into_iter().filter(|message| message.role == Role::User);
    Ok(SetRecord {
        id: id_of(record),
        functions,
        queries: users.map(|user| user.content).filter(asked).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_version_is_read_as_the_same_record() {
        let message = json!({"role": "user", "content": "Ring it"});
        let function = json!({"name": "ring", "parameters": {"type": "dict"}});
        let expected = SetRecord {
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
        assert!(read(&json!({"id": "a", "ground_truth": []})).unwrap_err().starts_with("\"question\""));
        assert!(
            read(&json!({"question": [], "involved_classes": []})).unwrap_err().starts_with("\"function\"")
        );
    }
}
