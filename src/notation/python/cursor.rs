//! A place in a Python text, and the steps every grammar rule takes from it.
//!
//! The place is a byte offset that only ever moves past whole characters, so
//! slicing the text at it cannot fail.

use super::SyntaxError;
use crate::allowance::{Allowance, BRACKET_BYTES, MEMBER_BYTES};
use crate::notation::repeated::Repeated;

/// Brackets inside brackets; more is refused. As deep as `serde_json` reads.
const MAX_DEPTH: usize = 128;

/// A place in a text and how many brackets are open there.
pub(super) struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    depth: usize,
    allowance: &'t Allowance,
    pub(super) notes: Notes,
}

/// What was met on the way, beside values.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Keys that stand twice in one dict with different values.
    pub(super) repeated: Vec<Repeated>,
    /// Whether anything stood there that only Python has.
    pub(super) is_python: bool,
    /// How many strings were joined to the one before.
    pub(super) n_joints: usize,
    /// Where two strings touch, with nothing between the quotes: `'a''b'`.
    pub(super) touching: Option<usize>,
    /// Where strings are joined inside a list.
    pub(super) joined_in_list: Option<usize>,
    /// How many strings were joined to one on the same line.
    pub(super) n_joints_on_line: usize,
    /// Where strings of one line are joined inside a list.
    pub(super) joined_on_line: Option<usize>,
}

impl<'t> Cursor<'t> {
    pub(super) fn within(text: &'t str, allowance: &'t Allowance) -> Self {
        Self { text, offset: 0, depth: 0, allowance, notes: Notes::default() }
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Goes back to an earlier [`Cursor::offset`], outside of all brackets opened since.
    pub(super) fn go_back(&mut self, offset: usize) {
        self.offset = offset;
    }

    /// Reads with a rule and stays where it was if the rule fails, brackets and all.
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

    /// The text that is still to be read.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// The next byte, if the text goes on.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    /// Takes the next `n_bytes`, which must end where a character ends.
    pub(super) fn take(&mut self, n_bytes: usize) -> &'t str {
        let taken = &self.rest()[..n_bytes];
        self.offset += n_bytes;
        taken
    }

    /// Steps over the ASCII byte `wanted` if it is next.
    pub(super) fn eat(&mut self, wanted: u8) -> bool {
        debug_assert!(wanted.is_ascii(), "a part of a character");
        let found = self.peek() == Some(wanted);
        self.offset += usize::from(found);
        found
    }

    /// Steps over `wanted` or says that it is missing.
    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), SyntaxError> {
        if self.eat(wanted) { Ok(()) } else { Err(self.unexpected(&format!("`{}`", wanted as char))) }
    }

    /// Skips whitespace, line ends, joined lines and comments.
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

    /// Skips whitespace inside a line, and the backslash that joins it to the next one.
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

    /// Skips what may stand between two adjacent strings: line ends only while a bracket is open.
    pub(super) fn skip_between_strings(&mut self) {
        if self.depth > 0 { self.skip_blank() } else { self.skip_spaces() }
    }

    /// Takes a Python identifier, or nothing.
    pub(super) fn identifier(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let is_part = |c: char| c == '_' || c.is_alphanumeric();
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let starts_well = rest[..len].chars().next().is_some_and(|c| c == '_' || c.is_alphabetic());
        starts_well.then(|| self.take(len))
    }

    /// Reads `item, item, …` up to `close`, whose opening bracket was just eaten, and tells whether a comma was seen.
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
            // A list's place takes less than a member, but the first element has to tell which it is.
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

    /// Refuses anything but blanks before the text's end.
    pub(super) fn finish(&mut self) -> Result<(), SyntaxError> {
        self.skip_blank();
        if self.rest().is_empty() { Ok(()) } else { Err(self.unexpected("the end")) }
    }

    /// An error at this place.
    pub(super) fn error(&self, message: impl Into<String>) -> SyntaxError {
        error_at(self.offset, message)
    }

    /// The error that something other than `wanted` is here.
    pub(super) fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match self.rest().chars().next() {
            None => "the end".to_owned(),
            Some(c) if c.is_control() => format!("`{}`", c.escape_default()),
            Some(c) => format!("`{c}`"),
        };
        self.error(format!("expected {wanted}, found {found}"))
    }
}

/// An error at another place than the cursor's.
pub(super) fn error_at(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError { offset, message: message.into() }
}
