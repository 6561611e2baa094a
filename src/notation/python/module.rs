//! The outermost level of a source: its definitions, its constants, and what is stepped over.
//!
//! Imports, statements and blocks are stepped over, and what is defined inside a block counts as
//! conditional. A definition that cannot be read is a fault of its own: reading goes on
//! behind its body. A line that is no Python at all is a fault too, so prose is never lost.

use std::collections::BTreeSet;

use super::cursor::{Cursor, error_at};
use super::defs::{definition, docstring, keyword};
use super::lines::{
    MAX_UNREAD, logical_line, next_definition, skip_logical_line, skip_unreadable, start_of_line,
};
use super::{PyDefault, PyItem, PyModule, PyParameter, SyntaxError, annotations, classes};

/// Words that begin a block, whose lines stand deeper.
const BLOCKS: [&str; 10] =
    ["if", "elif", "else", "try", "except", "finally", "with", "for", "while", "match"];

/// Words that begin any other statement.
const STATEMENTS: [&str; 12] = [
    "pass", "return", "raise", "del", "assert", "global", "nonlocal", "yield", "await", "break", "continue",
    "not",
];

/// Words that go on with an expression behind its first name.
const OPERATORS: [&str; 7] = ["if", "is", "in", "and", "or", "not", "for"];

/// Reads a source up to its end.
pub(super) fn module(cursor: &mut Cursor<'_>) -> PyModule {
    let mut reader = Reader::default();
    while let Some(indent) = start_of_line(cursor) {
        let start = cursor.offset();
        if let Err(error) = cursor.attempt(|cursor| reader.line(cursor, indent)) {
            reader.module.faults.push(error);
            // Each may have been looked for to the end of the text.
            if reader.module.faults.len() >= MAX_UNREAD {
                let message = format!("{MAX_UNREAD} definitions cannot be read; reading ends here");
                reader.module.faults.insert(0, error_at(start, message));
                break;
            }
            reader.decorators.clear();
            skip_unreadable(cursor, indent);
        }
        debug_assert!(cursor.offset() > start, "a line is taken or stepped over");
    }
    for name in reader.bound_again {
        reader.module.constants.remove(&name);
    }
    reader.module
}

#[derive(Default)]
struct Reader {
    module: PyModule,
    /// Those of the next definition.
    decorators: Vec<String>,
    /// Names that are bound more than once, so that their value is not known.
    bound_again: BTreeSet<String>,
    /// How deep the first line stands.
    depth: Option<usize>,
    /// Whether a block is open.
    in_block: bool,
}

impl Reader {
    /// Reads one line that stands on its own, with all that belongs to it.
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
                // Pasted definitions import nothing of the package they come from.
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

/// Whether a line may be a statement of Python, as far as its first words show: prose has a second word behind the first.
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
