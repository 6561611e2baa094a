//! An entry of a benchmark as read, and why one cannot be read.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::AuditError;
use crate::item::{Item, ItemCall};
use callsieve_answers::written::in_order;
use callsieve_docs::{dialect, json_type};
use callsieve_notation::python;

/// The result of reading a benchmark.
pub(super) type Result<T> = std::result::Result<T, AuditError>;

/// An entry as read, before it is indexed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadEntry {
    /// Its id.
    pub(super) id: String,
    /// Its number among the items of its file; the first is 1.
    pub(super) record: u64,
    /// What is compared.
    pub(super) item: Item,
}

/// Why a benchmark cannot be read. No text of an entry is in it.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A record is no entry.
    #[error(
        "{}:{line}: no entry of format {format}: \"{key}\": expected {expected}, found {found}\nhint: --bench-format names another format; with \"rows\" any file is read, with \"columns\" --bench-column names its columns",
        path.display()
    )]
    Record {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: u64,
        /// The format.
        format: &'static str,
        /// The key with the problem, or `the record`.
        key: &'static str,
        /// What is expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A line of a file that is read as rows cannot be read.
    #[error(
        "{}:{line}: unreadable row of a benchmark: found {found}, expected JSON or a row of the table\nhint: correct or remove the line; what is not read would never be found",
        path.display()
    )]
    Row {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: u64,
        /// What was found.
        found: String,
    },
    /// A format has an unknown name.
    #[error("--bench-format: found \"{name}\", expected one of {names}")]
    Format {
        /// The name.
        name: String,
        /// All names.
        names: String,
    },
    /// A column of `--bench-column` is not written as it must be.
    #[error(
        "--bench-column: found \"{found}\", expected ROLE=NAME with a role of query, functions, calls, id\nhint: --bench-column query=prompt --bench-column calls=answers"
    )]
    Column {
        /// What was given.
        found: String,
    },
}

/// A place in a file of a format, for errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) path: &'a Path,
    pub(super) line: u64,
    pub(super) format: &'static str,
}

impl At<'_> {
    /// Returns the error that a key has something else.
    pub(super) fn wrong(
        self,
        key: &'static str,
        expected: &'static str,
        found: Option<&Value>,
    ) -> AuditError {
        self.bad(key, expected, found.map_or("nothing", json_type::phrase))
    }

    /// Returns the error that something else was found.
    pub(super) fn bad(
        self,
        key: &'static str,
        expected: &'static str,
        found: impl Into<String>,
    ) -> AuditError {
        let Self { path, line, format } = self;
        BenchError::Record { path: path.to_owned(), line, format, key, expected, found: found.into() }.into()
    }

    /// Returns the text under a key.
    pub(super) fn text<'v>(self, record: &'v Value, key: &'static str) -> Result<&'v str> {
        let value = record.get(key);
        value.and_then(Value::as_str).ok_or_else(|| self.wrong(key, "a text", value))
    }

    /// Returns the list under a key.
    pub(super) fn list<'v>(self, record: &'v Value, key: &'static str) -> Result<&'v [Value]> {
        let value = record.get(key);
        value.and_then(Value::as_array).map(Vec::as_slice).ok_or_else(|| self.wrong(key, "a list", value))
    }
}

/// Returns the id under a key: a text or a number.
pub(super) fn id_at(record: &Value, key: &str) -> Option<String> {
    match record.get(key)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns a call with one value for each argument.
pub(super) fn call_of(name: &str, arguments: &Map<String, Value>) -> ItemCall {
    let arguments = arguments.iter().map(|(name, value)| (name.clone(), vec![value.clone()])).collect();
    ItemCall { name: name.to_owned(), arguments }
}

/// Returns the functions of docs in any form; those of none are empty.
pub(super) fn functions_of(docs: Vec<Value>) -> Vec<Value> {
    if docs.is_empty() {
        return Vec::new();
    }
    dialect::functions(Value::Array(docs.clone()), &mut Vec::new()).unwrap_or(docs)
}

/// Reads calls written as Python, all or none. Arguments without a name get those of the function's parameters, in order.
pub(super) fn calls_of_texts<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    functions: &[Value],
) -> Option<Vec<ItemCall>> {
    let mut calls = Vec::new();
    for text in texts {
        let read = python::calls(text.trim())
            .ok()
            .or_else(|| positional(text.trim(), functions).map(|call| vec![call]));
        calls.extend(read?.iter().map(|call| call_of(&call.name, &call.arguments)));
    }
    Some(calls)
}

/// Reads one call whose first arguments have no names.
fn positional(text: &str, functions: &[Value]) -> Option<python::PyCall> {
    let (name, arguments) = text.strip_suffix(')')?.split_once('(')?;
    let name = name.trim();
    let function = functions.iter().find(|function| function["name"] == name)?;
    let parameters = function.pointer("/parameters/properties")?.as_object()?;
    let order: Vec<String> = parameters.keys().cloned().collect();
    Some(python::PyCall { name: name.to_owned(), arguments: in_order(arguments, &order)? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_with_and_without_names_all_or_none() {
        let functions = [json!({"name": "sort", "parameters": {"properties": {"file": {}, "order": {}}}})];
        let read = |texts: &[&str]| calls_of_texts(texts.iter().copied(), &functions);
        let call = |pairs: &[(&str, Value)]| ItemCall {
            name: "sort".to_owned(),
            arguments: pairs.iter().map(|(name, value)| ((*name).to_owned(), vec![value.clone()])).collect(),
        };
        let named = call(&[("file", json!("a, b.txt"))]);
        assert_eq!(read(&["sort(file='a, b.txt')", " sort('a, b.txt')"]), Some(vec![named.clone(), named]));
        assert_eq!(read(&["sort('a', 2)"]), Some(vec![call(&[("file", json!("a")), ("order", json!(2))])]));
        assert_eq!(read(&["sort('a', order=2)"]), read(&["sort('a', 2)"]));
        assert_eq!(read(&["sort()"]), Some(vec![call(&[])]));
        for unread in ["sort(file=1/6)", "sort(1, 2, 3)", "other('a')", "Michael"] {
            assert_eq!(read(&["sort(file='a')", unread]), None, "{unread}");
        }
    }

    #[test]
    fn an_error_names_place_key_and_form_and_no_text() {
        let at = At { path: Path::new("a.jsonl"), line: 3, format: "toolbench" };
        let record = json!({"query": ["secret"]});
        let message = at.text(&record, "query").unwrap_err().to_string();
        assert!(
            message.starts_with(
                "a.jsonl:3: no entry of format toolbench: \"query\": expected a text, found a list\nhint: "
            ),
            "{message}"
        );
        assert!(at.list(&record, "api_list").unwrap_err().to_string().contains("found nothing"));
    }
}
