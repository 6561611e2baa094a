//! Strings in any quotes, with whatever people leave unescaped in them.
//!
//! A quote ends its string where what follows can follow a string; any other is part of the
//! text. Between two letters it is an apostrophe and nothing else; elsewhere it most likely
//! is one. An escape that JSON does not know keeps its backslash, as the writer of `\d` or
//! `80\%` saw no escape there.

use super::blanks::{blanks_len, is_blank, plain_mark};
use super::values::bare_key;
use super::{Reader, Stop, StopKind};
use crate::docs::parse::strict;

/// Where a string stands, which tells what can follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Key,
    /// The value of a key.
    Member,
    /// In a list or alone.
    Element,
    /// The value of a key or an element, written as one raw string.
    Raw,
}

/// How far to look for the colon that makes a string a key.
const MAX_KEY_BYTES: usize = 256;

/// How far to look past a quote for what follows it.
const MAX_LOOK_BYTES: usize = 1024;

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
        end.is_some_and(|end| rest[end..].trim_start_matches(is_blank).starts_with([':', '：']))
    }

    /// Reads one string from its quote on.
    pub(super) fn string(&mut self, place: Place) -> Result<Option<String>, Stop> {
        let Some(quote) = self.peek() else { return Ok(None) };
        let rest = self.rest();
        if matches!(quote, '"' | '\'') && place != Place::Key {
            let triple = if quote == '"' { "\"\"\"" } else { "'''" };
            if rest.starts_with(triple) {
                return self.triple(triple, place).map(Some);
            }
        }
        if !matches!(quote, '"' | '\'' | '`') {
            self.slip();
        }
        let start = self.at;
        self.at += quote.len_utf8();
        if let Some(json) = self.json_with_bare_quotes(quote, place) {
            return Ok(Some(json));
        }
        let mut text = String::new();
        let mut inner = None;
        let mut escapes = Escapes::default();
        loop {
            let plain = plain_len(self.rest(), quote);
            text.push_str(&self.rest()[..plain]);
            self.at += plain;
            let Some(c) = self.peek() else {
                return self.cut_string(start, place, text);
            };
            match c {
                '\\' if place == Place::Raw => {
                    let len = 1 + self.rest()[1..].chars().next().map_or(0, char::len_utf8);
                    text.push_str(&self.rest()[..len]);
                    self.at += len;
                }
                '\\' => {
                    escapes.note(self.rest());
                    self.escape(&mut text)?;
                }
                '$' if quote == '`' && self.rest().starts_with("${") => {
                    return Err(self.program("a template string holds an expression"));
                }
                '\n' | '\r' if structure_follows(self.rest(), place) && self.mends() => {
                    self.likely();
                    return Ok(Some(without_comma(&text).to_owned()));
                }
                c if c.is_control() => {
                    // Only backticks may hold line ends.
                    if quote != '`' {
                        self.slip();
                    }
                    text.push(c);
                    self.at += c.len_utf8();
                }
                c if !closing(quote).is_some_and(|closes| closes.contains(c)) => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
                c => {
                    let after = &self.rest()[c.len_utf8()..];
                    if can_end(after, place) {
                        self.at += c.len_utf8();
                        self.judge_inner(inner, &text);
                        if escapes.are_doubtful() {
                            self.ambiguous();
                        }
                        return Ok(Some(text));
                    }
                    if place == Place::Key {
                        return self.unclosed_key(start + quote.len_utf8()).map(Some);
                    }
                    if text.trim_end().ends_with(',') && structure_follows(self.rest(), place) && self.mends()
                    {
                        self.likely();
                        return Ok(Some(without_comma(&text).to_owned()));
                    }
                    let is_apostrophe = text.ends_with(char::is_alphanumeric)
                        && after.starts_with(char::is_alphabetic)
                        && c != '"';
                    if after.trim_start_matches(is_blank).starts_with([':', '：']) {
                        // The closing quote of this string may be the one that was forgotten.
                        self.ambiguous();
                    }
                    inner = Some((self.at, is_apostrophe && inner.is_none_or(|(_, all)| all)));
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    /// Whether a string ends here whose closing quote seems to have been forgotten.
    fn mends(&mut self) -> bool {
        self.could_mend = true;
        self.mends_open_strings
    }

    /// Takes JSON whose own quotes are not escaped in the quotes around it: `"{"city": "Oslo"}"`.
    fn json_with_bare_quotes(&mut self, quote: char, place: Place) -> Option<String> {
        let rest = self.rest();
        if quote != '"' || !rest.starts_with(['{', '[']) || self.looked_bytes > self.text.len() {
            return None;
        }
        let first = rest.find(['"', '\\']).filter(|at| rest[*at..].starts_with('"'))?;
        if can_end(&rest[first + 1..], place) {
            return None;
        }
        let length = strict::prefix_len(rest);
        self.looked_bytes += length.unwrap_or_else(|stopped| stopped);
        let length = length.ok()?;
        let after = rest[length..].strip_prefix('"')?;
        if !can_end(after, place) {
            return None;
        }
        self.slip();
        self.at += length + 1;
        Some(rest[..length].to_owned())
    }

    /// How sure it is that quotes inside a string belong to it.
    fn judge_inner(&mut self, inner: Option<(usize, bool)>, text: &str) {
        let Some((at, are_apostrophes)) = inner else { return };
        let holds_json = text.starts_with(['{', '[']) && strict::read(text).is_ok();
        let noted = if are_apostrophes || holds_json { &mut self.notes.slip } else { &mut self.notes.likely };
        noted.get_or_insert(at);
    }

    /// The text ends inside a string: a key says nothing without its value, anything else is kept as far as it goes.
    fn cut_string(&mut self, start: usize, place: Place, text: String) -> Result<Option<String>, Stop> {
        if place == Place::Key {
            let quote = self.text[start..].chars().next().map_or(0, char::len_utf8);
            if has_colon(&self.text[start + quote..]) {
                return self.unclosed_key(start + quote).map(Some);
            }
            self.cut();
            return Ok(None);
        }
        self.inner_list_end = None;
        self.cut();
        Ok(Some(text))
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

    /// Reads the escape at the backslash; half of one at the end of the text is left out.
    fn escape(&mut self, text: &mut String) -> Result<(), Stop> {
        self.at += 1;
        let Some(letter) = self.peek() else { return Ok(()) };
        self.at += letter.len_utf8();
        match letter {
            '"' | '\'' | '\\' | '/' | '`' => text.push(letter),
            'b' => text.push('\x08'),
            'f' => text.push('\x0c'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'v' => text.push('\x0b'),
            '\r' if self.eat('\n') => {}
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => {}
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => text.push('\0'),
            'x' | 'u' => self.numbered(letter, text)?,
            other => {
                self.slip();
                text.extend(['\\', other]);
            }
        }
        Ok(())
    }

    /// Reads the digits of `\xNN` or `\uNNNN`, and the second half where they are the first of a pair.
    fn numbered(&mut self, letter: char, text: &mut String) -> Result<(), Stop> {
        let n_digits = if letter == 'x' { 2 } else { 4 };
        let Some(first) = self.hex(n_digits) else {
            if self.rest().len() < n_digits && self.rest().chars().all(|c| c.is_ascii_hexdigit()) {
                self.at = self.text.len();
                return Ok(());
            }
            self.slip();
            text.extend(['\\', letter]);
            return Ok(());
        };
        let is_high = (0xD800..0xDC00).contains(&first);
        if is_high && "\\u".starts_with(&self.rest()[..self.rest().len().min(2)]) && self.rest().len() < 6 {
            // The second half is cut off, and the first means nothing alone.
            self.at = self.text.len();
            return Ok(());
        }
        let mut units = vec![first];
        if is_high && self.rest().starts_with("\\u") {
            self.at += 2;
            units.extend(self.hex(4));
        }
        let Some(Ok(c)) = char::decode_utf16(units).next() else {
            let message = "half of a surrogate pair".to_owned();
            return Err(Stop { kind: StopKind::Beyond, at: self.at, message });
        };
        text.push(c);
        Ok(())
    }

    fn hex(&mut self, n_digits: usize) -> Option<u16> {
        let digits =
            self.rest().get(..n_digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += n_digits;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// Which escapes stand in one string: whoever wrote `C:\Users\new` meant no line end.
#[derive(Default)]
struct Escapes {
    has_blank: bool,
    has_unknown: bool,
}

impl Escapes {
    fn note(&mut self, text: &str) {
        match text[1..].chars().next() {
            Some('b' | 'f' | 'n' | 'r' | 't' | 'v') => self.has_blank = true,
            Some(c) if c.is_alphabetic() && !matches!(c, 'u' | 'x') => self.has_unknown = true,
            _ => {}
        }
    }

    fn are_doubtful(&self) -> bool {
        self.has_blank && self.has_unknown
    }
}

/// The characters that may close a string opened with this one.
fn closing(quote: char) -> Option<&'static str> {
    match quote {
        '"' => Some("\""),
        '\'' => Some("'"),
        '`' => Some("`"),
        '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '〝' => Some("”“„‟«»＂〞\""),
        '‘' | '’' | '‚' | '‛' | '＇' => Some("’‘‚‛＇'"),
        _ => None,
    }
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

/// Whether a bare key and a colon stand at the start of a text.
fn has_colon(text: &str) -> bool {
    let name = bare_key(text);
    !name.is_empty() && text[name.len()..].trim_start_matches(is_blank).starts_with([':', '：'])
}

/// Whether a string in this place can end where `after` follows.
fn can_end(after: &str, place: Place) -> bool {
    let gap = blanks_len(near(after));
    let rest = &after[gap..];
    let Some(next) = rest.chars().next().map(plain_mark) else { return true };
    match next {
        ':' | '=' => place == Place::Key,
        ',' => place == Place::Key || comma_separates(&rest[rest.chars().next().map_or(1, char::len_utf8)..]),
        '}' | ']' | ')' => true,
        _ if place == Place::Key => false,
        '+' | ';' | '#' => true,
        '/' => rest.starts_with("//") || rest.starts_with("/*"),
        '\\' => rest[1..].starts_with(['n', 'r', 't', '\n']),
        c if closing(c).is_some() => true,
        _ => after[..gap].contains('\n') && has_colon(rest),
    }
}

/// Whether a bracket closes or a key in quotes begins here, as after a string that should have ended before.
fn structure_follows(text: &str, place: Place) -> bool {
    let rest = &text[blanks_len(near(text))..];
    let after = |rest: &str| rest.trim_start_matches(is_blank).chars().next().map(plain_mark);
    match rest.chars().next() {
        _ if place == Place::Key => false,
        Some('}' | ']') => after(&rest[1..]).is_none_or(|next| matches!(next, ',' | '}' | ']')),
        Some(quote @ ('"' | '\'')) => {
            let name = bare_key(near(&rest[1..]));
            let behind = &rest[1 + name.len()..];
            !name.is_empty() && behind.strip_prefix(quote).and_then(after) == Some(':')
        }
        _ => false,
    }
}

/// The text without the comma that was meant to stand behind it.
fn without_comma(text: &str) -> &str {
    text.trim_end().trim_end_matches(',')
}

/// Whether what follows a comma can follow one between values.
fn comma_separates(after: &str) -> bool {
    const WORDS: [&str; 8] = ["true", "false", "null", "True", "False", "None", "undefined", "NaN"];
    let rest = &after[blanks_len(near(after))..];
    let Some(next) = rest.chars().next().map(plain_mark) else { return true };
    if !next.is_alphabetic() && !matches!(next, '_' | '$') {
        return true;
    }
    let word = bare_key(near(rest));
    let after = &rest[word.len()..];
    WORDS.contains(&word) || has_colon(near(rest)) || after.is_empty() || after.starts_with(['"', '\'', '('])
}

/// The beginning of a text, as far as one looks ahead.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LOOK_BYTES)]
}
