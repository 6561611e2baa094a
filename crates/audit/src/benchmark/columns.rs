//! Files whose columns have names of their own, and records of public sets.
//!
//! A column is a key of a JSON object, with dots into it, or a column of a table. A query is a text or a conversation,
//! functions are docs in any form, calls are JSON (`[{"name": …, "arguments": …}]`, `[{"f": {"a": 1}}]`) or Python.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::{At, BenchError, ReadEntry, Result, call_of, calls_of_texts, functions_of};
use super::formats::Source;
use super::read::{Reading, records};
use crate::item::{Docs, Item, ItemCall};
use callsieve_docs::parse::parse;
use callsieve_public_sets::formats::PublicSetFormat;
use callsieve_public_sets::record::{messages_of, queries_of};

const FORMAT: &str = "columns";

/// The columns of a benchmark; those of a role are used together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BenchColumns {
    /// Queries.
    pub query: Vec<String>,
    /// Function docs.
    pub functions: Vec<String>,
    /// Calls of the answer.
    pub calls: Vec<String>,
    /// The id.
    pub id: Vec<String>,
}

/// A column with its role, as `--bench-column` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchColumn {
    role: BenchRole,
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BenchRole {
    Query,
    Functions,
    Calls,
    Id,
}

impl FromStr for BenchColumn {
    type Err = BenchError;

    fn from_str(text: &str) -> std::result::Result<Self, BenchError> {
        let bad = || BenchError::Column { found: text.to_owned() };
        let (role, name) = text.split_once('=').filter(|(_, name)| !name.is_empty()).ok_or_else(bad)?;
        let role = match role {
            "query" => BenchRole::Query,
            "functions" => BenchRole::Functions,
            "calls" => BenchRole::Calls,
            "id" => BenchRole::Id,
            _ => return Err(bad()),
        };
        Ok(Self { role, name: name.to_owned() })
    }
}

impl FromIterator<BenchColumn> for BenchColumns {
    fn from_iter<I: IntoIterator<Item = BenchColumn>>(columns: I) -> Self {
        let mut named = Self::default();
        for BenchColumn { role, name } in columns {
            match role {
                BenchRole::Query => named.query.push(name),
                BenchRole::Functions => named.functions.push(name),
                BenchRole::Calls => named.calls.push(name),
                BenchRole::Id => named.id.push(name),
            }
        }
        named
    }
}

impl BenchColumns {
    /// Returns the columns by the name of their role.
    pub fn roles(&self) -> [(&'static str, &Vec<String>); 4] {
        [("query", &self.query), ("functions", &self.functions), ("calls", &self.calls), ("id", &self.id)]
    }

    /// Returns whether no column is named.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads the rows of a file by the names of its columns.
pub(super) fn read(source: &Source, reading: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let named = reading.named;
    let mut entries = Vec::new();
    for path in &source.files {
        for (position, record) in records(path, FORMAT)? {
            let at = At { path, line: position.line, format: FORMAT };
            if !named
                .query
                .iter()
                .chain(&named.functions)
                .chain(&named.calls)
                .any(|name| value_at(&record, name).is_some())
            {
                return Err(at.bad("the record", "a column of --bench-column", "none of them"));
            }
            let values = |names: &[String]| -> Vec<Value> {
                names
                    .iter()
                    .filter_map(|name| value_at(&record, name))
                    .filter(|value| !value.is_null())
                    .cloned()
                    .collect()
            };
            let mut functions = Vec::new();
            for docs in values(&named.functions) {
                functions.extend(docs_of(docs, at)?);
            }
            let queries =
                values(&named.query).iter().flat_map(|query| queries_of(&messages_of(query))).collect();
            let mut item = Item { queries, ..Item::default() };
            for calls in values(&named.calls) {
                item.calls.extend(
                    calls_in(&calls, &functions)
                        .ok_or_else(|| at.wrong("calls", "calls as JSON or Python", Some(&calls)))?,
                );
            }
            item.functions = Docs::Read(functions);
            let id = named.id.iter().find_map(|name| match value_at(&record, name)? {
                Value::String(id) => Some(id.clone()),
                Value::Number(id) => Some(id.to_string()),
                _ => None,
            });
            let id = id.unwrap_or_else(|| format!("{}:{}", source.name, position.line));
            entries.push(ReadEntry { id, record: position.record, item });
        }
    }
    Ok(entries)
}

/// Reads the records of a public set.
pub(super) fn read_public(source: &Source, format: &'static PublicSetFormat) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        for (position, record) in records(path, format.name)? {
            let at = At { path, line: position.line, format: format.name };
            let read = (format.read)(&record).map_err(|why| at.bad("the record", format.what, why))?;
            let id = read.id.unwrap_or_else(|| format!("{}:{}", source.name, position.line));
            let item =
                Item { queries: read.queries, functions: Docs::Read(read.functions), ..Item::default() };
            entries.push(ReadEntry { id, record: position.record, item });
        }
    }
    Ok(entries)
}

