//! Python's string literals: every quote, prefix and escape, and adjacent strings.

use super::SyntaxError;
use super::cursor::{Cursor, error_at};

/// Returns true if a string, with or without a prefix, starts at the cursor.
pub(super) fn starts_here(cursor: &Cursor<'_>) -> bool {
    prefix_len(cursor.rest()).is_some()
}

/// Returns true if a text begins with a string, with or without a prefix.
pub(super) fn starts_at(text: &str) -> bool {
    prefix_len(text).is_some()
}

/// Reads the string at the cursor and those that follow it without a comma.
pub(super) fn strings(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    let mut joined = String::new();
    let mut end = None;
    while let Some(prefix_len) = prefix_len(cursor.rest()) {
        let start = cursor.offset();
        let is_single = cursor.rest()[prefix_len..].starts_with('\'');
        cursor.notes.is_python |= is_single || prefix_len > 0;
        if let Some((end, is_on_line)) = end {
            cursor.notes.n_joints += 1;
            cursor.notes.n_joints_on_line += usize::from(is_on_line);
            if end == start {
                cursor.notes.touching.get_or_insert(start);
            }
        }
        let is_raw = match cursor.take(prefix_len) {
            "" | "u" | "U" => false,
            "r" | "R" => true,
            prefix => {
                let message = format!("a string with the prefix `{prefix}` is not plain text");
                return Err(error_at(start, message));
            }
        };
        string(cursor, is_raw, &mut joined)?;
        let (offset, rest) = (cursor.offset(), cursor.rest());
        cursor.skip_between_strings();
        end = Some((offset, !rest[..cursor.offset() - offset].contains(['\n', '\r'])));
    }
    Ok(joined)
}

/// Returns the length of the prefix before an opening quote; `None` if no string starts here.
fn prefix_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let len = bytes.iter().take(3).take_while(|byte| byte.is_ascii_alphabetic()).count();
    matches!(bytes.get(len), Some(b'\'' | b'"')).then_some(len)
}

/// Reads one string from its opening quote on and appends its text to `into`.
fn string(cursor: &mut Cursor<'_>, is_raw: bool, into: &mut String) -> Result<(), SyntaxError> {
    let start = cursor.offset();
    let quote = if cursor.rest().starts_with('\'') { "'" } else { "\"" };
    let triple = if quote == "'" { "'''" } else { "\"\"\"" };
    let is_triple = cursor.rest().starts_with(triple);
    let close = if is_triple { triple } else { quote };
    cursor.take(close.len());
    loop {
        let rest = cursor.rest();
        let plain = rest.bytes().position(|byte| matches!(byte, b'\'' | b'"' | b'\\' | b'\n' | b'\r'));
        let Some(plain) = plain else {
            return Err(error_at(start, "string without an end"));
        };
        into.push_str(cursor.take(plain));
        if cursor.rest().starts_with(close) {
            cursor.take(close.len());
            return Ok(());
        }
        match cursor.peek() {
            Some(b'\\') if is_raw => {
                into.push_str(cursor.take(1));
                raw_after_backslash(cursor, into);
            }
            Some(b'\\') => escape(cursor, into)?,
            Some(b'\n' | b'\r') if is_triple => {
                skip_line_end(cursor);
                into.push('\n');
            }
            Some(b'\n' | b'\r') => return Err(error_at(start, "string without an end on its line")),
            _ => into.push_str(cursor.take(1)),
        }
    }
}

/// Skips one line break, which Python reads as a newline whatever its bytes.
fn skip_line_end(cursor: &mut Cursor<'_>) {
    let len = if cursor.rest().starts_with("\r\n") { 2 } else { 1 };
    cursor.take(len);
}

/// Reads a backslash in a raw string: it is kept, and so is the character that it escapes.
fn raw_after_backslash(cursor: &mut Cursor<'_>, into: &mut String) {
    match cursor.peek() {
        Some(b'\n' | b'\r') => {
            skip_line_end(cursor);
            into.push('\n');
        }
        Some(b'\'' | b'"' | b'\\') => into.push_str(cursor.take(1)),
        _ => {}
    }
}

