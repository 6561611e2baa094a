//! Functions out of program source: heads of functions with what is written around them.
//!
//! Each language has a reader of its own; nothing is run. Types, defaults and texts are
//! taken as they are written where a docs schema has words for them; the rest is for
//! `fix`. Nothing is half read: one definition that cannot be read is a fault of the text.

mod classes;
pub(crate) mod docstring;
mod python;
mod signature;
mod typescript;

use serde_json::Value;

use super::parse::fault::Fault;
use super::parse::step::Step;

/// What a reader makes of a text: nothing where the text is not meant for it.
type Reader = fn(&str, &mut Vec<Step>) -> Option<Result<Vec<Value>, Fault>>;

/// The readers, asked in order.
const READERS: &[(Reader, Step)] = &[
    (python::read, Step::PythonDef),
    (signature::read, Step::Signature),
    (|text, _| typescript::read(text), Step::TypeScript),
];

/// The functions of a text that is source, and nothing where it is something else.
pub(crate) fn functions(text: &str, steps: &mut Vec<Step>) -> Option<Result<Vec<Value>, Fault>> {
    // No language read here begins like data, so data costs one look.
    if text.trim_start().starts_with(['[', '{', '"']) {
        return None;
    }
    READERS.iter().find_map(|(read, step)| {
        let mut noted = vec![*step];
        let functions = read(text, &mut noted)?;
        noted.into_iter().for_each(|step| note(steps, step));
        Some(functions)
    })
}

/// Takes note of a step once.
fn note(steps: &mut Vec<Step>, step: Step) {
    if !steps.contains(&step) {
        steps.push(step);
    }
}
