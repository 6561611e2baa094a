//! Entries of Seal-Tools: `query` and `calling`, with the docs of `tool.jsonl` next to them.
//!
//! The functions of an entry are those that it calls; the others, which a retriever adds, are in no file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::entry::{At, ReadEntry, Result, call_of, functions_of, id_at};
use super::formats::{Source, has};
use super::read::{Peek, Reading, records};
use crate::item::{Docs, Item};

const FORMAT: &str = "seal-tools";
/// The file of the docs.
const TOOLS: &str = "tool.jsonl";

/// Returns whether a file has entries.
pub(super) fn is_of(peek: &Peek<'_>) -> bool {
    let is_call = |call: &Value| has(call, &["api", "parameters"]);
    peek.first_is(|record| {
        record["query"].is_string()
            && record["calling"].as_array().is_some_and(|calls| calls.iter().all(is_call))
    })
}

/// Returns the file of the docs, if it is there.
#[allow(clippy::unnecessary_wraps)] // Another reader of the table lists a folder.
pub(super) fn companions(entries: &Path) -> Result<Vec<PathBuf>> {
    let tools = entries.with_file_name(TOOLS);
    Ok(tools.is_file().then_some(tools).into_iter().collect())
}

/// Reads the entries of a file.
pub(super) fn read(source: &Source, _: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        let mut docs: HashMap<String, Value> = HashMap::new();
        for tools in companions(path)? {
            for (position, tool) in records(&tools, FORMAT)? {
                let at = At { path: &tools, line: position.line, format: FORMAT };
                docs.insert(at.text(&tool, "api_name")?.to_owned(), tool);
            }
        }
        for (position, record) in records(path, FORMAT)? {
            let at = At { path, line: position.line, format: FORMAT };
            let (mut calls, mut functions) = (Vec::new(), Vec::new());
            for call in at.list(&record, "calling")? {
                let name = at.text(call, "api")?;
                let arguments = call.get("parameters");
                let arguments = arguments
                    .and_then(Value::as_object)
                    .ok_or_else(|| at.wrong("parameters", "an object", arguments))?;
                let is_new = !calls.iter().any(|known: &crate::item::ItemCall| known.name == name);
                functions.extend(docs.get(name).filter(|_| is_new).cloned());
                calls.push(call_of(name, arguments));
            }
            let queries = vec![at.text(&record, "query")?.to_owned()];
            let functions = Docs::Read(functions_of(functions));
            let id = id_at(&record, "id").unwrap_or_else(|| format!("{}:{}", source.name, position.record));
            entries.push(ReadEntry {
                id,
                record: position.record,
                item: Item { queries, functions, calls, ..Item::default() },
            });
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::benchmark::tests::read_files;

    #[test]
    fn an_entry_has_the_docs_of_its_calls() {
        let call =
            |port: &str| json!({"api": "getTide", "parameters": {"port": port}, "responses": ["API_call_0"]});
        let entry = json!({"id": "dev-easy-0", "query": "Tides in Leith and Oban.", "calling": [call("Leith"), call("Oban")]});
        let tool = json!({"api_name": "getTide", "api_description": "Tells the tide", "field": "Sea", "required": ["port"],
            "parameters": {"port": {"type": "str", "description": "Which"}}, "responses": {"tide": {"type": "str", "description": "When"}}});
        let files = [
            ("dev.jsonl", entry.to_string()),
            ("tool.jsonl", tool.to_string()),
            ("field.jsonl", "{\"Sea\": []}".to_owned()),
        ];
        let read = read_files(&files.each_ref().map(|(name, text)| (*name, text.as_str()))).unwrap();
        let [(category, entries)] = &read[..] else { panic!("{read:?}") };
        assert_eq!((category.as_str(), entries[0].id.as_str()), ("dev.jsonl", "dev-easy-0"));
        let item = &entries[0].item;
        assert_eq!(item.calls.len(), 2);
        assert_eq!(item.calls[1].arguments, [("port".to_owned(), vec![json!("Oban")])]);
        let Docs::Read(functions) = &item.functions else { panic!("{item:?}") };
        assert_eq!((functions.len(), &functions[0]["name"]), (1, &json!("getTide")));
        let error = read_files(&[("dev.jsonl", "{\"query\": \"a\", \"calling\": []}\n{\"query\": \"a\"}")])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("dev.jsonl:2:") && error.contains("\"calling\": expected a list, found nothing"),
            "{error}"
        );
    }
}
