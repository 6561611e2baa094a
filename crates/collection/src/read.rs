//! Reads one source: a file, a text or a value in memory.
//!
//! The format is recognised by content. The names of functions are legal and unique in the source; `Collection` gives
//! names that are unique among all sources.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use callsieve_system::side_file;

use crate::census::Census;
use crate::counts::Counts;
use crate::document::{Document, Source, fault, of_text, of_value};
use crate::fault::{FaultKind, ReadError, ReadFault};
use crate::reading::Reading;
use crate::tool::{LooseResponse, Tool};
use crate::{format, names};

/// What was read from one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Read {
    /// The path of the file, or the name of the value.
    pub source: String,
    /// The name of the format; none for a source that could not be read at all.
    pub format: Option<&'static str>,
    /// The tools, in the order of the source.
    pub tools: Vec<Tool>,
    /// Schemas of responses without their functions.
    pub responses: Vec<LooseResponse>,
    /// What could not be read.
    pub faults: Vec<ReadFault>,
    /// What the source holds and what was read.
    pub counts: Counts,
}

/// Reads a file.
///
/// # Errors
/// The file cannot be opened, is a device, or is larger than a file that is read as a whole may be. Everything else is a
/// fault in the result.
pub fn read_file(path: &Path) -> Result<Read, ReadError> {
    let name = path.to_string_lossy();
    let bytes = side_file::read(path).map_err(|error| ReadError { path: path.to_path_buf(), error })?;
    if let Ok(text) = String::from_utf8(bytes) {
        return Ok(read_text(&name, &text));
    }
    let source = Source::new(&name);
    let not_text = fault(&source, "", FaultKind::NotText, "it is not UTF-8");
    Ok(unread(source, vec![not_text]))
}

/// Reads a text. Its name tells the folder of a category, the module of Python source and the tool of a plain list.
pub fn read_text(name: &str, text: &str) -> Read {
    let source = Source::new(name);
    let mut faults = Vec::new();
    match of_text(source.clone(), text, &mut faults) {
        Ok(document) => of_document(&document, faults),
        Err(fault) => unread(source, vec![fault]),
    }
}

/// Reads a value in memory, such as the result of `tools/list` of an MCP server with this name.
pub fn read_value(name: &str, value: Value) -> Read {
    let source = Source::new(name);
    match of_value(source.clone(), value) {
        Ok(document) => of_document(&document, Vec::new()),
        Err(fault) => unread(source, vec![fault]),
    }
}

fn unread(source: Source, faults: Vec<ReadFault>) -> Read {
    Read { source: source.name, faults, ..Read::default() }
}

fn of_document(document: &Document, faults: Vec<ReadFault>) -> Read {
    let format = format::of(document);
    let mut reading = Reading::of(document.source.clone());
    reading.faults = faults;
    (format.read)(document, &mut reading);
    let Reading { mut tools, responses, faults, .. } = reading;
    tools.retain(|tool| !tool.functions.is_empty());
    let read = Census::of_tools(&tools);
    let counts = match (format.census)(document) {
        Some(source) => Counts::compare(&source, &read),
        None => Counts::uncounted(tools.iter().map(|tool| tool.functions.len()).sum()),
    };
    names::assign(&mut tools);
    Read { source: document.source.name.clone(), format: Some(format.name), tools, responses, faults, counts }
}
