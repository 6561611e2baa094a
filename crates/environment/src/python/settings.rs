//! Settings of an environment in Python.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::EnvironmentError;
use crate::process::Network;
use crate::state_file::StateFile;

/// The deepest nesting that the reader of JSON accepts, with room for the messages around a value.
const MAX_DEPTH: usize = 100;

/// Settings of an environment of Python classes or functions. Relative paths start at the folder of the settings file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonSettings {
    /// The name of the environment.
    pub name: String,
    /// The interpreter, 3.8 or later.
    #[serde(default = "python3")]
    pub python: PathBuf,
    /// Folders in which modules are searched before the installed packages.
    #[serde(default)]
    pub path: Vec<PathBuf>,
    /// The module, or package, of `classes` and `functions`.
    #[serde(default)]
    pub module: Option<String>,
    /// Classes whose public methods are the functions, each with one instance an episode: `NAME` in `module`,
    /// `.PART:NAME` below it, or `MODULE:NAME`.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Functions, written as `classes` are.
    #[serde(default)]
    pub functions: Vec<String>,
    /// The method that loads an initial state into an instance; a class without it loads none. The state of a class is the
    /// member of the initial state with its name. Without this setting, its members become attributes.
    #[serde(default)]
    pub load: Option<String>,
    /// Further arguments of `load`, by name.
    #[serde(default)]
    pub load_arguments: BTreeMap<String, Value>,
    /// JSON or JSONL files with function docs, or folders of them; `package:NAME/…` is inside an installed package. A
    /// function without one has a doc by its signature and docstring.
    #[serde(default)]
    pub docs: Vec<String>,
    /// The file of initial states; without it there is one, which is empty.
    #[serde(default)]
    pub states: Option<StateFile>,
    /// Environment variables; `{home}` is the HOME folder of the process. It has no others except PATH and HOME.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Keys that make a result an error result if they have a value. As for the next two settings, the only element of a
    /// list counts as the result.
    #[serde(default = "error_keys")]
    pub error_keys: Vec<String>,
    /// A result is an error result if it is a text that begins with one of these.
    #[serde(default)]
    pub error_texts: Vec<String>,
    /// Members that make a result an error result, such as `success` with `false`.
    #[serde(default)]
    pub error_values: Vec<ErrorValue>,
    /// Attributes of instances that are part of the state although their names start with `_`.
    #[serde(default)]
    pub private_attributes: Vec<String>,
    /// How long importing the modules may take, in milliseconds.
    #[serde(default = "start_deadline_ms")]
    pub start_deadline_ms: u64,
    /// How long a call may take, in milliseconds.
    #[serde(default = "call_deadline_ms")]
    pub call_deadline_ms: u64,
    /// How long a program may take, in milliseconds.
    #[serde(default = "program_deadline_ms")]
    pub program_deadline_ms: u64,
    /// The largest result, in bytes of JSON.
    #[serde(default = "max_result_bytes")]
    pub max_result_bytes: usize,
    /// The largest state, in bytes of JSON.
    #[serde(default = "max_state_bytes")]
    pub max_state_bytes: usize,
    /// The deepest nesting of a result or state, at most 100.
    #[serde(default = "max_depth")]
    pub max_depth: usize,
    /// The memory of a process, in bytes.
    #[serde(default = "memory_bytes")]
    pub memory_bytes: u64,
    /// Whether calls can reach the network.
    #[serde(default)]
    pub network: Network,
    /// Runs every program in a newly started interpreter. Slower by the time of the imports.
    #[serde(default)]
    pub fresh: bool,
}

/// A member of a result that says that the call failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorValue {
    /// Its key.
    pub key: String,
    /// Its values that say so.
    pub values: Vec<Value>,
    /// The only function whose results it is looked for in; otherwise those of all.
    #[serde(default)]
    pub function: Option<String>,
}

fn python3() -> PathBuf {
    "python3".into()
}

fn error_keys() -> Vec<String> {
    vec!["error".to_owned()]
}

const fn start_deadline_ms() -> u64 {
    60_000
}

const fn call_deadline_ms() -> u64 {
    5_000
}

const fn program_deadline_ms() -> u64 {
    30_000
}

const fn max_result_bytes() -> usize {
    1 << 20
}

const fn max_state_bytes() -> usize {
    4 << 20
}

const fn max_depth() -> usize {
    64
}

const fn memory_bytes() -> u64 {
    2 << 30
}

impl PythonSettings {
    /// Makes relative paths start at a folder.
    pub fn start_at(&mut self, folder: &Path) {
        for path in &mut self.path {
            *path = folder.join(&*path);
        }
        if self.python.components().count() > 1 {
            self.python = folder.join(&self.python);
        }
        let files = self.docs.iter_mut().chain(self.states.as_mut().map(|states| &mut states.file));
        for file in files.filter(|file| !file.starts_with("package:")) {
            *file = folder.join(&*file).to_string_lossy().into_owned();
        }
    }

    pub(super) fn fault(&self, what: &str) -> EnvironmentError {
        EnvironmentError::Setting { name: self.name.clone(), what: what.to_owned() }
    }

    /// Checks ranges.
    pub(super) fn check(&self) -> Result<(), EnvironmentError> {
        if self.classes.is_empty() && self.functions.is_empty() {
            return Err(self.fault("expected classes or functions, found neither"));
        }
        if self.max_depth == 0 || self.max_depth > MAX_DEPTH {
            return Err(self.fault(&format!("max_depth is from 1 to {MAX_DEPTH}, found {}", self.max_depth)));
        }
        if self.call_deadline_ms == 0 || self.program_deadline_ms == 0 {
            return Err(self.fault("deadlines are at least 1 ms"));
        }
        Ok(())
    }

    /// Returns the settings that can change a result, for the fingerprint. Files are hashed by content, and folders differ
    /// from machine to machine.
    pub(super) fn of_results(&self) -> Value {
        json!({
            "module": self.module, "classes": self.classes, "functions": self.functions, "load": self.load,
            "load_arguments": self.load_arguments, "environment": self.environment, "error_keys": self.error_keys,
            "error_texts": self.error_texts, "error_values": self.error_values,
            "private_attributes": self.private_attributes, "call_deadline_ms": self.call_deadline_ms,
            "program_deadline_ms": self.program_deadline_ms, "max_result_bytes": self.max_result_bytes,
            "max_state_bytes": self.max_state_bytes, "max_depth": self.max_depth, "memory_bytes": self.memory_bytes,
            "network": self.network, "states": self.states.as_ref().map(|states| [&states.name, &states.value]),
        })
    }

    /// Returns the settings as the worker reads them.
    pub(super) fn of_worker(&self) -> Value {
        json!({
            "path": self.path, "module": self.module, "classes": self.classes, "functions": self.functions,
            "load": self.load, "load_arguments": self.load_arguments, "docs": self.docs,
            "states": self.states.as_ref().map(|states| &states.file), "error_keys": self.error_keys,
            "error_texts": self.error_texts, "error_values": self.error_values,
            "private_attributes": self.private_attributes, "call_deadline_ms": self.call_deadline_ms,
            "program_deadline_ms": self.program_deadline_ms, "max_result_bytes": self.max_result_bytes,
            "max_state_bytes": self.max_state_bytes, "max_depth": self.max_depth,
        })
    }
}
