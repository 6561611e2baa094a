//! API collections: a row for each tool, with its functions as a doc list, and no request.

pub mod sink;
pub mod source;

use std::path::Path;

pub use callsieve_collection::declare::Draft;
use callsieve_collection::declare::draft_of;
use callsieve_collection::declare::file::to_file;
use callsieve_collection::read::read_file;
use callsieve_engine::error::{Error, Result};

/// Drafts a declared environment of an API description: its resources become tables, its operations functions on them.
/// Returns the text of the file, for a person to correct, and the draft.
///
/// # Errors
/// The file cannot be read, or none of its operations shows what it does.
pub fn draft_environment(file: &Path) -> Result<(String, Draft)> {
    let read = read_file(file).map_err(|error| Error::Input(error.to_string()))?;
    let drafts = read.tools.iter().map(draft_of).filter(|draft| !draft.functions.is_empty());
    let Some(draft) = drafts.max_by_key(|draft| draft.functions.len()) else {
        return Err(no_draft(file));
    };
    to_file(&draft).map(|text| (text, draft)).ok_or_else(|| no_draft(file))
}

fn no_draft(file: &Path) -> Error {
    Error::Input(format!(
        "{}: no operation shows what it does to a resource\nhint: an environment is drafted from the paths and methods of an API description; docs/environments.md describes how to write one",
        file.display()
    ))
}
