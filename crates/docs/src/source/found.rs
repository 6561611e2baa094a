//! Shared parts of the source readers: the functions found, the memory limit, and the place of a fault.

use serde_json::{Map, Value, json};

use crate::parse::fault::{ParseFault, ParseFaultKind};
use callsieve_notation::allowance::Allowance;

/// The maximum number of unreadable definitions that are reported.
pub(super) const MAX_FAULTS: usize = 20;

/// The functions of a source, and the faults of unreadable parts.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Source {
    pub(crate) functions: Vec<Value>,
    pub(crate) faults: Vec<ParseFault>,
}

#[cfg(test)]
impl Source {
    /// Returns the functions if all of the source can be read.
    pub(super) fn sure(self) -> Result<Vec<Value>, ParseFault> {
        self.faults.into_iter().next().map_or(Ok(self.functions), Err)
    }
}

impl From<Vec<Value>> for Source {
    fn from(functions: Vec<Value>) -> Self {
        Self { functions, faults: Vec::new() }
    }
}

/// The memory for a function, a parameter or a type while it becomes a doc, per mark that begins or ends one.
const BYTES_PER_MARK: usize = 1_200;

/// Refuses a source whose functions would take more than the allowance, before they are built.
pub(super) fn afford(text: &str, allowance: &Allowance) -> Result<(), ParseFault> {
    let is_mark = |byte: &u8| matches!(byte, b'(' | b',' | b';' | b'{' | b'[' | b'<' | b'|');
    let n_lines = text.lines().filter(|line| !line.trim_start().is_empty()).count();
    let n_marks = n_lines + text.bytes().filter(is_mark).count();
    if allowance.take(n_marks.saturating_mul(BYTES_PER_MARK)) { Ok(()) } else { Err(too_large()) }
}

/// Returns the fault that a source contains, or expands to, too much.
pub(super) fn too_large() -> ParseFault {
    ParseFault::new(ParseFaultKind::TooLarge, "the source expands to more than a list of functions could")
}

/// Returns a function of a source. Without a text, its description is empty, as in the source.
pub(super) fn named(name: &str, description: &str, parameters: Value) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(name));
    function.insert("description".to_owned(), json!(description));
    function.insert("parameters".to_owned(), parameters);
    Value::Object(function)
}

/// Converts a byte offset in a source to line and column, both from 1.
pub(super) fn place(source: &str, offset: usize) -> String {
    let before = source.get(..offset).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}")
}
