//! Functions out of program source: heads of functions with what is written around them.
//!
//! Each language has a reader of its own; nothing is run. Types, defaults and texts are
//! taken as they are written where a docs schema has words for them; the rest is for
//! `fix`. A definition that cannot be read is a fault beside the functions that can.

mod classes;
pub(crate) mod docstring;
mod models;
mod python;
mod signature;
mod typescript;

use serde_json::Value;

use super::parse::fault::{Fault, ParseFault};
use super::parse::step::Step;
use crate::allowance::Allowance;

/// What a reader makes of a text: nothing where the text is not meant for it.
type Reader = fn(&str, &mut Vec<Step>, &Allowance) -> Option<Result<Source, Fault>>;

/// The functions of a source, and what of it cannot be read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Source {
    pub(crate) functions: Vec<Value>,
    pub(crate) faults: Vec<Fault>,
}

#[cfg(test)]
impl Source {
    /// The functions, where all of the source can be read.
    fn sure(self) -> Result<Vec<Value>, Fault> {
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

/// The readers, asked in order.
const READERS: &[(Reader, Step)] = &[
    (python::read, Step::PythonDef),
    (|text, _, allowance| Some(signature::read(text, allowance)?.map(Source::from)), Step::Signature),
    (|text, _, allowance| Some(typescript::read(text, allowance)?.map(Source::from)), Step::TypeScript),
];

/// The functions of a text that is source, and nothing where it is something else.
pub(crate) fn functions(
    text: &str,
    steps: &mut Vec<Step>,
    allowance: &Allowance,
) -> Option<Result<Source, Fault>> {
    // No language read here begins like data, so data costs one look; a module may begin with a docstring, and goes
    // on for lines behind it.
    let start = text.trim_start();
    let defines = || ["\ndef ", "\nasync def ", "\nclass "].iter().any(|word| start.contains(word));
    if start.starts_with(['[', '{']) || start.starts_with('"') && !defines() {
        return None;
    }
    READERS.iter().find_map(|(read, step)| {
        let mut noted = vec![*step];
        let source = allowance.attempt(|| read(text, &mut noted, allowance).ok_or(())).ok()?;
        for step in noted {
            note(steps, step);
        }
        Some(source)
    })
}

/// Whether a text is meant as Python source that defines something.
pub(crate) fn is_python(text: &str) -> bool {
    python::is_source(text)
}

/// Refuses a source whose functions would take more than the allowance, before they are made.
fn afford(text: &str, allowance: &Allowance) -> Result<(), Fault> {
    let is_mark = |byte: &u8| matches!(byte, b'(' | b',' | b';' | b'{' | b'[' | b'<' | b'|');
    let n_lines = text.lines().filter(|line| !line.trim_start().is_empty()).count();
    let n_marks = n_lines + text.bytes().filter(is_mark).count();
    if allowance.take(n_marks.saturating_mul(BYTES_PER_MARK)) { Ok(()) } else { Err(too_large()) }
}

/// The fault that a source holds, or stands for, too much.
fn too_large() -> Fault {
    Fault::new(ParseFault::TooLarge, "the source stands for more than a list of functions could")
}

/// Takes note of a step once.
fn note(steps: &mut Vec<Step>, step: Step) {
    if !steps.contains(&step) {
        steps.push(step);
    }
}
