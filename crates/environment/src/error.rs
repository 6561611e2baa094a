//! What keeps an environment from working.

use std::path::PathBuf;

/// An environment cannot be opened, started or reached. What a call returns is an observation, never one of these.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// A file cannot be read.
    #[error("environment {}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system reports.
        cause: std::io::Error,
    },
    /// A file does not have the format of its kind.
    #[error(transparent)]
    Declaration(#[from] Box<FileFault>),
    /// A setting cannot be used.
    #[error("environment {name}: {what}")]
    Setting {
        /// The name of the environment.
        name: String,
        /// The fault, with a hint.
        what: String,
    },
    /// A process does not start, or does not speak its protocol.
    #[error("environment {name}: {what}")]
    Process {
        /// The name of the environment.
        name: String,
        /// What happened.
        what: String,
    },
    /// There is no initial state of this form.
    #[error("environment {name}: initial state {state}: {what}")]
    State {
        /// The name of the environment.
        name: String,
        /// The name of the state.
        state: String,
        /// Why it cannot be loaded.
        what: String,
    },
}

/// A fault in a file that people write, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("environment {file}:{line}: {key}: found {found}, expected {expected}{}", hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default())]
pub struct FileFault {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key, such as `functions[2].parameters.order_id.column`.
    pub key: String,
    /// What the file has there.
    pub found: String,
    /// What would be right.
    pub expected: String,
    /// How to get there.
    pub hint: Option<String>,
}
