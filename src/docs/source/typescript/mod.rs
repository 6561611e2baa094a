//! Functions out of TypeScript and JavaScript: heads of functions, and types of functions.
//!
//! `notation::typescript` reads what a text declares; here it becomes docs. Interfaces, types and enums that functions
//! refer to are put in place. Texts come from comments and `JSDoc`. What is not known is a fault, never a guess.

mod functions;
mod schema;

use std::cell::Cell;

use serde_json::Value;

use super::found::{afford, too_large};
use crate::allowance::Allowance;
use crate::docs::parse::fault::{Fault, ParseFault};
use crate::notation::typescript::{self, Module, SyntaxError, SyntaxFault};

/// How many types the functions of a short text may be made of; a longer text has as many more as bytes.
const MAX_TYPES: usize = 4_096;

/// What the schema of one type takes.
const BYTES_PER_TYPE: usize = 800;

/// The functions of a text that is meant as TypeScript.
pub(super) fn read(text: &str, allowance: &Allowance) -> Option<Result<Vec<Value>, Fault>> {
    if typescript::declares(text) {
        return Some(of_source(text, allowance));
    }
    typescript::bare_heads(text).map(|module| docs(&module, text, allowance))
}

fn of_source(text: &str, allowance: &Allowance) -> Result<Vec<Value>, Fault> {
    afford(text, allowance)?;
    let module = typescript::module(text).map_err(fault)?;
    if module.functions.is_empty() {
        return Err(Fault::new(ParseFault::SourceCode, "there are types, but no function"));
    }
    docs(&module, text, allowance)
}

fn fault(error: SyntaxError) -> Fault {
    let kind = match error.kind {
        SyntaxFault::Unknown => ParseFault::SourceCode,
        SyntaxFault::Cut => ParseFault::Truncated,
        SyntaxFault::TooDeep => ParseFault::TooDeep,
    };
    Fault { kind, at: Some(error.at), message: error.message }
}

/// The docs of the functions found in a text; names that are put in place may make them so much longer and no more.
fn docs(module: &Module, text: &str, allowance: &Allowance) -> Result<Vec<Value>, Fault> {
    let n_affordable = allowance.left() / BYTES_PER_TYPE;
    let n_types = n_affordable.min(MAX_TYPES + text.len());
    let left = Cell::new(n_types);
    let functions = module.functions.iter().map(|head| functions::doc(head, &module.types, &left)).collect();
    if left.get() == 0 && n_types == n_affordable {
        return Err(too_large());
    }
    allowance.take((n_types - left.get()).saturating_mul(BYTES_PER_TYPE));
    functions
}

#[cfg(test)]
mod tests;
