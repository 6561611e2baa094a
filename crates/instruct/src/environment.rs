//! Opens an environment by the file that describes it.

use std::path::Path;
use std::sync::Arc;

use callsieve_engine::error::{Error, Result};
use callsieve_environment::declared::{Declared, DeclaredSettings};
use callsieve_environment::environment::Environment;

/// Opens the environment of a file: tables and functions that the file declares.
///
/// # Errors
/// The file cannot be read, or has a fault.
pub fn open(file: &Path) -> Result<Arc<dyn Environment>> {
    let settings = DeclaredSettings { file: file.to_owned() };
    let opened = Declared::open(&settings).map_err(|error| Error::Setting(error.to_string()))?;
    Ok(Arc::new(opened))
}