/// Reads the escape at the cursor's backslash. An unknown one is kept as written.
fn escape(cursor: &mut Cursor<'_>, into: &mut String) -> Result<(), SyntaxError> {
    let start = cursor.offset();
    cursor.take(1);
    let Some(letter) = cursor.rest().chars().next() else {
        return Err(error_at(start, "string without an end"));
    };
    if matches!(letter, '\n' | '\r') {
        skip_line_end(cursor);
        return Ok(());
    }
    if letter.is_digit(8) {
        let len = cursor.rest().bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        into.push(scalar(start, cursor.take(len), 8)?);
        return Ok(());
    }
    cursor.take(letter.len_utf8());
    match letter {
        '\\' | '\'' | '"' => into.push(letter),
        'a' => into.push('\x07'),
        'b' => into.push('\x08'),
        'f' => into.push('\x0c'),
        'n' => into.push('\n'),
        'r' => into.push('\r'),
        't' => into.push('\t'),
        'v' => into.push('\x0b'),
        'x' => into.push(scalar(start, hex(cursor, start, 2)?, 16)?),
        'u' => into.push(utf16_escape(cursor, start)?),
        'U' => into.push(scalar(start, hex(cursor, start, 8)?, 16)?),
        'N' => return Err(error_at(start, "character names (`\\N{…}`) are not supported")),
        other => into.extend(['\\', other]),
    }
    Ok(())
}

/// Reads the rest of a `\u` escape. Two that form a surrogate pair are one character, as in JSON.
fn utf16_escape(cursor: &mut Cursor<'_>, start: usize) -> Result<char, SyntaxError> {
    let first = hex(cursor, start, 4)?;
    let is_high = u32::from_str_radix(first, 16).is_ok_and(|unit| (0xD800..0xDC00).contains(&unit));
    if !is_high || !cursor.rest().starts_with("\\u") {
        return scalar(start, first, 16);
    }
    cursor.take(2);
    let second = hex(cursor, start, 4)?;
    let units = [first, second].map(|digits| u16::from_str_radix(digits, 16).unwrap_or_default());
    match char::decode_utf16(units).next() {
        Some(Ok(paired)) => Ok(paired),
        _ => Err(error_at(start, "half of a surrogate pair")),
    }
}

/// Takes exactly `n_digits` hexadecimal digits.
fn hex<'t>(cursor: &mut Cursor<'t>, start: usize, n_digits: usize) -> Result<&'t str, SyntaxError> {
    let found = cursor.rest().bytes().take(n_digits).take_while(u8::is_ascii_hexdigit).count();
    if found < n_digits {
        return Err(error_at(start, format!("escape with fewer than {n_digits} hexadecimal digits")));
    }
    Ok(cursor.take(n_digits))
}

/// Returns the character with this number, if it is valid in a text.
fn scalar(start: usize, digits: &str, radix: u32) -> Result<char, SyntaxError> {
    let code = u32::from_str_radix(digits, radix).ok();
    match code.map(char::from_u32) {
        Some(Some(character)) => Ok(character),
        _ if code.is_some_and(|code| (0xD800..0xE000).contains(&code)) => {
            Err(error_at(start, "half of a surrogate pair"))
        }
        _ => Err(error_at(start, "escape beyond the last character")),
    }
}

/// Skips a string of any kind, or to the end of the text if it has no end; returns true if it is closed.
pub(super) fn skip(cursor: &mut Cursor<'_>) -> bool {
    let rest = cursor.rest();
    let quote = &rest[..1];
    let triple = quote.repeat(3);
    let close = if rest.starts_with(&triple) { triple.as_str() } else { quote };
    cursor.take(close.len());
    loop {
        let rest = cursor.rest();
        let Some(next) = rest.find(['\\', '\n', '\'', '"']) else {
            cursor.take(rest.len());
            return false;
        };
        cursor.take(next);
        let rest = cursor.rest();
        if rest.starts_with(close) {
            cursor.take(close.len());
            return true;
        }
        if rest.starts_with('\n') && close.len() == 1 {
            return true;
        }
        // A backslash belongs to the character after it.
        let escaped =
            rest.strip_prefix('\\').and_then(|after| after.chars().next()).map_or(0, char::len_utf8);
        cursor.take(1 + escaped);
    }
}
