//! Entries of NESTFUL: `input`, and an `output` of labelled calls that refer to each other.
//!
//! The first release has the docs in a specification next to the data (`executable-data.json`, `executable-spec.json`),
//! the second has `output` and `tools` in each line as JSON in a text. The functions of an entry of the first are those
//! that it calls. `var_result` only names the results and is no call.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::entry::{At, ReadEntry, Result, call_of, functions_of, id_at};
use super::formats::{Source, has};
use super::read::{Peek, Reading, records};
use crate::item::{Docs, Item};

const FORMAT: &str = "nestful";
/// The call that only names results.
const RESULT: &str = "var_result";

/// Returns whether a file has entries.
pub(super) fn is_of(peek: &Peek<'_>) -> bool {
    peek.first_is(|record| {
        let is_labelled = |call: &Value| has(call, &["name", "label"]);
        let calls = opened(record.get("output"));
        let is_output =
            calls.as_ref().and_then(Value::as_array).is_some_and(|calls| calls.iter().any(is_labelled));
        record["input"].is_string() && is_output
    })
}

/// Reads the entries of a file.
pub(super) fn read(source: &Source, _: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        let specification =
            specification(path).map(|path| records(&path, FORMAT)).transpose()?.unwrap_or_default();
        for (position, record) in records(path, FORMAT)? {
            let at = At { path, line: position.line, format: FORMAT };
            let output = opened(record.get("output"));
            let output = output
                .as_ref()
                .and_then(Value::as_array)
                .ok_or_else(|| at.wrong("output", "a list of calls", record.get("output")))?;
            let mut calls = Vec::new();
            for call in output {
                let name = at.text(call, "name")?;
                let arguments = call.get("arguments").and_then(Value::as_object);
                if name != RESULT {
                    calls.push(call_of(name, arguments.unwrap_or(&Map::new())));
                }
            }
            let functions = if let Some(Value::Array(tools)) = opened(record.get("tools")) {
                tools
            } else {
                let is_called = |doc: &&Value| calls.iter().any(|call| doc["name"] == call.name.as_str());
                specification.iter().map(|(_, doc)| doc).filter(is_called).cloned().collect()
            };
            let id =
                id_at(&record, "sample_id").unwrap_or_else(|| format!("{}:{}", source.name, position.record));
            let functions = Docs::Read(functions_of(functions));
            let item = Item {
                queries: vec![at.text(&record, "input")?.to_owned()],
                functions,
                calls,
                ..Item::default()
            };
            entries.push(ReadEntry { id, record: position.record, item });
        }
    }
    Ok(entries)
}

/// Returns a value, or the one that is in it as text.
fn opened(value: Option<&Value>) -> Option<Value> {
    match value? {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    }
}

/// Returns the files that are read with a data file.
#[allow(clippy::unnecessary_wraps)] // Another reader of the table lists a folder.
pub(super) fn companions(data: &Path) -> Result<Vec<PathBuf>> {
    Ok(specification(data).into_iter().collect())
}

/// Returns the specification of a data file, if it is there.
fn specification(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.rsplit_once("data")?;
    let path = path.with_file_name(format!("{}spec{}", name.0, name.1));
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::benchmark::tests::read_files;

    fn output() -> Value {
        json!([{"name": "tide", "arguments": {"port": "Leith"}, "label": "var1"},
            {"name": "sail", "arguments": {"at": "$var1.time$"}, "label": "var2"}, {"name": "var_result", "arguments": {"trip": "$var2$"}}])
    }

    fn names(item: &Item) -> Vec<String> {
        let Docs::Read(functions) = &item.functions else { panic!("{item:?}") };
        functions.iter().map(|function| function["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_first_release_has_a_specification_next_to_it() {
        let doc = |name: &str| json!({"name": name, "description": "Does.", "query_parameters": {"port": {"type": "string", "required": true}}});
        let spec = json!([doc("tide"), doc("sail"), doc("row")]).to_string();
        let data = json!([{"input": "Sail at high tide.", "output": output()}]).to_string();
        let read = read_files(&[("executable-data.json", &data), ("executable-spec.json", &spec)]).unwrap();
        let [(category, entries)] = &read[..] else { panic!("{read:?}") };
        assert_eq!(
            (category.as_str(), entries[0].id.as_str()),
            ("executable-data.json", "executable-data.json:1")
        );
        assert_eq!(names(&entries[0].item), ["tide", "sail"]);
        assert_eq!(
            entries[0].item.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(),
            ["tide", "sail"]
        );
    }

    #[test]
    fn the_second_release_has_texts_of_json() {
        let tools =
            json!([{"name": "tide", "description": "Does.", "parameters": {"port": {"type": "str"}}}]);
        let record = json!({"sample_id": "a-1", "input": "Sail.", "output": output().to_string(), "tools": tools.to_string(), "gold_answer": "1"});
        let read = read_files(&[("nestful_data.jsonl", &record.to_string())]).unwrap();
        assert_eq!(
            (read[0].1[0].id.as_str(), &names(&read[0].1[0].item)[..]),
            ("a-1", &["tide".to_owned()][..])
        );
        let bad = format!("{record}\n{}", json!({"input": "Sail.", "output": "{"}));
        let error = read_files(&[("nestful_data.jsonl", &bad)]).unwrap_err().to_string();
        assert!(
            error.contains("nestful_data.jsonl:2:")
                && error.contains("\"output\": expected a list of calls, found a string"),
            "{error}"
        );
    }
}
