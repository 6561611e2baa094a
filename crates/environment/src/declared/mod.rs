//! An environment that a file declares: tables, and functions that read and write them.
//!
//! `located` reads TOML with lines; `tables`, `functions`, `parameters` and `read_expression` check everything and resolve every name, so
//! that a call meets only faults of its arguments and its state; `perform` executes a call. `document` derives the function
//! docs, `sources` where values of parameters come from. docs/environments.md has the format.
//!
//! Everything runs inside the program and is deterministic: there is no clock, no chance, and no hidden state. A state is
//! shared until it is written, so starting an episode costs next to nothing.

mod document;
mod expression;
mod functions;
mod located;
mod model;
mod parameters;
mod perform;
mod read_expression;
mod sources;
mod tables;
mod value_type;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use callsieve_text::content_hash::content_hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::{Call, Failure, Observation, Origin};
use crate::canonical::{hash_of_canonical, write, write_text};
use crate::environment::{Environment, Episode, Execution, Function, InitialState, ParameterSource};
use crate::error::{EnvironmentError, FileFault};
use located::Section;
use model::{Declaration, Model, State};

/// Changes with every change of this module that changes a result.
const VERSION: u32 = 2;

/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Settings of an environment that a file declares.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclaredSettings {
    /// The TOML file with tables, functions and initial states.
    pub file: PathBuf,
}

/// An environment that a file declares.
#[derive(Debug)]
pub struct Declared {
    shared: Arc<Shared>,
    functions: Vec<Function>,
    initial_states: Vec<InitialState>,
    fingerprint: Value,
}

/// What all episodes share.
#[derive(Debug)]
struct Shared {
    model: Model,
    /// The canonical texts of the tables of each initial state, written when they are first needed.
    canonical: Vec<OnceLock<Vec<String>>>,
}

impl Declared {
    /// Reads the file of the settings.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or has a fault.
    pub fn open(settings: &DeclaredSettings) -> Result<Self, EnvironmentError> {
        let path = &settings.file;
        let fail = |cause| EnvironmentError::File { path: path.clone(), cause };
        let text = read_text(path).map_err(fail)?;
        Ok(Self::read(&path.display().to_string(), &text)?)
    }

    /// Reads the text of a file; `file` is its name in faults.
    ///
    /// # Errors
    /// The first fault of the text.
    pub fn read(file: &str, text: &str) -> Result<Self, Box<FileFault>> {
        let model = read_model(file, text)?;
        let functions =
            model.functions.iter().map(|declaration| document::function(&model, declaration)).collect();
        let initial_states = model
            .states
            .iter()
            .map(|(name, state)| InitialState { name: name.clone(), value: state.json(&model.tables) });
        let initial_states: Vec<InitialState> = initial_states.collect();
        let fingerprint = json!({
            "kind": "declared",
            "version": VERSION,
            "file": format!("{:032x}", content_hash(text)),
        });
        let canonical = initial_states.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { shared: Arc::new(Shared { model, canonical }), functions, initial_states, fingerprint })
    }

    /// Returns the position of a state of this environment. A state of the same name with other content is refused,
    /// because rows are checked when the file is read.
    fn position(&self, state: &InitialState) -> Result<usize, EnvironmentError> {
        let fail = |what: &str| EnvironmentError::State {
            name: self.name().to_owned(),
            state: state.name.clone(),
            what: what.to_owned(),
        };
        let position = self.initial_states.iter().position(|known| known.name == state.name);
        let position = position.ok_or_else(|| fail("the file declares no state of this name"))?;
        let known = &self.initial_states[position];
        if std::ptr::eq(known, state) || is_copy(&known.value, &state.value) {
            return Ok(position);
        }
        Err(fail("its content is not that of the file"))
    }

    fn episode(&self, state: &InitialState) -> Result<DeclaredEpisode, EnvironmentError> {
        let start = self.position(state)?;
        let state = self.shared.model.states[start].1.clone();
        Ok(DeclaredEpisode { shared: Arc::clone(&self.shared), start, state })
    }
}

/// Compares two values, fast for copies: their keys have the same order, so that nothing has to be looked up.
fn is_copy(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_copy(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let mut pairs = left.iter().zip(right);
            let is_in_order = left.len() == right.len()
                && pairs.all(|((left_key, left), (right_key, right))| {
                    left_key == right_key && is_copy(left, right)
                });
            is_in_order || left == right
        }
        _ => left == right,
    }
}

/// Reads a text file as a whole, up to the limit.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|_| std::io::Error::other("the file is not UTF-8"))
}

/// Reads a file as a whole, up to the limit.
pub(crate) fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    // Before it is opened: opening a pipe waits for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(std::io::Error::other(format!("the file has more than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    Ok(bytes)
}

