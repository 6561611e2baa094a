//! `NexusRaven`: functions as Python definitions, queries next to them or in separate files.
//!
//! V2's definitions are under `definition`, or as a signature in `function_calls` with its docstring in `descriptions`;
//! V1's are a list under `context`. Query files have `Input` or `query`.

use serde_json::Value;

use super::record::{SetRecord, first, functions_of, id_of, keys_of};

/// Reads one record.
pub(super) fn read(record: &Value) -> Result<SetRecord, String> {
    let mut functions = Vec::new();
    match record {
        Value::String(source) => functions.extend(functions_of(&Value::String(source.clone()))?),
        _ => {
            if let Some(docs) = first(record, &["definition", "context"]) {
                let docs: Vec<&Value> =
                    docs.as_array().map_or_else(|| vec![docs], |list| list.iter().collect());
                for doc in docs {
                    functions.extend(functions_of(doc)?);
                }
            } else if let Some(head) = record.get("function_calls").and_then(Value::as_str) {
                let text = record.get("descriptions").and_then(Value::as_str).unwrap_or_default();
                functions.extend(functions_of(&Value::String(joined(head, text)))?);
            }
        }
    }
    let query = first(record, &["Input", "query", "question"]).and_then(Value::as_str);
    let queries: Vec<String> = query.map(str::to_owned).into_iter().collect();
    if functions.is_empty() && queries.is_empty() {
        return Err(format!("neither a definition nor a query: {}", keys_of(record)));
    }
    Ok(SetRecord { id: id_of(record), functions, queries })
}

/// Joins a signature and its docstring to one definition; either may already be the whole.
fn joined(head: &str, text: &str) -> String {
    let (head, text) = (head.trim(), text.trim());
    if text.is_empty() || text.starts_with("def ") || !head.starts_with("def ") {
        return if text.starts_with("def ") { text.to_owned() } else { head.to_owned() };
    }
    let quoted = if text.starts_with(['"', '\'']) {
        text.to_owned()
    } else {
        format!("\"\"\"{}\"\"\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    };
    format!("{}:\n    {quoted}", head.trim_end_matches(':'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn definitions_are_read_under_every_key() {
        for record in [
            json!("def ring(bell: str):\n    '''Rings.'''"),
            json!({"definition": "def ring(bell: str):\n    \"\"\"Rings.\"\"\"\n    args = locals()"}),
            json!({"function_calls": "def ring(bell: str)", "descriptions": "Rings."}),
            json!({"function_calls": "def ring(bell: str):", "descriptions": "\"\"\"Rings.\"\"\""}),
            json!({"context": ["def ring(bell: str):\n 'Rings.'\n args_dict = locals()"], "query": "Ring it"}),
        ] {
            let entry = read(&record).unwrap_or_else(|why| panic!("{record}: {why}"));
            assert_eq!(entry.functions.len(), 1, "{record}");
            assert_eq!(entry.functions[0]["description"], "Rings.", "{record}");
            assert_eq!(entry.functions[0]["parameters"]["required"], json!(["bell"]), "{record}");
        }
    }

    #[test]
    fn a_record_with_only_a_query_is_read_and_others_are_refused() {
        assert_eq!(read(&json!({"Input": "Ring it", "Output": "ring()"})).unwrap().queries, ["Ring it"]);
        assert!(read(&json!({"Output": "ring()"})).unwrap_err().contains("its keys are Output"));
        assert!(read(&json!({"definition": "class Bell: pass"})).unwrap_err().contains("functions: parse/"));
    }
}
