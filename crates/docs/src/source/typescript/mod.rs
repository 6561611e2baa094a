//! Reads functions from TypeScript and JavaScript: signatures of functions, and types of functions.
//!
//! `notation::typescript` reads the declarations of a text; this module converts them to docs. Interfaces, types and
//! enums that functions refer to are resolved. Texts come from comments and `JSDoc`. Anything unknown is a fault, never
//! a guess.

mod functions;
mod schema;

use std::cell::Cell;

use serde_json::Value;

use super::found::{afford, too_large};
use crate::parse::fault::{ParseFault, ParseFaultKind};
use callsieve_notation::allowance::Allowance;
use callsieve_notation::typescript::{self, Module, SyntaxError, SyntaxFault};

/// The maximum number of types in the functions of a short text; a longer text may have one more per byte.
const MAX_TYPES: usize = 4_096;

/// The memory for the schema of one type, in bytes.
const BYTES_PER_TYPE: usize = 800;

/// Returns the functions of a text if it is TypeScript.
pub(super) fn read(text: &str, allowance: &Allowance) -> Option<Result<Vec<Value>, ParseFault>> {
    if typescript::declares(text) {
        return Some(of_source(text, allowance));
    }
    typescript::bare_heads(text).map(|module| docs(&module, text, allowance))
}

fn of_source(text: &str, allowance: &Allowance) -> Result<Vec<Value>, ParseFault> {
    afford(text, allowance)?;
    let module = typescript::module(text).map_err(fault)?;
    if module.functions.is_empty() {
        return Err(ParseFault::new(ParseFaultKind::SourceCode, "there are types, but no function"));
    }
    docs(&module, text, allowance)
}

fn fault(error: SyntaxError) -> ParseFault {
    let kind = match error.kind {
        SyntaxFault::Unknown => ParseFaultKind::SourceCode,
        SyntaxFault::Cut => ParseFaultKind::Truncated,
        SyntaxFault::TooDeep => ParseFaultKind::TooDeep,
    };
    ParseFault { kind, at: Some(error.at), message: error.message }
}

/// Returns the docs of the functions in a text; the growth by resolved names is limited.
fn docs(module: &Module, text: &str, allowance: &Allowance) -> Result<Vec<Value>, ParseFault> {
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
