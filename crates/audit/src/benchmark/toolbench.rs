//! Queries of `ToolBench` and `StableToolBench`: `query`, `query_id` and the `api_list` on offer.
//!
//! The APIs keep their own names. `relevant APIs` names the expected ones without arguments, so there are no calls.

use serde_json::Value;

use super::entry::{At, ReadEntry, Result, functions_of, id_at};
use super::formats::{Source, has};
use super::read::{Peek, Reading, records};
use crate::item::{Docs, Item};

const FORMAT: &str = "toolbench";

/// Returns whether a file is one of queries.
pub(super) fn is_of(peek: &Peek<'_>) -> bool {
    peek.first_is(|record| has(record, &["query", "query_id", "api_list"]))
}

/// Reads the queries of a file.
pub(super) fn read(source: &Source, _: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        for (position, record) in records(path, FORMAT)? {
            let at = At { path, line: position.line, format: FORMAT };
            let queries = match record.get("query") {
                Some(Value::String(text)) => vec![text.clone()],
                // Some queries are lists of sentences.
                Some(Value::Array(parts)) => {
                    parts.iter().filter_map(|part| part.as_str().map(str::to_owned)).collect()
                }
                other => return Err(at.wrong("query", "a text or a list of texts", other)),
            };
            let functions = functions_of(at.list(&record, "api_list")?.to_vec());
            let id =
                id_at(&record, "query_id").unwrap_or_else(|| format!("{}:{}", source.name, position.record));
            let item = Item { queries, functions: Docs::Read(functions), ..Item::default() };
            entries.push(ReadEntry { id, record: position.record, item });
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
    fn a_query_has_its_apis_under_their_names() {
        let api = |name: &str| {
            json!({"category_name": "Sea", "tool_name": "tides", "api_name": name, "api_description": "Tells.", "method": "GET",
                "required_parameters": [{"name": "port", "type": "STRING", "description": "Which.", "default": "Leith"}], "optional_parameters": []})
        };
        let records = json!([
            {"api_list": [api("High"), api("Low")], "query": "When is high tide?", "relevant APIs": [["tides", "High"]], "query_id": 17},
            {"api_list": [api("Low")], "query": ["One.", "Two."], "query_id": 18},
        ]);
        let read = read_files(&[("G1_category.json", &records.to_string())]).unwrap();
        let [(category, entries)] = &read[..] else { panic!("{read:?}") };
        assert_eq!(category, "G1_category.json");
        assert_eq!(
            (entries[0].id.as_str(), &entries[0].item.queries[..]),
            ("17", &["When is high tide?".to_owned()][..])
        );
        assert_eq!(entries[1].item.queries, ["One.", "Two."]);
        let Docs::Read(functions) = &entries[0].item.functions else { panic!("{entries:?}") };
        assert_eq!(functions.iter().map(|function| &function["name"]).collect::<Vec<_>>(), ["High", "Low"]);
        assert!(entries.iter().all(|entry| entry.item.calls.is_empty()));
    }

    #[test]
    fn a_query_without_apis_is_an_error_with_its_line() {
        let text = "[\n{\"query\": \"a\", \"query_id\": 1, \"api_list\": []},\n{\"query\": \"b\", \"query_id\": 2}\n]";
        let error = read_files(&[("G1_query.json", text)]).unwrap_err().to_string();
        assert!(
            error.contains(
                "G1_query.json:3: no entry of format toolbench: \"api_list\": expected a list, found nothing"
            ),
            "{error}"
        );
    }
}
