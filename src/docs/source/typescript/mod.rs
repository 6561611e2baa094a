//! Functions out of TypeScript and JavaScript: heads of functions, and types of functions.
//!
//! Read are `function`s, constants that hold one, `type f = (_: {…}) => any` as in the
//! prompts of `OpenAI`, and interfaces of methods; interfaces, types and enums that they
//! refer to are put in place. Bodies are stepped over. Texts come from comments and
//! `JSDoc`. What is not known is a fault, never a guess.

mod comments;
mod declarations;
mod functions;
mod members;
mod scanner;
mod schema;
mod types;

use std::cell::Cell;

use serde_json::Value;

use super::{afford, too_large};
use crate::allowance::Allowance;
use crate::docs::parse::fault::{Fault, ParseFault};
use declarations::Source;
use scanner::Scanner;

/// How many types the functions of a short text may be made of; a longer text has as many more as bytes.
const MAX_TYPES: usize = 4_096;

/// What the schema of one type takes.
const BYTES_PER_TYPE: usize = 800;

/// The functions of a text that is meant as TypeScript.
pub(super) fn read(text: &str, allowance: &Allowance) -> Option<Result<Vec<Value>, Fault>> {
    let mut scanner = Scanner::new(text);
    skip_headings(&mut scanner);
    if declarations::begin(&scanner) {
        return Some(of_source(scanner, allowance));
    }
    bare_heads(scanner, allowance)
}

fn of_source(mut scanner: Scanner<'_>, allowance: &Allowance) -> Result<Vec<Value>, Fault> {
    afford(scanner.text, allowance)?;
    let mut source = Source::default();
    source.read(&mut scanner)?;
    if source.functions.is_empty() {
        return Err(Fault::new(ParseFault::SourceCode, "there are types, but no function"));
    }
    docs(&source, scanner.text, allowance)
}

/// The titles that prompts have above the types: `## functions`.
fn skip_headings(scanner: &mut Scanner<'_>) {
    scanner.skip();
    while scanner.rest().starts_with('#') {
        scanner.at += scanner.rest().find('\n').unwrap_or(scanner.rest().len());
        scanner.skip();
    }
}

/// Heads without a word in front: `ring(bell: string): void`. A call has no types, so one has to have some.
fn bare_heads(mut scanner: Scanner<'_>, allowance: &Allowance) -> Option<Result<Vec<Value>, Fault>> {
    let mut source = Source::default();
    while !scanner.rest().is_empty() {
        let leading = scanner.take_comments();
        let name = scanner.peek_word().filter(|name| scanner.rest()[name.len()..].starts_with('('))?;
        let start = scanner.at;
        let member = members::member_until_line(&mut scanner).ok()?;
        let is_typed = declarations::is_typed(&member) || scanner.text[start..scanner.at].contains("):");
        if !is_typed || member.name != name {
            return None;
        }
        source.add_member(member, &leading);
        scanner.skip();
    }
    (!source.functions.is_empty()).then(|| docs(&source, scanner.text, allowance))
}

/// The docs of the functions found in a text; names that are put in place may make them so much longer and no more.
fn docs(source: &Source, text: &str, allowance: &Allowance) -> Result<Vec<Value>, Fault> {
    let n_affordable = allowance.left() / BYTES_PER_TYPE;
    let n_types = n_affordable.min(MAX_TYPES + text.len());
    let left = Cell::new(n_types);
    let functions = source.functions.iter().map(|function| function.doc(&source.types, &left)).collect();
    if left.get() == 0 && n_types == n_affordable {
        return Err(too_large());
    }
    allowance.take((n_types - left.get()).saturating_mul(BYTES_PER_TYPE));
    functions
}

#[cfg(test)]
mod tests;
