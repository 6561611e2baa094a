//! The folder of recorded calls: a log that grows with each call, and the files that are made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plan::read_tools;
use super::record::RecordedCall;
use super::{FunctionOutcome, ProbedFunction};
use crate::collection::probe::ProbeRules;
use crate::engine::disk::write_atomic;
use crate::engine::error::{At as _, Error, Result};

/// The log, for rules for recorded calls, and to continue.
const LOG: &str = "log.jsonl";
/// The calls of the environment.
const CALLS: &str = "calls.jsonl";
/// The docs of its functions.
const DOCS: &str = "docs.jsonl";
/// All functions of the collection.
const FUNCTIONS: &str = "functions.jsonl";
/// The settings file of the environment.
pub(super) const SETTINGS: &str = "recorded.toml";
/// The functions of a collection as tools of OpenAI, with the type names of JSON Schema.
const TOOLS_OF_APIS: &str = "dataset/functions.jsonl";

/// The log of a folder, locked for this process.
pub(super) struct Journal {
    folder: PathBuf,
    file: File,
    calls: Vec<RecordedCall>,
}

impl Journal {
    /// Opens the log of a folder. What a killed process left of a last line is removed.
    pub(super) fn open(folder: &Path, is_fresh: bool) -> Result<Self> {
        std::fs::create_dir_all(folder).at("making", folder)?;
        let path = folder.join(LOG);
        let file = File::options().create(true).append(true).read(true).open(&path).at("opening", &path)?;
        if file.try_lock().is_err() {
            return Err(Error::Setting(format!(
                "{}: another command records calls in this file\nhint: wait for it, or give another folder with --out",
                path.display()
            )));
        }
        if is_fresh {
            file.set_len(0).at("writing", &path)?;
        }
        let (calls, n_bytes) = read_calls(&path)?;
        file.set_len(n_bytes as u64).at("writing", &path)?;
        Ok(Self { folder: folder.to_owned(), file, calls })
    }

    /// Returns the recorded calls.
    pub(super) fn calls(&self) -> &[RecordedCall] {
        &self.calls
    }

    /// Records a call.
    pub(super) fn add(&mut self, call: RecordedCall) -> Result<()> {
        let line = call.line() + "\n";
        self.file.write_all(line.as_bytes()).at("writing", &self.folder.join(LOG))?;
        self.calls.push(call);
        Ok(())
    }

    /// Writes all files, in the order of the names of functions. Returns the number of calls of the environment.
    pub(super) fn finish(&mut self, run: &Path, functions: &[ProbedFunction]) -> Result<usize> {
        // A call that was made again has its last answer.
        let by_key: BTreeMap<_, _> = self.calls.drain(..).map(|call| (call.key(), call)).collect();
        self.calls = by_key.into_values().collect();
        let rules = ProbeRules::built_in();
        let calls = self.calls.iter().filter_map(|call| call.for_environment(&rules));
        let calls: Vec<Value> = calls.collect();
        self.write(LOG, self.calls.iter().map(RecordedCall::line))?;
        self.write(CALLS, calls.iter().map(Value::to_string))?;
        self.write(DOCS, docs(run, &calls)?.iter().map(Value::to_string))?;
        self.write(FUNCTIONS, functions.iter().map(|function| described(function).to_string()))?;
        let name = self.folder.file_name().map_or_else(|| "recorded".into(), |name| name.to_string_lossy());
        let settings = format!(
            "# Recorded by `callsieve probe`.\nkind = \"recorded\"\nname = {}\nfile = \"{CALLS}\"\ndocs = \"{DOCS}\"\n",
            toml::Value::from(name.as_ref())
        );
        self.write(SETTINGS, [settings.trim_end().to_owned()].into_iter())?;
        Ok(calls.len())
    }

    fn write(&self, name: &str, lines: impl Iterator<Item = String>) -> Result<()> {
        let text: String = lines.map(|line| line + "\n").collect();
        write_atomic(&self.folder.join(name), text.as_bytes())
    }
}

/// Reads the calls of a folder, if it has some.
pub(super) fn recorded_calls(folder: &Path) -> Result<Vec<RecordedCall>> {
    let path = folder.join(LOG);
    if path.exists() { Ok(read_calls(&path)?.0) } else { Ok(Vec::new()) }
}

/// Returns the calls of a log, and the length of their lines: the last line may be cut.
fn read_calls(path: &Path) -> Result<(Vec<RecordedCall>, usize)> {
    let text = crate::side_file::read_text(path).at("reading", path)?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let calls = text[..whole].lines().enumerate().map(|(place, line)| {
        serde_json::from_str(line).map_err(|error| {
            let (path, number) = (path.display(), place + 1);
            Error::Input(format!(
                "{path}:{number}: found {error}, expected a recorded call\nhint: --fresh removes the recorded calls of the folder"
            ))
        })
    });
    Ok((calls.collect::<Result<_>>()?, whole))
}

/// Returns the docs of the functions that were called, with the schemas of their responses.
fn docs(run: &Path, calls: &[Value]) -> Result<Vec<Value>> {
    let called: BTreeSet<&str> = calls.iter().filter_map(|call| call["function"].as_str()).collect();
    let path = run.join(TOOLS_OF_APIS);
    let text = crate::side_file::read_text(&path).at("reading", &path)?;
    let read = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut docs: BTreeMap<String, Value> = read
        .filter_map(|mut tool| {
            let doc = tool["function"].take();
            Some((doc["name"].as_str().filter(|name| called.contains(name))?.to_owned(), doc))
        })
        .collect();
    for api in read_tools(run)?.into_iter().flat_map(|tool| tool.functions) {
        if let (Some(doc), Some(response)) = (docs.get_mut(&api.name), api.response) {
            doc["response"] = response;
        }
    }
    Ok(docs.into_values().collect())
}

/// Returns the line of a function.
fn described(probed: &ProbedFunction) -> Value {
    let planned = &probed.planned;
    let mut line = json!({"function": planned.function, "tool": planned.tool, "method": planned.method,
        "address": planned.address});
    match &probed.outcome {
        FunctionOutcome::Called(call) | FunctionOutcome::Recorded(call) => {
            line["outcome"] = "called".into();
            line["answer"] = call.described().into();
        }
        FunctionOutcome::Planned => line["outcome"] = "planned".into(),
        FunctionOutcome::NotCalled(not) => {
            line["outcome"] = "not-called".into();
            line["reason"] = not.reason.into();
            line["detail"] = not.detail.clone().into();
        }
    }
    line
}
