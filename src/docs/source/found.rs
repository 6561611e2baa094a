//! What every reader of source uses: the functions it found, the bound of what they take, and how a fault shows its place.

use serde_json::{Map, Value, json};

use crate::allowance::Allowance;
use crate::docs::parse::fault::{Fault, ParseFault};

/// How many definitions that cannot be read are reported.
pub(super) const MAX_FAULTS: usize = 20;

/// The functions of a source, and what of it cannot be read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Source {
    pub(crate) functions: Vec<Value>,
    pub(crate) faults: Vec<Fault>,
}

#[cfg(test)]
impl Source {
    /// The functions, where all of the source can be read.
    pub(super) fn sure(self) -> Result<Vec<Value>, Fault> {
        self.faults.into_iter().next().map_or(Ok(self.functions), Err)
    }
}

impl From<Vec<Value>> for Source {
    fn from(functions: Vec<Value>) -> Self {
        Self { functions, faults: Vec::new() }
    }
}

/// What a function, a parameter or a type takes on its way from source to docs, for each mark that one begins or ends with.
const BYTES_PER_MARK: usize = 1_200;

/// Refuses a source whose functions would take more than the allowance, before they are made.
pub(super) fn afford(text: &str, allowance: &Allowance) -> Result<(), Fault> {
    let is_mark = |byte: &u8| matches!(byte, b'(' | b',' | b';' | b'{' | b'[' | b'<' | b'|');
    let n_lines = text.lines().filter(|line| !line.trim_start().is_empty()).count();
    let n_marks = n_lines + text.bytes().filter(is_mark).count();
    if allowance.take(n_marks.saturating_mul(BYTES_PER_MARK)) { Ok(()) } else { Err(too_large()) }
}

/// The fault that a source holds, or stands for, too much.
pub(super) fn too_large() -> Fault {
    Fault::new(ParseFault::TooLarge, "the source stands for more than a list of functions could")
}

/// A function of a source. One without a text gets an empty description, for that is what it says.
pub(super) fn named(name: &str, description: &str, parameters: Value) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(name));
    function.insert("description".to_owned(), json!(description));
    function.insert("parameters".to_owned(), parameters);
    Value::Object(function)
}

/// A byte of a source as line and column, both from 1.
pub(super) fn place(source: &str, offset: usize) -> String {
    let before = source.get(..offset).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}")
}
