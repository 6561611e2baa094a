//! The settings file of an environment: its kind, and the settings of the kind.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::declared::{Declared, DeclaredSettings};
use crate::environment::Environment;
use crate::error::{EnvironmentError, FileFault};
#[cfg(unix)]
use crate::mcp::{Mcp, McpSettings};
#[cfg(unix)]
use crate::process::Supervisor;
#[cfg(unix)]
use crate::python::{Python, PythonSettings};
use crate::recorded::{Recorded, RecordedSettings};

/// The kinds of environments with their settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EnvironmentSettings {
    /// Tables and functions that a file declares.
    Declared(DeclaredSettings),
    /// Classes or functions of a Python module.
    #[cfg(unix)]
    Python(PythonSettings),
    /// An MCP server over standard input and output.
    #[cfg(unix)]
    Mcp(McpSettings),
    /// Calls and answers from a file.
    Recorded(RecordedSettings),
}

impl EnvironmentSettings {
    /// Reads a settings file in TOML. A file without `kind` declares an environment itself.
    ///
    /// # Errors
    /// The file cannot be read, or has a fault.
    pub fn read(path: &Path) -> Result<Self, EnvironmentError> {
        let fail = |cause| EnvironmentError::File { path: path.to_owned(), cause };
        let text = crate::declared::read_text(path).map_err(fail)?;
        let fault = |error: &toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            EnvironmentError::Declaration(Box::new(FileFault {
                file: path.display().to_string(),
                line,
                key: "the settings".to_owned(),
                found: error.message().trim_end().replace('\n', "; "),
                expected: "the settings of an environment".to_owned(),
                hint: Some("docs/environments.md lists the settings of each kind".to_owned()),
            }))
        };
        let table: toml::Table = toml::from_str(&text).map_err(|error| fault(&error))?;
        if !table.contains_key("kind") {
            return Ok(Self::Declared(DeclaredSettings { file: path.to_owned() }));
        }
        let mut settings: Self = toml::from_str(&text).map_err(|error| fault(&error))?;
        // Processes run in folders of their own.
        let folder = path.parent().unwrap_or(Path::new(""));
        settings.start_at(&std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()));
        Ok(settings)
    }

    /// Makes relative paths start at a folder.
    pub fn start_at(&mut self, folder: &Path) {
        match self {
            Self::Declared(settings) => settings.file = folder.join(&settings.file),
            #[cfg(unix)]
            Self::Python(settings) => settings.start_at(folder),
            #[cfg(unix)]
            Self::Mcp(settings) => settings.start_at(folder),
            Self::Recorded(settings) => settings.start_at(folder),
        }
    }

    /// Opens the environment. Kinds with processes start them by the supervisor.
    ///
    /// # Errors
    /// The environment cannot be opened.
    #[cfg(unix)]
    pub fn open(&self, supervisor: &Supervisor) -> Result<Box<dyn Environment>, EnvironmentError> {
        Ok(match self {
            Self::Declared(settings) => Box::new(Declared::open(settings)?),
            Self::Python(settings) => Box::new(Python::open(settings, supervisor)?),
            Self::Mcp(settings) => Box::new(Mcp::open(settings, supervisor)?),
            Self::Recorded(settings) => Box::new(Recorded::open(settings)?),
        })
    }
}
