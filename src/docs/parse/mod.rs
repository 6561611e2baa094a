//! The parser chain from a pasted text to a list of functions.
//!
//! Strict JSON is tried first and nearly always enough. Then an envelope is peeled
//! and the chain runs again; then Python literals, JSON5, values side by side, slips
//! with one meaning, and last a repair two repairers agree on. Every parser step is noted,
//! so a reader can tell what was read from what was mended. What was read in spite of a
//! fault (a cut end, an ellipsis, a key that stands twice) carries that fault; nothing is
//! completed in silence. Program source is read by `source`. Time is linear in the text, depth is bounded before
//! anything recurses, all that is made of one text shares an `Allowance` of memory, and
//! functions that nest deeper than a dataset can hold are refused.

mod chain;
mod cut_yaml;
mod encoded;
mod envelope;
pub mod fault;
mod layer;
mod records;
pub mod step;
pub(crate) mod trail;

use serde_json::Value;

use crate::allowance::Allowance;
use crate::docs::{dialect, source};
use crate::notation::levels::{MAX_KEPT, is_within};
use fault::Fault;
use layer::Layer;
use step::Step;
use trail::Trail;

/// The functions of a text, and how they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// Objects with a name, as they were sent.
    pub functions: Vec<Value>,
    /// The parser steps that were used, in order.
    pub steps: Vec<Step>,
    /// What is wrong with the text in spite of which the functions were read: nobody may take them for sure.
    pub faults: Vec<Fault>,
}

impl Parsed {
    /// The functions, where no fault stands beside them.
    ///
    /// # Errors
    /// The first fault in spite of which they were read.
    pub fn sure(self) -> Result<Vec<Value>, Fault> {
        match self.faults.into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(self.functions),
        }
    }
}

/// Reads the functions of a text.
///
/// ```
/// let parsed = toolsieve::docs::parse::parse("tools = [{'name': 'now', 'parameters': None}]").unwrap();
/// assert_eq!(parsed.functions[0]["name"], "now");
/// assert_eq!(parsed.steps.iter().map(|step| step.code()).collect::<Vec<_>>(), ["assignment", "python-literal"]);
/// ```
///
/// # Errors
/// Where the text cannot be read without guessing, or holds something else than functions.
pub fn parse(text: &str) -> Result<Parsed, Fault> {
    let mut trail = Trail::default();
    let allowance = Allowance::of(text);
    let layer = Layer::new(text, &allowance);
    let value = chain::read(&layer, &mut trail)?;
    let Trail { mut steps, mut faults } = trail;
    match dialect::readable_functions(value, &mut steps, &mut faults, &allowance) {
        _ if allowance.is_exceeded() => Err(layer.too_large()),
        Ok(functions) => shallow(functions).map(|functions| Parsed { functions, steps, faults }),
        // What is missing from a text that was cut or left unread is no fault of its own.
        Err(fault) => Err(if faults.is_empty() { fault } else { faults.swap_remove(0) }),
    }
}

/// The functions, where what holds them can be read again.
fn shallow(functions: Vec<Value>) -> Result<Vec<Value>, Fault> {
    // The list is a level.
    match functions.iter().position(|function| !is_within(function, MAX_KEPT - 1)) {
        None => Ok(functions),
        Some(at) => Err(Fault::new(
            fault::ParseFault::DeepFunctions,
            format!("with function {at} the list is more than {MAX_KEPT} levels deep"),
        )),
    }
}

/// Reads the functions of a file that is Python by its name.
///
/// # Errors
/// As [`parse`]; a file without definitions is program source that holds no function, and never broken JSON.
pub fn parse_python(text: &str) -> Result<Parsed, Fault> {
    parse(text).map_err(|fault| {
        let is_about_all = matches!(
            fault.kind,
            fault::ParseFault::Empty | fault::ParseFault::ControlCharacters | fault::ParseFault::TooLarge
        );
        if is_about_all || source::is_python(text) {
            return fault;
        }
        let message = "the file defines no function and no class at its outermost level";
        Fault::new(fault::ParseFault::SourceCode, message)
    })
}

#[cfg(test)]
mod tests;
