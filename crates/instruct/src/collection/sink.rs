//! The sink `collection`: the kept tools, and their functions as tools of APIs.

use std::io::{BufWriter, Write as _};
use std::path::Path;

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
const TOOLS: &str = "tools.jsonl";
/// The functions as tools of OpenAI.
const FUNCTIONS: &str = "functions.jsonl";
/// The map of names.
const NAMES: &str = "names.jsonl";

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
        write(
            &into.join(FUNCTIONS),
            functions().map(|(_, function)| json!({"type": "function", "function": function["doc"]})),
        )?;
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

fn write(path: &Path, lines: impl Iterator<Item = Value>) -> Result<()> {
    let mut file = BufWriter::new(create(path)?);
    for line in lines {
        writeln!(file, "{line}").at("writing", path)?;
    }
    file.flush().at("writing", path)
}
