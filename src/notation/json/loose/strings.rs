//! Strings in any quotes, with whatever people leave unescaped in them.
//!
//! Strings that stand side by side may be one; a string is read from its quote to where `ends` says that it ends.
//! What a quote inside of it means is for `inner`, what a backslash means for `escapes`.

use super::ends::{Place, begins_with_colon, can_end, closing, has_colon, structure_follows, without_comma};
use super::escapes::Escapes;
use super::inner::Inner;
use super::{Reader, Stop};
use crate::notation::json::marks::bare_key;

/// How far to look for the colon that makes a string a key.
const MAX_KEY_BYTES: usize = 256;

/// A string on the way to its closing quote.
struct Open {
    quote: char,
    place: Place,
    /// Where its text begins, behind the quote.
    start: usize,
    text: String,
    inner: Inner,
    escapes: Escapes,
}

impl Open {
    fn new(quote: char, place: Place, start: usize) -> Self {
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

impl Reader<'_> {
    pub(super) fn quote_is_next(&self) -> bool {
        self.peek().is_some_and(|c| closing(c).is_some())
    }

    /// Reads a string and those that are joined to it; none where the text ends inside a key.
    pub(super) fn strings(&mut self, place: Place) -> Result<Option<String>, Stop> {
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
                    return Err(self.program("a string is joined to something that is no string"));
                }
            } else if !self.quote_is_next() || (place == Place::Member && self.key_is_next()) {
                return Ok(Some(text));
            } else if place == Place::Element && self.open.last() != Some(&')') {
                // Python joins them; whoever forgot a comma meant two.
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

    /// Whether the string that is next is a key.
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

    /// Reads one string from its quote on; none where the text ends inside a key.
    pub(super) fn string(&mut self, place: Place) -> Result<Option<String>, Stop> {
        let Some(quote) = self.peek() else { return Ok(None) };
        if let Some(quotes) = triple_quotes(self.rest()).filter(|_| place != Place::Key) {
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

    /// Reads on to where the string ends.
    fn open_string(&mut self, mut open: Open) -> Result<Option<String>, Stop> {
        loop {
            self.keep(plain_len(self.rest(), open.quote), &mut open.text);
            let Some(c) = self.peek() else { return self.cut_string(open) };
            match c {
                '\\' if open.place == Place::Raw => {
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
                    // Only backticks may hold line ends.
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

    /// Takes bytes of the text as they are.
    fn keep(&mut self, n_bytes: usize, text: &mut String) {
        text.push_str(&self.rest()[..n_bytes]);
        self.at += n_bytes;
    }

    /// The string, where it ends at this quote; else the quote is a part of it.
    fn end_at(&mut self, quote: char, open: &mut Open) -> Result<Option<String>, Stop> {
        let after = &self.rest()[quote.len_utf8()..];
        if can_end(after, open.place) {
            self.at += quote.len_utf8();
            return Ok(Some(self.closed(open)));
        }
        if open.place == Place::Key {
            return self.unclosed_key(open.start).map(Some);
        }
        if open.text.trim_end().ends_with(',') && self.has_ended(open.place) {
            return Ok(Some(without_comma(&open.text).to_owned()));
        }
        if begins_with_colon(after) {
            // The closing quote of this string may be the one that was forgotten.
            self.ambiguous();
        }
        open.inner.note(self.at, quote, &open.text, after);
        self.keep(quote.len_utf8(), &mut open.text);
        Ok(None)
    }

    /// The text of a string that has ended, behind its closing quote.
    fn closed(&mut self, open: &mut Open) -> String {
        let text = std::mem::take(&mut open.text);
        self.judge_inner(&open.inner, &text);
        if open.escapes.are_doubtful() {
            self.ambiguous();
        }
        text
    }

    /// Whether a string has ended before this place, its closing quote forgotten.
    fn has_ended(&mut self, place: Place) -> bool {
        if !structure_follows(self.rest(), place) {
            return false;
        }
        self.could_mend = true;
        if self.mends_open_strings {
            self.likely();
        }
        self.mends_open_strings
    }

    /// The text ends inside a string: a key says nothing without its value, anything else is kept as far as it goes.
    fn cut_string(&mut self, open: Open) -> Result<Option<String>, Stop> {
        if open.place == Place::Key {
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

    /// Goes back behind the name of a key whose closing quote was forgotten: `{"name: "f"}`.
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

    fn triple(&mut self, quotes: &str, place: Place) -> Result<String, Stop> {
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
                Some('\\') if place != Place::Raw => self.escape(&mut text)?,
                Some(c) => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }
}

/// The three quotes that a text begins with, where Python opens a string of several lines with them.
fn triple_quotes(text: &str) -> Option<&'static str> {
    ["\"\"\"", "'''"].into_iter().find(|quotes| text.starts_with(quotes))
}

/// How many bytes can be taken as they are.
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
