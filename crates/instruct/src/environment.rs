//! Opens an environment by the file that describes it, or by the collection that has its functions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callsieve_engine::error::{At as _, Error, Result};
use callsieve_environment::environment::Environment;
use callsieve_environment::error::EnvironmentError;
use callsieve_environment::restricted::Restricted;
use callsieve_environment::settings::EnvironmentSettings;
use callsieve_environment::unexecuted::Unexecuted;
use callsieve_system::environment::Environment as System;
use callsieve_system::side_file;
use serde_json::Value;

use crate::collection::sink::FUNCTIONS;

/// Opens the environment of a file: tables and functions that it declares, or the settings of another kind.
///
/// # Errors
/// The file cannot be read or has a fault, or what it names does not start.
pub fn open(file: &Path, system: &System) -> Result<Arc<dyn Environment>> {
    let settings = EnvironmentSettings::read(file).map_err(refused)?;
    opened(&settings, system).map(Arc::from)
}

/// Returns the file of a collection's functions, as tools of OpenAI.
pub fn functions_file(run: &Path) -> PathBuf {
    run.join("dataset").join(FUNCTIONS)
}

/// Returns the docs of the functions of a collection.
fn functions(run: &Path) -> Result<Vec<Value>> {
    let file = functions_file(run);
    if !file.is_file() {
        return Err(Error::Setting(format!(
            "{} is not the run folder of a collection: there is no {}\nhint: callsieve collect FILE --out {} makes one",
            run.display(),
            file.display(),
            run.display()
        )));
    }
    let text = side_file::read_text(&file).at("reading", &file)?;
    let lines = text.lines().enumerate();
    let doc = |(at, line): (usize, &str)| {
        let tool: Value = serde_json::from_str(line)
            .map_err(|error| Error::Input(format!("{}:{}: {error}", file.display(), at + 1)))?;
        Ok(tool["function"].clone())
    };
    lines.map(doc).collect()
}

/// Opens a collection without an environment: its functions are not executed.
///
/// # Errors
/// The folder is not the run of a collection, or has no function.
pub fn of_collection(run: &Path) -> Result<Arc<dyn Environment>> {
    let name =
        run.file_name().map_or_else(|| "collection".to_owned(), |name| name.to_string_lossy().into_owned());
    let environment = Unexecuted::new(name, &functions(run)?);
    if environment.functions().is_empty() {
        return Err(Error::Setting(format!("the collection {} has no function", run.display())));
    }
    Ok(Arc::new(environment))
}

/// Restricts an environment to the functions of a collection.
///
/// # Errors
/// The folder is not the run of a collection, or the environment has none of its functions.
pub fn within_collection(environment: Arc<dyn Environment>, run: &Path) -> Result<Arc<dyn Environment>> {
    let names: BTreeSet<String> =
        functions(run)?.iter().filter_map(|doc| doc["name"].as_str().map(str::to_owned)).collect();
    let name = environment.name().to_owned();
    let restricted = Restricted::new(environment, &names);
    if restricted.functions().is_empty() {
        return Err(Error::Setting(format!(
            "the environment {name} has no function of the collection {}\nhint: functions are matched by name; dataset/names.jsonl of the collection has the names that it changed",
            run.display()
        )));
    }
    Ok(Arc::new(restricted))
}

#[cfg(unix)]
fn opened(settings: &EnvironmentSettings, system: &System) -> Result<Box<dyn Environment>> {
    use callsieve_environment::process::Supervisor;
    let needs_processes = matches!(settings, EnvironmentSettings::Python(_) | EnvironmentSettings::Mcp(_));
    if needs_processes && system.supervisor().is_empty() {
        return Err(Error::Setting(
            "an environment with processes needs a supervisor, and this program names none\nhint: give the registry an environment `with_supervisor`, such as [\"callsieve\", \"supervise\"]".to_owned(),
        ));
    }
    let supervisor = Supervisor { command: system.supervisor().to_vec(), path: system.path().to_owned() };
    settings.open(&supervisor).map_err(refused)
}

#[cfg(not(unix))]
fn opened(settings: &EnvironmentSettings, _system: &System) -> Result<Box<dyn Environment>> {
    use callsieve_environment::declared::Declared;
    use callsieve_environment::recorded::Recorded;
    Ok(match settings {
        EnvironmentSettings::Declared(settings) => Box::new(Declared::open(settings).map_err(refused)?),
        EnvironmentSettings::Recorded(settings) => Box::new(Recorded::open(settings).map_err(refused)?),
    })
}

/// Returns the docs of the tools that an MCP server lists.
///
/// # Errors
/// The server does not start, or does not speak the protocol.
#[cfg(unix)]
pub fn tools_of_server(
    name: &str,
    command: &[String],
    system: &System,
) -> Result<Vec<serde_json::Map<String, serde_json::Value>>> {
    let settings = serde_json::json!({"kind": "mcp", "name": name, "command": command});
    let settings: EnvironmentSettings =
        serde_json::from_value(settings).map_err(|error| Error::Setting(error.to_string()))?;
    Ok(opened(&settings, system)?.functions().iter().map(|function| function.doc.clone()).collect())
}

/// Returns nothing but an error: servers are not started on this system.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn tools_of_server(
    name: &str,
    _command: &[String],
    _system: &System,
) -> Result<Vec<serde_json::Map<String, serde_json::Value>>> {
    Err(Error::Setting(format!("MCP server {name}: servers are not started on this system")))
}

#[allow(clippy::needless_pass_by_value)] // What `map_err` passes.
fn refused(error: EnvironmentError) -> Error {
    Error::Setting(error.to_string())
}
