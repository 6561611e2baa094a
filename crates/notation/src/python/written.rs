//! Types and defaults as written, up to a mark outside brackets and strings.

use serde_json::Value;

use super::cursor::Cursor;
use super::{PyDefault, SyntaxError, strings, values};

/// Reads a default up to one of `ends`: a literal, otherwise the expression as written.
pub(super) fn default(cursor: &mut Cursor<'_>, ends: &[u8]) -> Result<PyDefault, SyntaxError> {
    let start = cursor.offset();
    let literal = cursor.attempt(|cursor| {
        let value = values::value(cursor)?;
        cursor.skip_spaces();
        let is_all = cursor.peek().is_none_or(|byte| ends.contains(&byte) || b"\n\r#;".contains(&byte));
        if is_all { Ok(value) } else { Err(cursor.unexpected("the end of the default")) }
    });
    let error = match literal {
        Ok(value) => return Ok(PyDefault::Literal(value)),
        Err(error) => error,
    };
    cursor.go_back(start);
    let mut written = String::new();
    while let Some(part) = raw_text(cursor, ends) {
        written += &part;
        // The commas after `lambda` separate its parameters.
        if !is_inside_lambda(&written) || !ends.contains(&b',') || !cursor.eat(b',') {
            break;
        }
        written += ", ";
    }
    let is_string = strings::starts_at(&written);
    // An unclosed string, or no default at all.
    if written.is_empty() || is_string && cursor.rest().is_empty() {
        return Err(error);
    }
    Ok(PyDefault::Expression(written))
}

/// Returns true if a text is a `lambda` that ends among its parameters.
fn is_inside_lambda(text: &str) -> bool {
    let Some(behind) = text.strip_prefix("lambda").filter(|behind| behind.starts_with([' ', ':', ',']))
    else {
        return false;
    };
    let mut depth = 0_usize;
    !behind.chars().any(|c| {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ':' && depth == 0
    })
}

/// Reads a type as written, up to one of `ends` outside brackets and strings; a quoted one is unquoted.
pub(super) fn text(cursor: &mut Cursor<'_>, ends: &[u8]) -> Option<String> {
    let words = raw_text(cursor, ends)?;
    match super::literal(&words) {
        Ok(Value::String(inner)) => (!inner.is_empty()).then_some(inner),
        _ => Some(words),
    }
}

/// Reads the text up to one of `ends` outside brackets and strings, with whitespace collapsed.
fn raw_text(cursor: &mut Cursor<'_>, ends: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut depth = 0_usize;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\'' | b'"' => {
                let rest = cursor.rest();
                strings::skip(cursor);
                text.push_str(&rest[..rest.len() - cursor.rest().len()]);
                continue;
            }
            _ if depth == 0 && ends.contains(&byte) => break,
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let width = cursor.rest().chars().next().map_or(1, char::len_utf8);
        text.push_str(cursor.take(width));
    }
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}
