//! The outermost level of a source: its definitions and its constants.
//!
//! Imports, statements and blocks are skipped, and definitions inside a block count as conditional. Each unreadable
//! definition is a separate fault, and reading continues after its body. A line that is not Python is also a fault, so
//! prose is never lost.

use std::collections::BTreeSet;

use super::cursor::{Cursor, error_at};
use super::defs::{definition, docstring, keyword};
use super::lines::{
    MAX_UNREAD, logical_line, next_definition, skip_logical_line, skip_unreadable, start_of_line,
};
use super::{PyDefault, PyItem, PyModule, PyParameter, SyntaxError, annotations, classes};

/// Words that begin a block, whose lines are deeper.
const BLOCKS: [&str; 10] =
    ["if", "elif", "else", "try", "except", "finally", "with", "for", "while", "match"];

/// Words that begin any other statement.
const STATEMENTS: [&str; 12] = [
    "pass", "return", "raise", "del", "assert", "global", "nonlocal", "yield", "await", "break", "continue",
    "not",
];

/// Words that continue an expression after its first name.
const OPERATORS: [&str; 7] = ["if", "is", "in", "and", "or", "not", "for"];

/// Reads a source up to its end.
pub(super) fn module(cursor: &mut Cursor<'_>) -> PyModule {
    let mut reader = ModuleReader::default();
    while let Some(indent) = start_of_line(cursor) {
        let start = cursor.offset();
        if let Err(error) = cursor.attempt(|cursor| reader.line(cursor, indent)) {
            reader.module.faults.push(error);
            // The search for the end of each may have gone to the end of the text.
            if reader.module.faults.len() >= MAX_UNREAD {
                let message = format!("{MAX_UNREAD} definitions cannot be read; reading ends here");
                reader.module.faults.insert(0, error_at(start, message));
                break;
            }
            reader.decorators.clear();
            skip_unreadable(cursor, indent);
        }
        debug_assert!(cursor.offset() > start, "a line is read or skipped");
    }
    for name in reader.bound_again {
        reader.module.constants.remove(&name);
    }
    reader.module
}

#[derive(Default)]
struct ModuleReader {
    module: PyModule,
    /// The decorators of the next definition.
    decorators: Vec<String>,
    /// Names that are assigned more than once, so their value is unknown.
    bound_again: BTreeSet<String>,
    /// The indentation of the first line.
    depth: Option<usize>,
    /// Whether a block is open.
    in_block: bool,
}

impl ModuleReader {
    /// Reads one line at the outermost level, with everything that belongs to it.
    fn line(&mut self, cursor: &mut Cursor<'_>, indent: usize) -> Result<(), SyntaxError> {
        let depth = *self.depth.get_or_insert(indent);
        self.in_block &= indent > depth;
        if indent != depth && !self.in_block {
            return Err(cursor.error("the line is indented differently from the definitions"));
        }
        let start = cursor.offset();
        if cursor.eat(b'@') {
            let mark = logical_line(cursor);
            self.decorators.push(format!("@{mark}"));
            return Ok(());
        }
        if docstring(cursor)?.is_some() {
            self.module.is_program = true;
            return Ok(());
        }
        match keyword(cursor) {
            Some("def") => {
                let mut def = definition(cursor, indent)?;
                def.decorators = std::mem::take(&mut self.decorators);
                def.is_conditional = indent > depth;
                def.offset = start;
                self.module.items.push(PyItem::Def(def));
            }
            Some("class") => {
                let marks = std::mem::take(&mut self.decorators);
                let (class, faults) = classes::class(cursor, indent, marks, start)?;
                self.module.items.push(PyItem::Class(class));
                self.module.faults.extend(faults);
            }
            Some(word @ ("import" | "from")) => {
                // Pasted definitions do not import from their own package.
                let line = logical_line(cursor);
                self.module.is_program |= word == "from" && line.starts_with(['.', '_']);
            }
            word => {
                cursor.go_back(start);
                self.statement(cursor, word, indent > depth)?;
            }
        }
        Ok(())
    }

    fn statement(
        &mut self,
        cursor: &mut Cursor<'_>,
        word: Option<&str>,
        is_conditional: bool,
    ) -> Result<(), SyntaxError> {
        let start = cursor.offset();
        let is_block = word.is_some_and(|word| BLOCKS.contains(&word));
        let bound = if is_block { None } else { cursor.attempt(constant).ok() };
        cursor.go_back(start);
        let text = cursor.rest();
        if !skip_logical_line(cursor) && next_definition(text, 0).is_some() {
            return Err(error_at(start, "a bracket or a string of this statement is never closed"));
        }
        let line = text[..text.len() - cursor.rest().len()].trim();
        let is_python = if is_block { line.contains(':') } else { is_statement(line) };
        if !is_python {
            return Err(error_at(start, "expected a definition or a statement of Python"));
        }
        self.module.is_program = true;
        self.in_block |= is_block;
        if let Some((name, value)) = bound {
            let is_sure = matches!(value, Some(PyDefault::Literal(_))) && !is_conditional;
            if !is_sure || self.module.constants.contains_key(&name) {
                self.bound_again.insert(name);
            } else if let Some(PyDefault::Literal(value)) = value {
                self.module.constants.insert(name, value);
            }
        }
        Ok(())
    }
}

/// Reads `NAME = literal` or `NAME: type = literal`.
fn constant(cursor: &mut Cursor<'_>) -> Result<(String, Option<PyDefault>), SyntaxError> {
    let name = cursor.identifier().ok_or_else(|| cursor.unexpected("a name"))?.to_owned();
    cursor.skip_spaces();
    let is_binding =
        cursor.peek() == Some(b':') || cursor.peek() == Some(b'=') && !cursor.rest().starts_with("==");
    if !is_binding {
        return Err(cursor.unexpected("`=`"));
    }
    let mut parameter = PyParameter { name, ..PyParameter::default() };
    annotations::typed(cursor, &mut parameter, b"=\n\r#;")?;
    Ok((parameter.name, parameter.default))
}

/// Returns true if a line may be a Python statement by its first words: prose has a second word after the first.
fn is_statement(line: &str) -> bool {
    let is_part = |c: char| c == '_' || c == '.' || c.is_alphanumeric();
    let head = line.trim_start_matches(is_part);
    let word = &line[..line.len() - head.len()];
    let next = head.trim_start();
    let second = &next[..next.find(|c: char| !is_part(c)).unwrap_or(next.len())];
    if word.is_empty() {
        return line.starts_with(['"', '\'', '(', '[', '{', '-', '~', '*', '.', '`']);
    }
    STATEMENTS.contains(&word)
        || second.is_empty() && !next.starts_with(['?', '\''])
        || OPERATORS.contains(&second)
        || next.starts_with(['"', '\'']) && word.len() <= 2
}
