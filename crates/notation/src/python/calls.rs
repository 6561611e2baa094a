//! The grammar of calls with literal arguments.

use super::cursor::Cursor;
use super::{PyCall, SyntaxError, values};

/// Reads comma-separated calls up to the closing bracket, or to the end of the text without brackets.
pub(super) fn calls(cursor: &mut Cursor<'_>) -> Result<Vec<PyCall>, SyntaxError> {
    let mut calls = Vec::new();
    if cursor.eat(b'[') {
        cursor.separated(b']', |cursor| {
            calls.push(call(cursor)?);
            Ok(())
        })?;
        return Ok(calls);
    }
    loop {
        calls.push(call(cursor)?);
        cursor.skip_blank();
        if !cursor.eat(b',') {
            return Ok(calls);
        }
        cursor.skip_blank();
        if cursor.rest().is_empty() {
            return Ok(calls);
        }
    }
}

fn call(cursor: &mut Cursor<'_>) -> Result<PyCall, SyntaxError> {
    let mut name = identifier(cursor)?.to_owned();
    cursor.skip_blank();
    while cursor.eat(b'.') {
        cursor.skip_blank();
        name.push('.');
        name.push_str(identifier(cursor)?);
        cursor.skip_blank();
    }
    cursor.expect(b'(')?;
    Ok(PyCall { name, arguments: values::keyword_arguments(cursor)? })
}

fn identifier<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, SyntaxError> {
    cursor.identifier().ok_or_else(|| cursor.unexpected("a function's name"))
}
