//! Functions out of program source: heads of functions with what is written around them.
//!
//! Each language has a reader of its own; nothing is run. Types, defaults and texts are
//! taken as they are written where a docs schema has words for them; the rest is for
//! `fix`. A definition that cannot be read is a fault beside the functions that can.

mod found;
pub(crate) mod python;
mod typescript;

use super::parse::fault::Fault;
use super::parse::step::{Step, note};
use crate::allowance::Allowance;
use found::Source;

/// What a reader makes of a text: nothing where the text is not meant for it.
type Reader = fn(&str, &mut Vec<Step>, &Allowance) -> Option<Result<Source, Fault>>;

/// The readers, asked in order.
const READERS: &[(Reader, Step)] = &[
    (python::read, Step::PythonDef),
    (|text, _, allowance| Some(python::signature::read(text, allowance)?.map(Source::from)), Step::Signature),
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
