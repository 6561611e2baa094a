//! A place in a Python text, with the steps used by every grammar rule.
//!
//! The place is a byte offset that only moves past whole characters, so slicing the text at it cannot fail.

use super::SyntaxError;
use crate::allowance::{Allowance, BRACKET_BYTES, MEMBER_BYTES};
use crate::repeated::Repeated;

/// Maximum number of nested brackets, the same as in `serde_json`.
const MAX_DEPTH: usize = 128;

/// A place in a text, with the number of open brackets.
pub(super) struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    depth: usize,
    allowance: &'t Allowance,
    pub(super) notes: Notes,
}

/// The features found in the text, in addition to values.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Keys that occur twice in one dict with different values.
    pub(super) repeated: Vec<Repeated>,
    /// Whether any text was found that is only valid in Python.
    pub(super) is_python: bool,
    /// The number of strings joined to the previous one.
    pub(super) n_joints: usize,
    /// The place of two strings without anything between the quotes: `'a''b'`.
    pub(super) touching: Option<usize>,
    /// The place of joined strings inside a list.
    pub(super) joined_in_list: Option<usize>,
    /// The number of strings joined to one on the same line.
    pub(super) n_joints_on_line: usize,
    /// The place of joined strings on one line inside a list.
    pub(super) joined_on_line: Option<usize>,
}

impl<'t> Cursor<'t> {
    pub(super) fn within(text: &'t str, allowance: &'t Allowance) -> Self {
        Self { text, offset: 0, depth: 0, allowance, notes: Notes::default() }
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Goes back to an earlier [`Cursor::offset`], outside of all brackets opened since then.
    pub(super) fn go_back(&mut self, offset: usize) {
        self.offset = offset;
    }

    /// Applies a rule and restores the place, including brackets, if it fails.
    pub(super) fn attempt<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let (offset, depth) = (self.offset, self.depth);
        let read = rule(self);
        if read.is_err() {
            (self.offset, self.depth) = (offset, depth);
        }
        read
    }

    /// Returns the remaining text.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// Returns the next byte, if any.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    /// Takes the next `n_bytes`, which must end at the end of a character.
    pub(super) fn take(&mut self, n_bytes: usize) -> &'t str {
        let taken = &self.rest()[..n_bytes];
        self.offset += n_bytes;
        taken
    }

    /// Skips the ASCII byte `wanted` if it is next, and returns true if it was.
    pub(super) fn eat(&mut self, wanted: u8) -> bool {
        debug_assert!(wanted.is_ascii(), "a part of a character");
        let found = self.peek() == Some(wanted);
        self.offset += usize::from(found);
        found
    }

    /// Skips `wanted`, or returns an error.
    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), SyntaxError> {
        if self.eat(wanted) { Ok(()) } else { Err(self.unexpected(&format!("`{}`", wanted as char))) }
    }

    /// Skips whitespace, line breaks, joined lines and comments.
    pub(super) fn skip_blank(&mut self) {
        loop {
            self.skip_spaces();
            match self.peek() {
                Some(b'\n' | b'\r') => self.offset += 1,
                Some(b'#') => {
                    self.notes.is_python = true;
                    let rest = self.rest();
                    self.offset += rest.find(['\n', '\r']).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips whitespace inside a line, and a backslash at the end of a line.
    pub(super) fn skip_spaces(&mut self) {
        loop {
            let rest = &self.text.as_bytes()[self.offset..];
            self.offset += match rest {
                [b' ' | b'\t' | b'\x0c', ..] => 1,
                [b'\\', b'\r', b'\n', ..] => 3,
                [b'\\', b'\n' | b'\r', ..] => 2,
                _ => return,
            };
        }
    }

    /// Skips text allowed between two adjacent strings: line breaks only while a bracket is open.
    pub(super) fn skip_between_strings(&mut self) {
        if self.depth > 0 { self.skip_blank() } else { self.skip_spaces() }
    }

    /// Takes a Python identifier, if there is one.
    pub(super) fn identifier(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let is_part = |c: char| c == '_' || c.is_alphanumeric();
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let starts_well = rest[..len].chars().next().is_some_and(|c| c == '_' || c.is_alphabetic());
        starts_well.then(|| self.take(len))
    }

    /// Reads `item, item, …` up to `close`, whose opening bracket was just read, and returns true if there was a comma.
    pub(super) fn separated(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), SyntaxError>,
    ) -> Result<bool, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} brackets deep")));
        }
        self.depth += 1;
        let mut has_comma = false;
        let mut n_bytes = BRACKET_BYTES;
        loop {
            self.skip_blank();
            if self.eat(close) {
                break;
            }
            // An element of a list takes less memory than a member, but the first element decides which it is.
            if !self.allowance.take(n_bytes + MEMBER_BYTES) {
                return Err(self.error("the text would become too large"));
            }
            n_bytes = 0;
            item(self)?;
            self.skip_blank();
            if self.eat(close) {
                break;
            }
            if !self.eat(b',') {
                return Err(self.unexpected(&format!("`,` or `{}`", close as char)));
            }
            has_comma = true;
        }
        self.depth -= 1;
        Ok(has_comma)
    }

    /// Returns an error if anything except whitespace follows.
    pub(super) fn finish(&mut self) -> Result<(), SyntaxError> {
        self.skip_blank();
        if self.rest().is_empty() { Ok(()) } else { Err(self.unexpected("the end")) }
    }

    /// Returns an error at this place.
    pub(super) fn error(&self, message: impl Into<String>) -> SyntaxError {
        error_at(self.offset, message)
    }

    /// Returns the error that `wanted` was expected here.
    pub(super) fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match self.rest().chars().next() {
            None => "the end".to_owned(),
            Some(c) if c.is_control() => format!("`{}`", c.escape_default()),
            Some(c) => format!("`{c}`"),
        };
        self.error(format!("expected {wanted}, found {found}"))
    }
}

/// Returns an error at a given place.
pub(super) fn error_at(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError { offset, message: message.into() }
}
