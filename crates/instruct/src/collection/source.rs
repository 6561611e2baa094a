//! The source `api-files`: tools of API collections.
//!
//! Each tool is an item and gives a doc list; a function that nobody could use, and what cannot be read, is an item with a
//! reason. What was counted in the files and read from them is a note of the source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callsieve_collection::collection::Collection;
use callsieve_collection::fault::ReadFault;
use callsieve_collection::filter::unfit;
use callsieve_collection::probe::{CalledFunctions, ProbeRules, read_calls};
use callsieve_collection::read::{Read, read_file, read_value};
use callsieve_collection::tool::{Api, Tool};
use callsieve_engine::columns::{TEXT, TOOL};
use callsieve_engine::context::Context;
use callsieve_engine::error::{At as _, Error, Result};
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_engine::kind::KindSettings;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::raw::{DocListRow, InputsRead, Intake, LineRow, RowCells, SourcePlace};
use callsieve_engine::source::Source;
use callsieve_engine::vocabulary::ColumnSpec;
use callsieve_system::environment::Environment as System;
use callsieve_system::folder_entries::entries;
use callsieve_system::side_file;
use callsieve_text::content_hash::content_hash;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The note on what was in the files and what was read.
pub const COUNTS: &str = "counts";

/// The source and its settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApiFiles {
    /// Files of tools, and folders of them, which are read to the bottom; see docs/collections.md.
    pub inputs: Vec<PathBuf>,
    /// Commands of MCP servers, whose tools are listed: each a program with its arguments.
    pub mcp: Vec<Vec<String>>,
    /// Logs of recorded calls: functions whose calls were never answered, or whose answers are errors, are left out. Without
    /// logs, and of functions that nobody called, nothing is known.
    pub calls: Vec<PathBuf>,
    /// A file of rules for recorded calls; see docs/collections.md. Without it, the built-in ones.
    pub probe_rules: Option<PathBuf>,
    /// What the program has from its surroundings.
    #[serde(skip)]
    #[schemars(skip)]
    system: System,
}

impl KindSettings for ApiFiles {
    const NAME: &'static str = "api-files";
    const SUMMARY: &'static str = "tools of API collections, with their functions";

    fn set_environment(&mut self, environment: &System) {
        self.system = environment.clone();
    }
}

impl ApiFiles {
    /// The files, with those of folders in the order of their names. Hidden ones are left out.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for input in &self.inputs {
            add_files(input, &mut files)?;
        }
        Ok(files)
    }

    fn reads(&self, files: &[PathBuf]) -> Result<Vec<Read>> {
        let of_file = |file: &PathBuf| read_file(file).map_err(|error| Error::Input(error.to_string()));
        let mut reads = files.par_iter().map(of_file).collect::<Result<Vec<Read>>>()?;
        for command in &self.mcp {
            reads.push(self.of_server(command)?);
        }
        Ok(reads)
    }

    /// The verdicts by recorded calls, with the lines of the logs that are not calls.
    fn called(&self, collection: &Collection) -> Result<(CalledFunctions, Vec<ReadFault>)> {
        let (mut probes, mut faults) = (Vec::new(), Vec::new());
        for file in &self.calls {
            let text = side_file::read_text(file).at("reading", file)?;
            let log = read_calls(&file.to_string_lossy(), &text);
            probes.extend(log.probes);
            faults.extend(log.faults);
        }
        Ok((CalledFunctions::of(&self.rules()?, probes, collection), faults))
    }

    fn rules(&self) -> Result<ProbeRules> {
        let Some(file) = &self.probe_rules else { return Ok(ProbeRules::built_in()) };
        let text = side_file::read_text(file).at("reading", file)?;
        ProbeRules::read(&text).map_err(|error| Error::Setting(format!("{}: {error}", file.display())))
    }

    /// The tools that a server lists.
    fn of_server(&self, command: &[String]) -> Result<Read> {
        let name = command.iter().rev().find(|word| !word.starts_with('-')).map_or("server", String::as_str);
        let name = Path::new(name)
            .file_stem()
            .map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned());
        let docs = crate::environment::tools_of_server(&name, command, &self.system)?;
        let tools: Vec<Value> = docs
            .iter()
            .map(|doc| {
                json!({"name": doc.get("name"), "description": doc.get("description"), "inputSchema": doc.get("parameters"), "outputSchema": doc.get("response")})
            })
            .map(without_nulls)
            .collect();
        Ok(read_value(&name, json!({ "tools": tools })))
    }
}

/// An object without its members that are null.
fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.retain(|_, member| !member.is_null());
    }
    value
}

fn add_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in entries(path).at("reading", path)? {
        if !entry.is_hidden() {
            add_files(&path.join(&entry.name), files)?;
        }
    }
    Ok(())
}

