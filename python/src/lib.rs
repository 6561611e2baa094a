//! The compiled part of the Python package `callsieve`: `callsieve._native`.
//!
//! The functions here take plain values and return JSON, tables or plain values; the modules in `callsieve/` give them
//! types and documentation. `work` runs what takes long, `failure` makes exceptions, `table` exchanges tables by Arrow. What
//! a dataset needs is in the library; nothing of it is done again here.

mod command;
mod docs;
mod failure;
mod looks;
mod runs;
mod similarity;
mod table;
mod work;

use std::ffi::OsString;

use callsieve::Environment;
use pyo3::prelude::*;

/// The functions of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::docs::fix;
    #[pymodule_export]
    use super::looks::{check, evaluate, inspect};
    #[pymodule_export]
    use super::runs::{NativeRun, audit, generate, run_pipeline};
    #[pymodule_export]
    use super::similarity::{cosine_pairs, cosine_pairs_of_texts, rouge_l_pairs};
    #[pymodule_export]
    use super::table::{NativeTable, write_parquet};

    /// The version of the library.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// The folders, servers and keys that the environment of the process names.
fn environment(py: Python<'_>) -> PyResult<Environment> {
    Ok(Environment::read(|name| std::env::var_os(name)).with_supervisor(supervisor(py)?))
}

/// The command that supervises processes: this interpreter, with the command of the package.
fn supervisor(py: Python<'_>) -> PyResult<Vec<OsString>> {
    let interpreter: Option<OsString> = py.import("sys")?.getattr("executable")?.extract()?;
    // Without a path there is none, as in a program that embeds Python.
    let Some(interpreter) = interpreter.filter(|path| !path.is_empty()) else { return Ok(Vec::new()) };
    Ok(vec![interpreter, "-m".into(), "callsieve".into(), "supervise".into()])
}
