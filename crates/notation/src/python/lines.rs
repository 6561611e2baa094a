//! Lines of Python: their indentation, and skipping them with all their brackets and strings.

use super::cursor::Cursor;
use super::strings;

/// Columns per tab.
const TAB: usize = 8;

/// The number of unreadable definitions that ends the reading.
pub(super) const MAX_UNREAD: usize = 64;

/// Goes to the first character of the next line with code, and returns its indentation.
pub(super) fn start_of_line(cursor: &mut Cursor<'_>) -> Option<usize> {
    loop {
        let mut indent = 0;
        loop {
            match cursor.peek()? {
                b' ' => indent += 1,
                b'\t' => indent += TAB - indent % TAB,
                _ => break,
            }
            cursor.take(1);
        }
        match cursor.peek()? {
            b'\n' | b'\r' | b'\x0c' | b';' => {
                cursor.take(1);
            }
            b'#' => {
                skip_logical_line(cursor);
            }
            _ => return Some(indent),
        }
    }
}

/// Takes a statement with all its brackets and strings, and the line break after it.
pub(super) fn logical_line<'t>(cursor: &mut Cursor<'t>) -> &'t str {
    let rest = cursor.rest();
    skip_logical_line(cursor);
    rest[..rest.len() - cursor.rest().len()].trim()
}

/// Skips a statement with all its brackets and strings, and the line break after it; returns true if all of them are
/// closed.
pub(super) fn skip_logical_line(cursor: &mut Cursor<'_>) -> bool {
    let mut depth = 0_usize;
    let mut is_closed = true;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\'' | b'"' => {
                is_closed &= strings::skip(cursor);
                continue;
            }
            b'#' => {
                let rest = cursor.rest();
                cursor.take(rest.find(['\n', '\r']).unwrap_or(rest.len()));
                continue;
            }
            b'\\' => {
                cursor.take(1);
            }
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            b'\n' | b'\r' if depth == 0 => {
                cursor.take(1);
                return is_closed;
            }
            _ => {}
        }
        let width = cursor.rest().chars().next().map_or(0, char::len_utf8);
        cursor.take(width);
    }
    is_closed && depth == 0
}

/// Skips an unreadable definition, with all deeper lines.
///
/// If a bracket or a string is never closed, that would be the whole rest; then it ends at the next definition that is
/// not deeper.
pub(super) fn skip_unreadable(cursor: &mut Cursor<'_>, indent: usize) {
    let start = cursor.offset();
    let text = cursor.rest();
    loop {
        skip_logical_line(cursor);
        let line = cursor.offset();
        if start_of_line(cursor).is_none_or(|depth| depth <= indent) {
            cursor.go_back(line);
            break;
        }
    }
    if cursor.rest().trim().is_empty()
        && let Some(n_bytes) = next_definition(text, indent)
    {
        cursor.go_back(start);
        cursor.take(n_bytes);
    }
}

/// Returns the start of the first later line that defines something and is not deeper.
pub(super) fn next_definition(text: &str, indent: usize) -> Option<usize> {
    let mut at = 0;
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_start();
        let defines = ["def ", "async def ", "class ", "@"].iter().any(|word| bare.starts_with(word));
        if nth > 0 && defines && line.len() - bare.len() <= indent {
            return Some(at);
        }
        at += line.len();
    }
    None
}
