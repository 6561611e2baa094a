//! Strings in any quotes, with any text left unescaped in them.
//!
//! Adjacent strings may be one; a string is read from its quote to the end found by `ends`. `inner` decides the meaning
//! of quotes inside it, `escapes` that of backslashes.

use super::ends::{
    StringPlace, begins_with_colon, can_end, closing, has_colon, structure_follows, without_comma,
};
use super::escapes::Escapes;
use super::inner::Inner;
use super::{LooseReader, Stop};
use crate::json::marks::bare_key;

/// Maximum distance to the colon that makes a string a key.
const MAX_KEY_BYTES: usize = 256;

/// A string whose closing quote has not been read.
struct Open {
    quote: char,
    place: StringPlace,
    /// The start of its text, after the quote.
    start: usize,
    text: String,
    inner: Inner,
    escapes: Escapes,
}

impl Open {
    fn new(quote: char, place: StringPlace, start: usize) -> Self {
        Self {
            quote,
            place,
            start,
            text: String::new(),
            inner: Inner::default(),
            escapes: Escapes::default(),
        }
    }
}

impl LooseReader<'_> {
    pub(super) fn quote_is_next(&self) -> bool {
        self.peek().is_some_and(|c| closing(c).is_some())
    }

    /// Reads a string and those joined to it; `None` if the text ends inside a key.
    pub(super) fn strings(&mut self, place: StringPlace) -> Result<Option<String>, Stop> {
        let Some(mut text) = self.string(place)? else { return Ok(None) };
        loop {
            let end = self.at;
            self.skip_blanks();
            if self.eat('+') {
                self.skip_blanks();
                if self.mark().is_none() {
                    self.cut();
                    return Ok(Some(text));
                }
                if !self.quote_is_next() {
                    return Err(self.program("a string is joined to a value that is not a string"));
                }
            } else if !self.quote_is_next() || (place == StringPlace::Member && self.key_is_next()) {
                return Ok(Some(text));
            } else if place == StringPlace::Element && self.open.last() != Some(&')') {
                // Python joins them; if a comma is missing, they are two.
                self.ambiguous();
                return Ok(Some(text));
            } else {
                self.notes.is_python = true;
                if end == self.at {
                    self.ambiguous();
                }
            }
            text += &self.string(place)?.unwrap_or_default();
        }
    }

    /// Returns true if the next string is a key.
    fn key_is_next(&self) -> bool {
        let Some(quote) = self.peek() else { return false };
        let rest = &self.rest()[quote.len_utf8()..];
        let near = rest.char_indices().take_while(|(at, _)| *at < MAX_KEY_BYTES);
        let end = near
            .filter(|(_, c)| closing(quote).is_some_and(|closes| closes.contains(*c)))
            .map(|(at, c)| at + c.len_utf8())
            .next();
        end.is_some_and(|end| begins_with_colon(&rest[end..]))
    }

    /// Reads one string from its quote on; `None` if the text ends inside a key.
    pub(super) fn string(&mut self, place: StringPlace) -> Result<Option<String>, Stop> {
        let Some(quote) = self.peek() else { return Ok(None) };
        if let Some(quotes) = triple_quotes(self.rest()).filter(|_| place != StringPlace::Key) {
            return self.triple(quotes, place).map(Some);
        }
        if !matches!(quote, '"' | '\'' | '`') {
            self.slip();
        }
        self.at += quote.len_utf8();
        if let Some(json) = self.json_with_bare_quotes(quote, place) {
            return Ok(Some(json));
        }
        self.open_string(Open::new(quote, place, self.at))
    }

    /// Reads to the end of the string.
    fn open_string(&mut self, mut open: Open) -> Result<Option<String>, Stop> {
        loop {
            self.keep(plain_len(self.rest(), open.quote), &mut open.text);
            let Some(c) = self.peek() else { return self.cut_string(open) };
            match c {
                '\\' if open.place == StringPlace::Raw => {
                    let escaped = self.rest()[1..].chars().next();
                    self.keep(1 + escaped.map_or(0, char::len_utf8), &mut open.text);
                }
                '\\' => {
                    open.escapes.note(self.rest());
                    self.escape(&mut open.text)?;
                }
                '$' if open.quote == '`' && self.rest().starts_with("${") => {
                    return Err(self.program("a template string holds an expression"));
                }
                '\n' | '\r' if self.has_ended(open.place) => {
                    return Ok(Some(without_comma(&open.text).to_owned()));
                }
                c if c.is_control() => {
                    // Only strings in backticks may contain line breaks.
                    if open.quote != '`' {
                        self.slip();
                    }
                    self.keep(c.len_utf8(), &mut open.text);
                }
                c if !closing(open.quote).is_some_and(|closes| closes.contains(c)) => {
                    self.keep(c.len_utf8(), &mut open.text);
                }
                quote => {
                    if let Some(text) = self.end_at(quote, &mut open)? {
                        return Ok(Some(text));
                    }
                }
            }
        }
    }

    /// Copies bytes of the text.
    fn keep(&mut self, n_bytes: usize, text: &mut String) {
        text.push_str(&self.rest()[..n_bytes]);
        self.at += n_bytes;
    }

    /// Returns the string if it ends at this quote; otherwise the quote is part of it.
    fn end_at(&mut self, quote: char, open: &mut Open) -> Result<Option<String>, Stop> {
        let after = &self.rest()[quote.len_utf8()..];
        if can_end(after, open.place) {
            self.at += quote.len_utf8();
            return Ok(Some(self.closed(open)));
        }
        if open.place == StringPlace::Key {
            return self.unclosed_key(open.start).map(Some);
        }
        if open.text.trim_end().ends_with(',') && self.has_ended(open.place) {
            return Ok(Some(without_comma(&open.text).to_owned()));
        }
        if begins_with_colon(after) {
            // The missing closing quote may be that of this string.
            self.ambiguous();
        }
        open.inner.note(self.at, quote, &open.text, after);
        self.keep(quote.len_utf8(), &mut open.text);
        Ok(None)
    }

    /// Returns the text of a string that has ended, and continues after its closing quote.
    fn closed(&mut self, open: &mut Open) -> String {
        let text = std::mem::take(&mut open.text);
        self.judge_inner(&open.inner, &text);
        if open.escapes.are_doubtful() {
            self.ambiguous();
        }
        text
    }

    /// Returns true if a string without a closing quote has ended before this place.
    fn has_ended(&mut self, place: StringPlace) -> bool {
        if !structure_follows(self.rest(), place) {
            return false;
        }
        self.could_mend = true;
        if self.mends_open_strings {
            self.likely();
        }
        self.mends_open_strings
    }

    /// Ends a string at the end of the text: a key without a value is dropped, any other string is kept as far as it
    /// goes.
    fn cut_string(&mut self, open: Open) -> Result<Option<String>, Stop> {
        if open.place == StringPlace::Key {
            if has_colon(&self.text[open.start..]) {
                return self.unclosed_key(open.start).map(Some);
            }
            self.cut();
            return Ok(None);
        }
        self.inner_list_end = None;
        self.cut();
        Ok(Some(open.text))
    }

    /// Goes back to the end of a key without a closing quote: `{"name: "f"}`.
    fn unclosed_key(&mut self, start: usize) -> Result<String, Stop> {
        let content = &self.text[start..];
        let name = bare_key(content);
        if name.is_empty() || !has_colon(content) {
            return Err(self.beyond("a colon"));
        }
        self.at = start + name.len();
        self.slip();
        Ok(name.to_owned())
    }

    fn triple(&mut self, quotes: &str, place: StringPlace) -> Result<String, Stop> {
        self.notes.is_python = true;
        self.at += quotes.len();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            if rest.starts_with(quotes) {
                self.at += quotes.len();
                return Ok(text);
            }
            match self.peek() {
                None => {
                    self.cut();
                    return Ok(text);
                }
                Some('\\') if place != StringPlace::Raw => self.escape(&mut text)?,
                Some(c) => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }
}

/// Returns the three quotes at the start of a text that open a multi-line string in Python.
fn triple_quotes(text: &str) -> Option<&'static str> {
    ["\"\"\"", "'''"].into_iter().find(|quotes| text.starts_with(quotes))
}

/// Returns the number of bytes that can be copied unchanged.
fn plain_len(text: &str, quote: char) -> usize {
    let is_ascii_quote = quote.is_ascii();
    let quote = u8::try_from(quote).unwrap_or(b'"');
    let ends = |byte: u8| {
        byte < 0x20
            || byte == quote
            || byte == b'\\'
            || (byte == b'$' && quote == b'`')
            || byte == 0x7f
            || (!is_ascii_quote && (byte >= 0x80 || byte == b'\'' || byte == b'"'))
    };
    text.bytes().position(ends).unwrap_or(text.len())
}
