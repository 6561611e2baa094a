//! What stands behind the name of a parameter or a field: its type and its default.
//!
//! A type is taken as it is written; the texts of `Annotated[type, "text"]` are taken out
//! of it. Something else inside of `Annotated` is refused, since it may say that the
//! parameter is not for the caller to give.

use serde_json::{Map, Value};

use super::cursor::Cursor;
use super::defs::skip_string;
use super::{PyDefault, PyParameter, SyntaxError, fields, strings, values};

const ANNOTATED: [&str; 4] =
    ["Annotated[", "typing.Annotated[", "t.Annotated[", "typing_extensions.Annotated["];

/// Reads `: type = default`, either of which may be missing; the type ends at one of `ends`.
pub(super) fn typed(
    cursor: &mut Cursor<'_>,
    parameter: &mut PyParameter,
    ends: &[u8],
) -> Result<(), SyntaxError> {
    cursor.skip_blank();
    if cursor.eat(b':') {
        cursor.skip_blank();
        match ANNOTATED.iter().find(|prefix| cursor.rest().starts_with(**prefix)) {
            Some(prefix) => {
                cursor.take(prefix.len());
                annotated(cursor, parameter, ends)?;
            }
            None => parameter.annotation = text(cursor, ends),
        }
    }
    if !cursor.eat(b'=') {
        return Ok(());
    }
    cursor.skip_blank();
    // Behind `=` another `=` compares.
    let ends: Vec<u8> = ends.iter().copied().filter(|end| *end != b'=').collect();
    parameter.default = if fields::starts_here(cursor) {
        fields::field(cursor, &mut parameter.said)?
    } else {
        Some(default(cursor, &ends)?)
    };
    Ok(())
}

/// Reads a default up to one of `ends`: a literal, or else the expression as it is written.
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
        // The commas behind `lambda` part its parameters.
        if !is_inside_lambda(&written) || !ends.contains(&b',') || !cursor.eat(b',') {
            break;
        }
        written += ", ";
    }
    let is_string = strings::starts_at(&written);
    // A string that is never closed, and no default at all.
    if written.is_empty() || is_string && cursor.rest().is_empty() {
        return Err(error);
    }
    Ok(PyDefault::Expression(written))
}

/// Whether a text is a `lambda` that ends among its parameters.
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

/// Reads the inside of `Annotated[…]`, and `| None` behind it.
fn annotated(cursor: &mut Cursor<'_>, parameter: &mut PyParameter, ends: &[u8]) -> Result<(), SyntaxError> {
    let mut is_first = true;
    let mut kind = None;
    cursor.separated(b']', |cursor| {
        if std::mem::take(&mut is_first) {
            kind = text(cursor, b",]");
            Ok(())
        } else {
            metadata(cursor, &mut parameter.said)
        }
    })?;
    cursor.skip_blank();
    let start = cursor.offset();
    let behind = text(cursor, ends).unwrap_or_default();
    match behind.as_str() {
        "" => {}
        "| None" => kind = kind.map(|kind| format!("{kind} | None")),
        _ => {
            cursor.go_back(start);
            return Err(cursor.unexpected("the end of the annotation"));
        }
    }
    parameter.annotation = kind;
    Ok(())
}

fn metadata(cursor: &mut Cursor<'_>, said: &mut Map<String, Value>) -> Result<(), SyntaxError> {
    if strings::starts_here(cursor) {
        let text = strings::strings(cursor)?;
        said.entry("description").or_insert(Value::String(text));
        return Ok(());
    }
    if fields::starts_here(cursor) {
        fields::field(cursor, said)?;
        return Ok(());
    }
    Err(cursor.unexpected("a text about the parameter"))
}

/// Takes a type as it is written, up to one of `ends` outside brackets and strings; a quoted one is unquoted.
pub(super) fn text(cursor: &mut Cursor<'_>, ends: &[u8]) -> Option<String> {
    let words = raw_text(cursor, ends)?;
    match super::literal(&words) {
        Ok(Value::String(inner)) => (!inner.is_empty()).then_some(inner),
        _ => Some(words),
    }
}

/// Takes what stands up to one of `ends` outside brackets and strings, blanks folded.
fn raw_text(cursor: &mut Cursor<'_>, ends: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut depth = 0_usize;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\'' | b'"' => {
                let rest = cursor.rest();
                skip_string(cursor);
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
