//! Function docs of any form.

use std::io;
use std::path::PathBuf;

use callsieve::docs::convert::Api;
use callsieve::docs::fix::Safety;
use callsieve::fix::{FixError, FixOptions, fix as fixed};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::work::{Stops, work};

/// Fixes the docs of files, and returns the outcomes as JSON.
#[pyfunction]
#[pyo3(signature = (paths, *, form, safe_only))]
pub(crate) fn fix(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    form: String,
    safe_only: bool,
) -> PyResult<Vec<String>> {
    work(py, None, Stops::Soon, move |watch| {
        let mut options = FixOptions::new(paths);
        options.allow = if safe_only { Safety::Safe } else { Safety::Unsafe };
        options.api = api_of(&form)?;
        let mut lines = Vec::new();
        let counts = fixed(&options, |outcomes| {
            if watch.is_stopped() {
                return Err(io::Error::other("cancelled"));
            }
            for outcome in outcomes {
                lines.push(serde_json::to_string(outcome)?);
            }
            Ok(())
        });
        match counts {
            Ok(_) => Ok(lines),
            Err(FixError::Write(error)) => Err(error.into()),
            Err(error) => Err(error.into()),
        }
    })
}

/// The API of a name that `callsieve fix --as` has.
fn api_of(form: &str) -> Result<Option<Api>, Failure> {
    Ok(Some(match form {
        "bfcl" => return Ok(None),
        "openai" => Api::OpenAi,
        "anthropic" => Api::Anthropic,
        "mcp" => Api::Mcp,
        "gemini" => Api::Gemini,
        other => {
            return Err(Failure::new(&format!(
                "unknown form {other:?}\nhint: the forms are bfcl, openai, anthropic, mcp and gemini"
            )));
        }
    }))
}
