//! Reads what TypeScript and JavaScript declare: heads of functions, and types.
//!
//! Read are `function`s, constants that hold one, `type f = (_: {…}) => any` as in the prompts of `OpenAI`, interfaces
//! of methods, and the interfaces, types and enums that they refer to. Bodies are stepped over, nothing is run. Names are
//! not looked up: a type is a tree of what is written. What is not known is a fault, never a guess.

mod comments;
mod declarations;
mod fault;
mod grammar;
mod scanner;
mod tree;

use declarations::Reader;
pub(crate) use fault::{SyntaxError, SyntaxFault};
#[cfg(test)]
pub(crate) use scanner::SKIPPED;
use scanner::Scanner;
pub(crate) use tree::{Head, Member, Module, Tag, Type};

/// Whether a declaration begins a text, behind titles, comments and imports.
pub(crate) fn declares(text: &str) -> bool {
    declarations::begin(&at_first_statement(text))
}

/// Reads all that a text declares.
///
/// # Errors
/// Where a statement is none that declares something, or cannot be read.
pub(crate) fn module(text: &str) -> Result<Module, SyntaxError> {
    let mut reader = Reader::default();
    reader.read(&mut at_first_statement(text))?;
    Ok(reader.module)
}

/// Reads heads without a word in front: `ring(bell: string): void`. A call has no types, so one has to have some.
pub(crate) fn bare_heads(text: &str) -> Option<Module> {
    let mut scanner = at_first_statement(text);
    let mut reader = Reader::default();
    while !scanner.rest().is_empty() {
        let leading = scanner.take_comments();
        let name = scanner.peek_word().filter(|name| scanner.rest()[name.len()..].starts_with('('))?;
        let start = scanner.at;
        let member = grammar::member_until_line(&mut scanner).ok()?;
        let is_typed = declarations::is_typed(&member) || scanner.text[start..scanner.at].contains("):");
        if !is_typed || member.name != name {
            return None;
        }
        reader.add_member(member, &leading);
        scanner.skip();
    }
    (!reader.module.functions.is_empty()).then_some(reader.module)
}

/// Reads a text that is one type.
pub(crate) fn type_of(text: &str) -> Option<Type> {
    let mut scanner = Scanner::new(text);
    let kind = grammar::read_type(&mut scanner).ok()?;
    scanner.rest().trim().is_empty().then_some(kind)
}

/// A default that is written in a comment, where it is one of the type.
pub(crate) fn default_in_comment(written: &str, kind: Option<&Type>) -> Option<serde_json::Value> {
    comments::value(written, kind)
}

/// The first statement of a text, behind the titles that prompts have above the types: `## functions`.
fn at_first_statement(text: &str) -> Scanner<'_> {
    let mut scanner = Scanner::new(text);
    scanner.skip();
    while scanner.rest().starts_with('#') {
        scanner.at += scanner.rest().find('\n').unwrap_or(scanner.rest().len());
        scanner.skip();
    }
    scanner
}
