//! Reads the declarations of TypeScript and JavaScript: signatures of functions, and types.
//!
//! Supported are `function`s, constants with a function, `type f = (_: {…}) => any` as in the prompts of `OpenAI`,
//! interfaces with methods, and the interfaces, types and enums that they refer to. Bodies are skipped, nothing is
//! executed. Names are not resolved: a type is a tree of the written text. Unknown syntax is a fault, never a guess.

mod comments;
mod declarations;
mod fault;
mod grammar;
mod scanner;
mod tree;

use declarations::DeclarationReader;
pub use fault::{SyntaxError, SyntaxFault};
use scanner::Scanner;
pub use tree::{Head, Member, Module, Tag, Type};

/// Returns true if a text begins with a declaration, after titles, comments and imports.
pub fn declares(text: &str) -> bool {
    declarations::begin(&at_first_statement(text))
}

/// Reads all declarations of a text.
///
/// # Errors
/// If a statement is not a declaration, or cannot be read.
pub fn module(text: &str) -> Result<Module, SyntaxError> {
    let mut reader = DeclarationReader::default();
    reader.read(&mut at_first_statement(text))?;
    Ok(reader.module)
}

/// Reads signatures without a keyword: `ring(bell: string): void`. At least one must have a type, as a call has none.
pub fn bare_heads(text: &str) -> Option<Module> {
    let mut scanner = at_first_statement(text);
    let mut reader = DeclarationReader::default();
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
pub fn type_of(text: &str) -> Option<Type> {
    let mut scanner = Scanner::new(text);
    let kind = grammar::read_type(&mut scanner).ok()?;
    scanner.rest().trim().is_empty().then_some(kind)
}

/// Returns the value of a default in a comment, if it is valid for the type.
pub fn default_in_comment(written: &str, kind: Option<&Type>) -> Option<serde_json::Value> {
    comments::value(written, kind)
}

/// Returns a scanner at the first statement, after the titles that prompts have above the types: `## functions`.
fn at_first_statement(text: &str) -> Scanner<'_> {
    let mut scanner = Scanner::new(text);
    scanner.skip();
    while scanner.rest().starts_with('#') {
        scanner.at += scanner.rest().find('\n').unwrap_or(scanner.rest().len());
        scanner.skip();
    }
    scanner
}

#[cfg(test)]
mod tests {
    use super::scanner::SKIPPED;

    #[test]
    fn each_blank_line_is_scanned_once() {
        let text = format!("const f = (a: string) => a{}.b;", "\n".repeat(200_000));
        let before = SKIPPED.get();
        assert_eq!(super::module(&text).unwrap().functions.len(), 1);
        let n_skipped = SKIPPED.get() - before;
        assert!(
            (200_000..10 * text.len()).contains(&n_skipped),
            "{n_skipped} blanks looked at in {} bytes",
            text.len()
        );
    }
}
