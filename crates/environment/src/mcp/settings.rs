//! Settings of an environment that is an MCP server.

use std::collections::BTreeMap;
use std::path::Path;

use callsieve_text::content_hash::content_hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::declared::read_bytes;
use crate::error::EnvironmentError;
use crate::process::Network;
use crate::state_file::StateFile;

/// The deepest nesting that the reader of JSON accepts, with room for the messages around a result.
const MAX_DEPTH: usize = 100;

/// Settings of an environment that is an MCP server over standard input and output. It is started for each episode.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpSettings {
    /// The name of the environment.
    pub name: String,
    /// The command with its arguments; `{folder}` is the folder of the settings file. It is found by PATH.
    pub command: Vec<String>,
    /// Environment variables; `{home}` is the HOME folder of the episode, `{folder}` that of the settings file. The server
    /// has no others except PATH and HOME.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The file of initial states; without it there is one, which is empty.
    #[serde(default)]
    pub states: Option<StateFile>,
    /// How an initial state gets into the server; without it, none is loaded.
    #[serde(default)]
    pub load: Option<Load>,
    /// The call whose result is the state, such as `{ call = "read_graph" }`.
    #[serde(default)]
    pub state: Option<StateCall>,
    /// A JSON file below HOME that is the state, if no call is.
    #[serde(default)]
    pub state_file: Option<String>,
    /// Files below HOME whose texts are the state, if nothing else is.
    #[serde(default)]
    pub state_files: Vec<String>,
    /// Keeps a server for further episodes, for servers that keep nothing but files below HOME. HOME is emptied between them,
    /// the initial state is loaded again, and the server is only used if its state is then that of a new one; a state in files
    /// does not show what a server remembers besides. Needs a state. A program that is verified always gets a new server.
    #[serde(default)]
    pub reuse: bool,
    /// How long the server may take until it has listed its tools, in milliseconds.
    #[serde(default = "start_deadline_ms")]
    pub start_deadline_ms: u64,
    /// How long a call may take, in milliseconds.
    #[serde(default = "call_deadline_ms")]
    pub call_deadline_ms: u64,
    /// How long the server may take to end after its input was closed, in milliseconds; then it is killed.
    #[serde(default = "shutdown_deadline_ms")]
    pub shutdown_deadline_ms: u64,
    /// The largest message of the server, in bytes.
    #[serde(default = "max_result_bytes")]
    pub max_result_bytes: usize,
    /// The deepest nesting of a result, at most 100.
    #[serde(default = "max_depth")]
    pub max_depth: usize,
    /// The memory of a process, in bytes.
    #[serde(default = "memory_bytes")]
    pub memory_bytes: u64,
    /// Whether the server can reach the network.
    #[serde(default)]
    pub network: Network,
}

/// How an initial state gets into a server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// It is written into this file below HOME before the server starts: a text as it is, anything else as JSON.
    File(String),
    /// It is a list of calls, `{"name": …, "arguments": …}`, which are executed before those of the program.
    Calls,
}

/// A call that returns the state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateCall {
    /// The name of the function.
    pub call: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

const fn start_deadline_ms() -> u64 {
    30_000
}

const fn call_deadline_ms() -> u64 {
    10_000
}

const fn shutdown_deadline_ms() -> u64 {
    500
}

const fn max_result_bytes() -> usize {
    1 << 20
}

const fn max_depth() -> usize {
    64
}

const fn memory_bytes() -> u64 {
    2 << 30
}

impl McpSettings {
    /// Makes relative paths start at a folder.
    pub fn start_at(&mut self, folder: &Path) {
        let text = folder.to_string_lossy();
        let text = if text.is_empty() { "." } else { &*text };
        let absolute = std::path::absolute(text).unwrap_or_else(|_| folder.to_owned());
        let texts = self.command.iter_mut().chain(self.environment.values_mut());
        texts.for_each(|text| *text = text.replace("{folder}", &absolute.to_string_lossy()));
        if let Some(states) = &mut self.states {
            states.file = folder.join(&states.file).to_string_lossy().into_owned();
        }
    }

    pub(super) fn fault(&self, what: impl Into<String>) -> EnvironmentError {
        EnvironmentError::Setting { name: self.name.clone(), what: what.into() }
    }

    /// Checks ranges and paths.
    pub(super) fn check(&self) -> Result<(), EnvironmentError> {
        if self.command.is_empty() {
            return Err(self.fault("command is empty"));
        }
        if self.max_depth == 0 || self.max_depth > MAX_DEPTH {
            return Err(self.fault(format!("max_depth is from 1 to {MAX_DEPTH}, found {}", self.max_depth)));
        }
        let states = [self.state.is_some(), self.state_file.is_some(), !self.state_files.is_empty()];
        if states.iter().filter(|is_set| **is_set).count() > 1 {
            return Err(self.fault("state, state_file and state_files exclude each other"));
        }
        if self.reuse && !states.contains(&true) {
            return Err(
                self.fault("reuse needs a state, so that a used server can be compared with a new one")
            );
        }
        let load = match &self.load {
            Some(Load::File(file)) => Some(file),
            _ => None,
        };
        let is_below = |file: &&String| {
            let path = Path::new(file.as_str());
            path.components().next().is_some()
                && path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        match self.state_files.iter().chain(load).chain(&self.state_file).find(|file| !is_below(file)) {
            Some(file) => Err(self.fault(format!("{file} is not a path below HOME"))),
            None => Ok(()),
        }
    }

    /// Returns hashes of the files among the arguments of the command, such as the script of the server.
    pub(super) fn hashes_of_command(&self) -> Value {
        let hashes = self.command.iter().skip(1).map(|argument| {
            let text = read_bytes(Path::new(argument));
            text.map_or(Value::Null, |bytes| format!("{:032x}", content_hash(bytes)).into())
        });
        hashes.collect()
    }

    /// Returns the settings that can change a result, for the fingerprint.
    pub(super) fn of_results(&self) -> Value {
        json!({
            "command": self.command, "environment": self.environment, "load": self.load, "state": self.state,
            "reuse": self.reuse, "state_file": self.state_file, "state_files": self.state_files, "call_deadline_ms": self.call_deadline_ms,
            "max_result_bytes": self.max_result_bytes, "max_depth": self.max_depth, "memory_bytes": self.memory_bytes,
            "network": self.network, "states": self.states.as_ref().map(|states| [&states.name, &states.value]),
        })
    }
}