/// Returns the value at a path of keys with dots; a key that has the dots itself goes first.
fn value_at<'v>(record: &'v Value, path: &str) -> Option<&'v Value> {
    record.get(path).or_else(|| path.split('.').try_fold(record, |value, key| value.get(key)))
}

/// Returns the functions in docs of any form; an empty text or list has none.
fn docs_of(docs: Value, at: At<'_>) -> Result<Vec<Value>> {
    match docs {
        Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::String(text) => {
            let parsed =
                parse(&text).map_err(|fault| at.bad("functions", "function docs", fault.kind.code()))?;
            Ok(parsed.functions)
        }
        Value::Array(list) => Ok(functions_of(list)),
        other => Ok(functions_of(vec![other])),
    }
}

/// Returns the calls in a value.
fn calls_in(value: &Value, functions: &[Value]) -> Option<Vec<ItemCall>> {
    match value {
        Value::String(text) if text.trim().is_empty() => Some(Vec::new()),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => calls_in(&value, functions),
            _ => calls_of_texts([text.as_str()], functions),
        },
        Value::Array(list) => {
            let calls = list.iter().map(|call| calls_in(call, functions)).collect::<Option<Vec<_>>>()?;
            Some(calls.into_iter().flatten().collect())
        }
        Value::Object(call) => one_call(call).map(|call| vec![call]),
        _ => None,
    }
}

/// Returns a call written as an object: OpenAI's, one with name and arguments, or one under the function's name.
fn one_call(call: &Map<String, Value>) -> Option<ItemCall> {
    if let Some(Value::Object(inner)) = call.get("function") {
        return one_call(inner);
    }
    let name = ["name", "api", "api_name", "function"].iter().find_map(|key| call.get(*key)?.as_str());
    let Some(name) = name else {
        let (name, arguments) = call.iter().next().filter(|_| call.len() == 1)?;
        return Some(call_of(name, arguments.as_object()?));
    };
    let arguments = ["arguments", "parameters", "args", "kwargs"].iter().find_map(|key| call.get(*key));
    match arguments {
        None | Some(Value::Null) => Some(call_of(name, &Map::new())),
        Some(Value::Object(arguments)) => Some(call_of(name, arguments)),
        Some(Value::String(text)) => {
            Some(call_of(name, serde_json::from_str::<Value>(text).ok()?.as_object()?))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_in_every_form() {
        let expected = vec![call_of("ring", json!({"bell": "a"}).as_object().unwrap())];
        for value in [
            json!("ring(bell='a')"),
            json!("[ring(bell='a')]"),
            json!([{"name": "ring", "arguments": {"bell": "a"}}]),
            json!("[{\"name\": \"ring\", \"arguments\": \"{\\\"bell\\\": \\\"a\\\"}\"}]"),
            json!({"function": {"name": "ring", "arguments": "{\"bell\": \"a\"}"}, "id": "c", "type": "function"}),
            json!([{"ring": {"bell": "a"}}]),
            json!(["ring(bell='a')"]),
        ] {
            assert_eq!(calls_in(&value, &[]), Some(expected.clone()), "{value}");
        }
        for value in [json!("Ring it."), json!(7), json!([{"name": "ring", "arguments": [1]}])] {
            assert_eq!(calls_in(&value, &[]), None, "{value}");
        }
        assert_eq!(calls_in(&json!("  "), &[]), Some(Vec::new()));
    }

    #[test]
    fn a_column_has_a_role() {
        let columns: BenchColumns =
            ["query=a.b", "query=c", "id=n"].map(|text| text.parse().unwrap()).into_iter().collect();
        assert_eq!((columns.query.len(), &columns.id[..]), (2, &["n".to_owned()][..]));
        for bad in ["query", "query=", "answer=a"] {
            assert!(bad.parse::<BenchColumn>().unwrap_err().to_string().contains(bad), "{bad}");
        }
    }
}
