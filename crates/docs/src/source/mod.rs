//! Reads functions from program source: signatures with their docstrings and comments.
//!
//! Each language has its own reader; nothing is executed. Types, defaults and texts are read as written where a docs
//! schema can express them; the rest is left to `fix`. An unreadable definition is a fault that accompanies the
//! readable functions.

mod found;
pub(crate) mod python;
mod typescript;

use super::parse::fault::ParseFault;
use super::parse::step::{ParseStep, note};
use callsieve_notation::allowance::Allowance;
use found::Source;

/// A reader of a text; `None` if the text is not in its language.
type SourceReader = fn(&str, &mut Vec<ParseStep>, &Allowance) -> Option<Result<Source, ParseFault>>;

/// The readers, in the order they are tried.
const READERS: &[(SourceReader, ParseStep)] = &[
    (python::read, ParseStep::PythonDef),
    (
        |text, _, allowance| Some(python::signature::read(text, allowance)?.map(Source::from)),
        ParseStep::Signature,
    ),
    (|text, _, allowance| Some(typescript::read(text, allowance)?.map(Source::from)), ParseStep::TypeScript),
];

/// Returns the functions of a text if it is source, otherwise `None`.
pub(crate) fn functions(
    text: &str,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Option<Result<Source, ParseFault>> {
    // No supported language begins like data, so data takes one look. A module may begin with a docstring, and its
    // first definition may follow many lines later.
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

/// Returns true if a text is Python source with definitions.
pub(crate) fn is_python(text: &str) -> bool {
    python::is_source(text)
}