fn read_model(file: &str, text: &str) -> Result<Model, Box<FileFault>> {
    let whole = located::parse(file, text)?;
    let top = Section::of(file, "", &whole)?;
    let name = top.text("name")?.to_owned();
    top.optional_text("description")?;
    let tables = tables::tables(&top)?;
    let conversions = tables::conversions(&top)?;
    let states = tables::states(&top, &tables)?;
    let functions = functions::functions(&top, &tables, &conversions)?;
    top.finish()?;
    Ok(Model { name, tables, conversions, functions, states })
}

impl Environment for Declared {
    fn name(&self) -> &str {
        &self.shared.model.name
    }

    fn origin(&self) -> Origin {
        Origin::Declared
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn initial_states(&self) -> &[InitialState] {
        &self.initial_states
    }

    fn value_sources(&self) -> Vec<ParameterSource> {
        sources::value_sources(&self.shared.model)
    }

    fn start(&self, state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError> {
        Ok(Box::new(self.episode(state)?))
    }

    fn fingerprint(&self) -> Value {
        self.fingerprint.clone()
    }

    fn run(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        let mut episode = self.episode(state)?;
        let execution = episode.run(calls);
        Ok(Execution { end_state: Some(episode.state.json(&self.shared.model.tables)), ..execution })
    }

    fn run_to_hash(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        Ok(self.episode(state)?.run(calls))
    }
}

struct DeclaredEpisode {
    shared: Arc<Shared>,
    /// The position of the initial state.
    start: usize,
    state: State,
}

impl DeclaredEpisode {
    fn run(&mut self, calls: &[Call]) -> Execution {
        let observations = calls.iter().map(|call| self.observe(call)).collect();
        Execution { observations, end_state: None, state_hash: Some(self.hash()) }
    }

    fn observe(&mut self, call: &Call) -> Observation {
        let model = &self.shared.model;
        let is_called = |function: &&Declaration| function.name == call.name;
        let Some(function) = model.functions.iter().find(is_called) else {
            return Observation::unknown_function(&call.name, Origin::Declared);
        };
        match perform::perform(model, function, &call.arguments, &mut self.state) {
            Ok(result) => Observation::success(result, Origin::Declared),
            Err(text) => Observation::failure(Failure::ErrorResult, text, Origin::Declared),
        }
    }

    /// Returns the hash of the state. Tables that no call wrote have the text of the initial state.
    fn hash(&self) -> String {
        let model = &self.shared.model;
        let initial = &model.states[self.start].1;
        let known = self.shared.canonical[self.start].get_or_init(|| {
            (0..model.tables.len()).map(|table| canonical_table(model, initial, table)).collect()
        });
        let mut members: Vec<(&str, Option<usize>)> = vec![("today", None)];
        members
            .extend(model.tables.iter().enumerate().map(|(place, table)| (table.name.as_str(), Some(place))));
        members.sort_unstable();
        let mut text = String::new();
        for (name, table) in members {
            text.push(if text.is_empty() { '{' } else { ',' });
            write_text(name, &mut text);
            text.push(':');
            match table {
                None => write_text(&self.state.today, &mut text),
                Some(table) if Arc::ptr_eq(&self.state.tables[table], &initial.tables[table]) => {
                    text.push_str(&known[table]);
                }
                Some(table) => text.push_str(&canonical_table(model, &self.state, table)),
            }
        }
        text.push('}');
        hash_of_canonical(&text)
    }
}

/// Returns the canonical text of a table.
fn canonical_table(model: &Model, state: &State, table: usize) -> String {
    let declared = &model.tables[table];
    let mut columns: Vec<(&str, usize)> =
        declared.columns.iter().enumerate().map(|(place, column)| (column.name.as_str(), place)).collect();
    columns.sort_unstable();
    let mut text = String::from("[");
    for (place, row) in state.tables[table].iter().enumerate() {
        text.push_str(if place == 0 { "{" } else { ",{" });
        for (place, (name, column)) in columns.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            write_text(name, &mut text);
            text.push(':');
            write(&row[*column], &mut text);
        }
        text.push('}');
    }
    text.push(']');
    text
}

impl Episode for DeclaredEpisode {
    fn call(&mut self, call: &Call) -> Result<Observation, EnvironmentError> {
        Ok(self.observe(call))
    }

    fn state(&mut self) -> Result<Option<Value>, EnvironmentError> {
        Ok(Some(self.state.json(&self.shared.model.tables)))
    }

    fn state_hash(&mut self) -> Result<Option<String>, EnvironmentError> {
        Ok(Some(self.hash()))
    }

    fn stop(self: Box<Self>) -> Result<(), EnvironmentError> {
        Ok(())
    }
}
