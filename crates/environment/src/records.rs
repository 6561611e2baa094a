//! Records of JSON and JSONL files.

use std::path::Path;

use serde_json::{Value, json};

use crate::declared::{Declared, DeclaredSettings, read_text};
use crate::environment::Environment as _;
use crate::error::{EnvironmentError, FileFault};

/// Reads the records of a file: the elements of a list, or one value a line. Blank lines are skipped. The records of a
/// file that declares an environment (`.toml`) are its initial states.
pub(crate) fn read(path: &Path) -> Result<Vec<Value>, EnvironmentError> {
    if path.extension().is_some_and(|ending| ending == "toml") {
        let declared = Declared::open(&DeclaredSettings { file: path.to_owned() })?;
        let states = declared.initial_states().iter();
        return Ok(states.map(|state| json!({"name": state.name, "value": state.value})).collect());
    }
    let text = read_text(path).map_err(|cause| EnvironmentError::File { path: path.to_owned(), cause })?;
    if let Ok(whole) = serde_json::from_str(&text) {
        return Ok(match whole {
            Value::Array(records) => records,
            one => vec![one],
        });
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let records = lines.map(|(place, line)| {
        serde_json::from_str(line)
            .map_err(|error| fault(path, place + 1, "a line", &error.to_string(), "a JSON value"))
    });
    records.collect()
}

/// Returns a fault in a file of records.
pub(crate) fn fault(path: &Path, line: usize, key: &str, found: &str, expected: &str) -> EnvironmentError {
    let [key, found, expected] = [key, found, expected].map(str::to_owned);
    EnvironmentError::Declaration(Box::new(FileFault {
        file: path.display().to_string(),
        line,
        key,
        found,
        expected,
        hint: None,
    }))
}
