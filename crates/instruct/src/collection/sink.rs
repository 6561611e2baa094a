//! The sink `collection`: the kept tools, and their functions as tools of APIs.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use callsieve_docs::convert::{Api, convert};
use callsieve_docs::fix::{Safety, mended};
use callsieve_engine::columns::TOOL;
use callsieve_engine::context::Context;
use callsieve_engine::contract::Contract;
use callsieve_engine::disk::create;
use callsieve_engine::error::{At as _, Result};
use callsieve_engine::kind::KindSettings;
use callsieve_engine::sink::{Exported, FinishedTables, Sink};
use callsieve_engine::view::View;
use callsieve_engine::vocabulary::{ColumnSpec, TableId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The sink. It has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CollectionFiles {}

impl KindSettings for CollectionFiles {
    const NAME: &'static str = "collection";
    const SUMMARY: &'static str = "tools of an API collection, with legal names";
}

/// The tools with everything that is known of them.
pub const TOOLS: &str = "tools.jsonl";
/// The functions as tools of OpenAI.
pub const FUNCTIONS: &str = "functions.jsonl";
/// The map of names.
pub const NAMES: &str = "names.jsonl";

impl Sink for CollectionFiles {
    fn reads(&self) -> Vec<ColumnSpec> {
        vec![TOOL]
    }

    fn write(&self, from: &FinishedTables<'_>, into: &Path, cx: &Context<'_>) -> Result<Exported> {
        let view = View::new(from.corpus, &Contract::of(TableId::DocLists).reads(self.reads()));
        let mut tools: Vec<(u32, Value)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let rows = batch.map_rows(|row| (row.ix(), row.json::<Value>(TOOL)))?;
            tools.extend(rows.into_iter().filter_map(|(row, tool)| Some((view.position(row), tool?))));
            Ok(())
        })?;
        tools.sort_by_key(|(position, _)| *position);
        let tools: Vec<Value> = tools.into_iter().map(|(_, tool)| tool).collect();
        let functions = || {
            tools.iter().flat_map(|tool| {
                let functions = tool["functions"].as_array().into_iter().flatten();
                functions.map(move |function| (tool, function))
            })
        };
        write(&into.join(TOOLS), tools.iter().cloned())?;
        write(&into.join(FUNCTIONS), functions().map(|(_, function)| openai_tool(&function["doc"])))?;
        write(
            &into.join(NAMES),
            functions().map(|(tool, function)| {
                json!({"name": function["name"], "tool": tool["name"], "original_name": function["original_name"]})
            }),
        )?;
        let n_functions = functions().count() as u64;
        let counts = [("tools", tools.len() as u64), ("functions", n_functions)];
        Ok(Exported {
            counts: counts.into_iter().map(|(name, n)| (name.to_owned(), n)).collect(),
            ..Exported::default()
        })
    }
}

/// Returns a doc as a tool of OpenAI. One whose types are words of a language or another API, such as `list[str]` or `dict`,
/// is fixed and converted; the others are as written.
fn openai_tool(doc: &Value) -> Value {
    if has_types_of_json_schema(&doc["parameters"]) {
        return json!({"type": "function", "function": doc});
    }
    let (fixed, _) = mended(std::slice::from_ref(doc), Safety::Unsafe);
    let mut tools = convert(&fixed, Api::OpenAi).tools;
    match tools.pop() {
        Some(mut tool) => {
            // The legal name of the collection, not that of BFCL.
            tool["function"]["name"] = doc["name"].clone();
            tool
        }
        None => json!({"type": "function", "function": doc}),
    }
}

/// Whether every `type` of a schema is one of JSON Schema.
fn has_types_of_json_schema(schema: &Value) -> bool {
    const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];
    let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match schema {
        Value::Object(members) => members.iter().all(|(key, member)| match (key.as_str(), member) {
            ("type", Value::String(_)) => is_type(member),
            ("type", Value::Array(names)) => names.iter().all(is_type),
            // The names of parameters may be any word.
            ("properties" | "$defs" | "definitions", Value::Object(inner)) => {
                inner.values().all(has_types_of_json_schema)
            }
            ("enum" | "default" | "examples" | "example" | "const", _) => true,
            _ => has_types_of_json_schema(member),
        }),
        Value::Array(elements) => elements.iter().all(has_types_of_json_schema),
        _ => true,
    }
}

fn write(path: &Path, lines: impl Iterator<Item = Value>) -> Result<()> {
    let mut file = BufWriter::new(create(path)?);
    for line in lines {
        writeln!(file, "{line}").at("writing", path)?;
    }
    file.flush().at("writing", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_a_language_become_those_of_json_schema() {
        let doc = |of: &str| {
            json!({"name": "plant-bed", "description": "Plants a bed.", "parameters":
                {"type": "object", "properties": {"type": {"type": of, "description": "What is planted."}}, "required": ["type"]}})
        };
        let tool = openai_tool(&doc("string"));
        assert_eq!(tool["function"], doc("string"));
        let tool = openai_tool(&doc("list[str]"));
        let parameter = &tool["function"]["parameters"]["properties"]["type"];
        assert_eq!((&parameter["type"], &parameter["items"]["type"]), (&json!("array"), &json!("string")));
        assert_eq!(tool["function"]["name"], "plant-bed");
    }
}
