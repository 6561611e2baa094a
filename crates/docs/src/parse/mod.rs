//! The parser chain from a pasted text to a list of functions.
//!
//! Strict JSON is tried first and is nearly always enough. Then an envelope is peeled and the chain runs again; then
//! Python literals, JSON5, values side by side, slips with one meaning, and last a repair on which two repairers
//! agree. Every parser step is recorded, to distinguish exact from repaired results. A text read despite a fault (a
//! truncated end, an ellipsis, a repeated key) has that fault; nothing is completed silently. Program source is read by
//! `source`. Time is linear in the text, depth is limited before anything recurses, all values of a text share an
//! `Allowance` of memory, and functions nested deeper than a dataset allows are refused.

mod chain;
mod cut_yaml;
mod encoded;
mod envelope;
pub mod fault;
mod layer;
mod printed;
mod records;
pub mod step;
pub(crate) mod trail;

use serde_json::Value;

use crate::{dialect, source};
use callsieve_notation::allowance::Allowance;
use callsieve_notation::levels::{MAX_KEPT, is_within};
use fault::ParseFault;
use layer::Layer;
use step::ParseStep;
use trail::Trail;

/// The functions of a text, and how they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// Objects with a name, as sent.
    pub functions: Vec<Value>,
    /// The parser steps used, in order.
    pub steps: Vec<ParseStep>,
    /// Faults despite which the functions were read; they may differ from what the author meant.
    pub faults: Vec<ParseFault>,
}

impl Parsed {
    /// Returns the functions if there are no faults.
    ///
    /// # Errors
    /// The first fault.
    pub fn sure(self) -> Result<Vec<Value>, ParseFault> {
        match self.faults.into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(self.functions),
        }
    }
}

/// Reads the functions of a text.
///
/// ```
/// let parsed = callsieve_docs::parse::parse("tools = [{'name': 'now', 'parameters': None}]").unwrap();
/// assert_eq!(parsed.functions[0]["name"], "now");
/// assert_eq!(parsed.steps.iter().map(|step| step.code()).collect::<Vec<_>>(), ["assignment", "python-literal"]);
/// ```
///
/// # Errors
/// If the text cannot be read without guessing, or contains something other than functions.
pub fn parse(text: &str) -> Result<Parsed, ParseFault> {
    let mut trail = Trail::default();
    let allowance = Allowance::of(text);
    let layer = Layer::new(text, &allowance);
    let value = chain::read(&layer, &mut trail)?;
    let Trail { mut steps, mut faults } = trail;
    match dialect::readable_functions(value, &mut steps, &mut faults, &allowance) {
        _ if allowance.is_exceeded() => Err(layer.too_large()),
        Ok(functions) => shallow(functions).map(|functions| Parsed { functions, steps, faults }),
        // A gap in a truncated or partly unreadable text is a result of that fault, not another one.
        Err(fault) => Err(if faults.is_empty() { fault } else { faults.swap_remove(0) }),
    }
}

/// Returns the functions unless they are nested too deep to be read again.
fn shallow(functions: Vec<Value>) -> Result<Vec<Value>, ParseFault> {
    // The list itself is one level.
    match functions.iter().position(|function| !is_within(function, MAX_KEPT - 1)) {
        None => Ok(functions),
        Some(at) => Err(ParseFault::new(
            fault::ParseFaultKind::FunctionsTooDeep,
            format!("with function {at} the list is more than {MAX_KEPT} levels deep"),
        )),
    }
}

/// Reads the functions of a file with the name of a Python file.
///
/// # Errors
/// As [`parse`]; a file without definitions is program source without functions, never broken JSON.
pub fn parse_python(text: &str) -> Result<Parsed, ParseFault> {
    parse(text).map_err(|fault| {
        let is_about_all = matches!(
            fault.kind,
            fault::ParseFaultKind::Empty
                | fault::ParseFaultKind::ControlCharacters
                | fault::ParseFaultKind::TooLarge
        );
        if is_about_all || source::is_python(text) {
            return fault;
        }
        let message = "the file defines no function or class at its outermost level";
        ParseFault::new(fault::ParseFaultKind::SourceCode, message)
    })
}

#[cfg(test)]
mod tests;
