//! The command line of callsieve in a process of Python.

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::supervisor;

/// Runs a command line, of which the first word is the name of the program, and returns its exit code. Call it once a process:
/// it sets the handler of Ctrl-C and the number of threads.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let supervisor = supervisor(py)?;
    Ok(py.detach(|| callsieve::cli::main_of(arguments, supervisor)))
}
