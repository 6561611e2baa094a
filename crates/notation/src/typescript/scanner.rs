//! A place in a TypeScript text, with the comments before it.
//!
//! Comments are kept, as they are the only descriptions. Bodies of functions are skipped with their strings, templates,
//! comments and regular expressions.

use serde_json::Value;

use super::fault::{SyntaxError, SyntaxFault, unknown};
use crate::json::loose::json5;

/// Maximum nesting of types.
pub(super) const MAX_DEPTH: usize = 64;

/// Maximum nesting of skipped brackets.
const MAX_BRACKETS: usize = 128;

/// Words before a value, so that a slash after them begins a regular expression.
const VALUE_FOLLOWS: [&str; 8] = ["return", "case", "typeof", "throw", "yield", "await", "else", "in"];

#[cfg(test)]
thread_local! {
    /// Bytes of whitespace that this thread has scanned, counting repetitions.
    pub(super) static SKIPPED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A place in a text.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    depth: usize,
    /// The comments since the last call of `take_comments`, as written.
    comments: Vec<&'t str>,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, depth: 0, comments: Vec::new() }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Goes to the next character that is neither whitespace nor a comment.
    pub(super) fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            #[cfg(test)]
            SKIPPED.set(SKIPPED.get() + rest.len() - trimmed.len());
            if !self.comment() {
                return;
            }
        }
    }

    /// Takes a comment that begins here; returns true if there was one.
    fn comment(&mut self) -> bool {
        let rest = self.rest();
        let length = if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if let Some(inner) = rest.strip_prefix("/*") {
            inner.find("*/").map_or(rest.len(), |end| end + "/**/".len())
        } else {
            return false;
        };
        self.comments.push(&rest[..length]);
        self.at += length;
        true
    }

    /// Takes the comments on the rest of this line, if nothing else is on it.
    pub(super) fn rest_of_line(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
            if !self.comment() {
                return;
            }
        }
    }

    pub(super) fn take_comments(&mut self) -> Vec<&'t str> {
        std::mem::take(&mut self.comments)
    }

    /// Takes `wanted` after whitespace, if it is next; otherwise stays before the whitespace.
    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        self.if_found(|scanner| scanner.rest().starts_with(wanted).then_some(wanted.len()))
    }

    /// Skips whitespace and takes the number of bytes returned by `find`; stays in place for `None`.
    fn if_found(&mut self, find: impl FnOnce(&Self) -> Option<usize>) -> bool {
        let (at, n_comments) = (self.at, self.comments.len());
        self.skip();
        if let Some(length) = find(self) {
            self.at += length;
            return true;
        }
        self.at = at;
        self.comments.truncate(n_comments);
        false
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Result<(), SyntaxError> {
        if self.eat(wanted) {
            return Ok(());
        }
        self.skip();
        Err(self.unexpected(&format!("`{wanted}`")))
    }

    /// Returns the text after whitespace.
    fn rest_after_blanks(&self) -> &'t str {
        let mut ahead = Self::new(self.text);
        ahead.at = self.at;
        ahead.skip();
        ahead.rest()
    }

    /// Returns true if `wanted` is next after whitespace.
    pub(super) fn sees(&self, wanted: &str) -> bool {
        self.rest_after_blanks().starts_with(wanted)
    }

    /// Takes the word `wanted`, if it is next as a whole.
    pub(super) fn eat_word(&mut self, wanted: &str) -> bool {
        self.peek_word() == Some(wanted) && self.eat(wanted)
    }

    /// Returns the next word after whitespace.
    pub(super) fn peek_word(&self) -> Option<&'t str> {
        let rest = self.rest_after_blanks();
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let starts_well = rest.chars().next().is_some_and(|c| is_part(c) && !c.is_ascii_digit());
        starts_well.then(|| &rest[..end])
    }

    /// Returns true if a line ends before any other token.
    pub(super) fn ends_line(&self) -> bool {
        let behind = self.rest().trim_start_matches([' ', '\t']);
        behind.is_empty() || behind.starts_with(['\n', '\r'])
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, SyntaxError> {
        self.skip();
        let word = self.peek_word().ok_or_else(|| self.unexpected(what))?;
        self.at += word.len();
        Ok(word)
    }

    /// Reads one level deeper.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Reads a quoted string and returns its text.
    pub(super) fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        self.skip_string();
        let written = &self.text[start..self.at];
        match json5(written) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(unknown(start, "expected a string that ends on its line")),
        }
    }

    /// Skips a string or template of any kind.
    pub(super) fn skip_string(&mut self) {
        let bytes = self.text.as_bytes();
        let quote = bytes[self.at];
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                _ if byte == quote => {
                    self.at += 1;
                    return;
                }
                b'\n' if quote != b'`' => return,
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.text.len();
    }

    /// Skips a bracket with its contents.
    pub(super) fn skip_bracket(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let mut depth = 0_usize;
        let mut before = b'(';
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'"' | b'\'' | b'`' => {
                    self.skip_string();
                    before = b'"';
                    continue;
                }
                b'/' if self.rest().starts_with("//") || self.rest().starts_with("/*") => {
                    self.comment();
                    self.comments.pop();
                    continue;
                }
                b'/' if begins_pattern(before) || self.follows_word() => {
                    self.skip_pattern();
                    before = b'"';
                    continue;
                }
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_BRACKETS {
                return Err(self.too_deep());
            }
            self.at += 1;
            if depth == 0 {
                return self.on_boundary(start);
            }
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
        }
        self.at = self.text.len();
        Err(self.unexpected("the end of a bracket"))
    }

    /// Returns true if the word before this place is one that precedes a value.
    fn follows_word(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches([' ', '\t']);
        VALUE_FOLLOWS
            .iter()
            .any(|word| before.strip_suffix(word).is_some_and(|front| !front.ends_with(is_part)))
    }

    /// Skips `/…/`, which ends on its line.
    fn skip_pattern(&mut self) {
        let bytes = self.text.as_bytes();
        let mut is_class = false;
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                b'/' if !is_class => {
                    self.at += 1;
                    return;
                }
                b'\n' => return,
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.text.len();
    }

    fn on_boundary(&mut self, start: usize) -> Result<(), SyntaxError> {
        if self.text.is_char_boundary(self.at) { Ok(()) } else { Err(unknown(start, "expected a bracket")) }
    }

    /// Returns the fault that types or brackets are nested too deep.
    pub(super) fn too_deep(&self) -> SyntaxError {
        let message = format!("types or brackets are nested too deep at byte {}", self.at);
        SyntaxError { kind: SyntaxFault::TooDeep, at: self.at, message }
    }

    /// Returns the fault that `wanted` was expected here.
    pub(super) fn unexpected(&self, wanted: &str) -> SyntaxError {
        if let Some(found) = self.rest().chars().next() {
            return unknown(self.at, &format!("expected {wanted}, found {found:?}"));
        }
        let message = format!("expected {wanted}, found the end");
        SyntaxError { kind: SyntaxFault::Cut, at: self.at, message }
    }
}

fn is_part(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}

/// Returns true if a slash after this byte begins a regular expression: after a value it is a division.
fn begins_pattern(before: u8) -> bool {
    !(before.is_ascii_alphanumeric() || matches!(before, b'_' | b'$' | b')' | b']' | b'"' | b'}'))
}
