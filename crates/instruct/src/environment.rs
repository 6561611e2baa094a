//! Opens an environment by the file that describes it.

use std::path::Path;
use std::sync::Arc;

use callsieve_engine::error::{Error, Result};
use callsieve_environment::environment::Environment;
use callsieve_environment::error::EnvironmentError;
use callsieve_environment::settings::EnvironmentSettings;
use callsieve_system::environment::Environment as System;

/// Opens the environment of a file: tables and functions that it declares, or the settings of another kind.
///
/// # Errors
/// The file cannot be read or has a fault, or what it names does not start.
pub fn open(file: &Path, system: &System) -> Result<Arc<dyn Environment>> {
    let settings = EnvironmentSettings::read(file).map_err(refused)?;
    opened(&settings, system).map(Arc::from)
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