impl Source for ApiFiles {
    fn check(&self) -> Result<()> {
        if self.inputs.is_empty() && self.mcp.is_empty() {
            return Err(Error::Setting(
                "nothing to collect: no file and no server is named\nhint: callsieve collect my-api.json"
                    .to_owned(),
            ));
        }
        for file in self.files()?.iter().chain(&self.calls) {
            std::fs::File::open(file).at("opening", file)?;
        }
        self.rules().map(|_| ())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        // Names of files are part of names of tools and of the order.
        for file in self.files()? {
            fingerprint.add_part("file", file.to_string_lossy().as_bytes());
        }
        fingerprint.add_part("servers", json!(self.mcp).to_string().as_bytes());
        if !self.calls.is_empty() {
            let rules = match &self.probe_rules {
                Some(file) => side_file::read(file).at("reading", file)?,
                None => Vec::new(),
            };
            fingerprint.add_part("rules", &rules);
        }
        for command in &self.mcp {
            fingerprint.add_part("tools", json!(self.of_server(command)?.tools).to_string().as_bytes());
        }
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        vec![TEXT, TOOL]
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        self.files()?.iter().chain(&self.calls).map(|file| InputFile::read(file, &|| false)).collect()
    }

    fn read(&self, into: &mut Intake, cx: &Context<'_>) -> Result<InputsRead> {
        let files = self.files()?;
        let collection = Collection::of(self.reads(&files)?);
        let (called, unread) = self.called(&collection)?;
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
        let number_of: BTreeMap<String, u32> = (0..)
            .zip(files.iter().chain(&self.calls))
            .map(|(number, file)| (file.to_string_lossy().into_owned(), number))
            .collect();
        let mut items = Items { into, number_of, counted: BTreeMap::new() };
        for fault in collection.faults.iter().chain(&unread) {
            items.line(
                &fault.origin.source,
                true,
                fault.kind.code(),
                format!("{}: {}", fault.origin.at, fault.message),
            )?;
        }
        for tool in &collection.tools {
            items.tool(tool, &called)?;
        }
        let n_items = items.counted.values().sum();
        Ok(InputsRead {
            inputs: self.inputs()?,
            items: n_items,
            notes: [(COUNTS.to_owned(), counts(&collection, &called, !self.calls.is_empty()))].into(),
            ..InputsRead::default()
        })
    }
}

/// The figures of a collection, for people.
fn counts(collection: &Collection, called: &CalledFunctions, has_calls: bool) -> Value {
    let mut figures: serde_json::Map<String, Value> =
        collection.counts.named().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
    figures.insert(
        "renamed".to_owned(),
        json!(collection.names.iter().filter(|entry| entry.function != entry.name).count()),
    );
    figures.insert("merged_functions".to_owned(), json!(collection.merged_functions));
    if has_calls {
        let n_uncalled = collection.n_functions() - called.n_called();
        figures.insert("called_functions".to_owned(), json!(called.n_called()));
        figures.insert("uncalled_functions".to_owned(), json!(n_uncalled));
        figures.insert("calls_of_other_functions".to_owned(), json!(called.n_unknown));
    }
    figures.into()
}

/// Gives the items of each file their numbers.
struct Items<'a> {
    into: &'a mut Intake,
    number_of: BTreeMap<String, u32>,
    /// Items by file; those of servers are in a file after the last one.
    counted: BTreeMap<u32, u64>,
}

impl Items<'_> {
    fn next_place(&mut self, source: &str) -> SourcePlace {
        let file =
            self.number_of.get(source).copied().unwrap_or(u32::try_from(self.number_of.len()).unwrap_or(0));
        let n_items = self.counted.entry(file).or_default();
        *n_items += 1;
        SourcePlace { file, line: *n_items, record: *n_items }
    }

    fn line(&mut self, source: &str, unreadable: bool, reason: &'static str, detail: String) -> Result<()> {
        let place = self.next_place(source);
        self.into.line(LineRow { place, n_lines: 1, unreadable, ends_file: false, reason, detail })
    }

    /// The row of a tool, without the functions that nobody could use.
    fn tool(&mut self, tool: &Tool, called: &CalledFunctions) -> Result<()> {
        let mut usable = tool.clone();
        usable.functions.clear();
        for api in &tool.functions {
            let unfit = unfit(tool, api).map(|(rule, evidence)| (rule.code, evidence));
            match unfit.or_else(|| called.fault(&api.name)) {
                Some((code, evidence)) => {
                    let detail = format!("{} of {}: {evidence}", api.original_name, tool.name);
                    self.line(&tool.origin.source, false, code, detail)?;
                }
                None => usable.functions.push(api.clone()),
            }
        }
        if usable.functions.is_empty() {
            return Ok(());
        }
        let place = self.next_place(&tool.origin.source);
        let docs: Vec<&serde_json::Map<String, Value>> =
            usable.functions.iter().map(|api: &Api| &api.doc).collect();
        let cell = json!(usable).to_string();
        let cells =
            RowCells::default().with(TEXT, Some(json!(docs).to_string())).with(TOOL, Some(cell.clone()));
        self.into.doc_list(place, DocListRow { content_key: content_hash(&cell), cells })
    }
}
