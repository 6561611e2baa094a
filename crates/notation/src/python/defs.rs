//! The grammar of `def`: names, parameters and the docstring; bodies are skipped.
//!
//! A default that is not a literal (a name, a call, a sum) is kept as written: nothing is executed to find its value.
//! For the text between definitions see `module`.

use std::collections::HashSet;

use super::cursor::{Cursor, error_at};
use super::lines::{next_definition, skip_logical_line, start_of_line};
use super::written::text;
use super::{PyDef, PyParameter, PySignature, SyntaxError, annotations, strings};

/// Reads signatures without `def` up to the end of the text.
pub(super) fn signatures(cursor: &mut Cursor<'_>) -> Result<Vec<PySignature>, SyntaxError> {
    let mut signatures = Vec::new();
    while start_of_line(cursor).is_some() {
        let mut name = cursor.identifier().ok_or_else(|| cursor.unexpected("a function's name"))?.to_owned();
        while cursor.eat(b'.') {
            name.push('.');
            name += cursor.identifier().ok_or_else(|| cursor.unexpected("a function's name"))?;
        }
        let mut def = PyDef { name, ..PyDef::default() };
        parameters(cursor, &mut def)?;
        let start = cursor.offset();
        let result = result(cursor, b":;\n\r#");
        if result.as_deref().is_some_and(|result| !is_type(result)) {
            return Err(error_at(start, "expected a type and nothing after it"));
        }
        while cursor.eat(b';') {}
        end_of_signature(cursor)?;
        signatures.push(PySignature { def, has_result: result.is_some() });
    }
    Ok(signatures)
}

/// Returns the first word of a statement, except `async`.
pub(super) fn keyword<'t>(cursor: &mut Cursor<'t>) -> Option<&'t str> {
    let word = cursor.identifier();
    if word != Some("async") {
        return word;
    }
    cursor.skip_spaces();
    cursor.identifier()
}

/// Reads the text after `def`.
pub(super) fn definition(cursor: &mut Cursor<'_>, indent: usize) -> Result<PyDef, SyntaxError> {
    cursor.skip_spaces();
    let name = cursor.identifier().ok_or_else(|| cursor.unexpected("a function's name"))?.to_owned();
    let mut def = PyDef { name, ..PyDef::default() };
    skip_type_parameters(cursor);
    parameters(cursor, &mut def)?;
    result(cursor, b":\n\r#");
    def.docstring = if cursor.eat(b':') { body(cursor, indent)? } else { end_of_signature(cursor)? };
    Ok(def)
}

/// Skips `[T: Bound]` after a name.
pub(super) fn skip_type_parameters(cursor: &mut Cursor<'_>) {
    cursor.skip_spaces();
    if cursor.peek() == Some(b'[') {
        text(cursor, b"(:");
    }
}

/// Reads the parameters in their brackets.
fn parameters(cursor: &mut Cursor<'_>, def: &mut PyDef) -> Result<(), SyntaxError> {
    cursor.skip_spaces();
    cursor.expect(b'(')?;
    let mut names = HashSet::new();
    let mut is_first = true;
    cursor.separated(b')', |cursor| {
        let start = cursor.offset();
        let is_receiver = std::mem::take(&mut is_first);
        let Some((parameter, stars)) = parameter(cursor)? else { return Ok(()) };
        if !names.insert(parameter.name.clone()) {
            return Err(error_at(start, format!("a second parameter `{}`", parameter.name)));
        }
        if !stars.is_empty() {
            def.rest.push(format!("{stars}{}", parameter.name));
        } else if is_receiver && ["self", "cls"].contains(&parameter.name.as_str()) {
            def.receiver = Some(parameter);
        } else {
            def.parameters.push(parameter);
        }
        Ok(())
    })?;
    Ok(())
}

/// Reads `-> type` and returns the type, if present.
fn result(cursor: &mut Cursor<'_>, ends: &[u8]) -> Option<String> {
    cursor.skip_spaces();
    if !cursor.rest().starts_with("->") {
        return None;
    }
    cursor.take(2);
    Some(text(cursor, ends).unwrap_or_default())
}

/// Returns true if a text is one type, or several separated by bars, without words after it.
fn is_type(text: &str) -> bool {
    let mut depth = 0_usize;
    let outer: String = text
        .chars()
        .filter(|c| {
            depth = depth.saturating_sub(usize::from(matches!(c, ']' | ')' | '}')));
            let is_outer = depth == 0;
            depth += usize::from(matches!(c, '[' | '(' | '{'));
            is_outer
        })
        .collect();
    outer.split('|').all(|part| part.split_whitespace().count() == 1)
}

/// Ends a definition without a colon, which is only a signature.
fn end_of_signature(cursor: &mut Cursor<'_>) -> Result<Option<String>, SyntaxError> {
    cursor.skip_spaces();
    match cursor.peek() {
        None | Some(b'\n' | b'\r' | b'#') => Ok(None),
        _ => Err(cursor.unexpected("`:`")),
    }
}

/// Reads one parameter and the stars before it; `None` for the marks `*` and `/`.
fn parameter<'t>(cursor: &mut Cursor<'t>) -> Result<Option<(PyParameter, &'t str)>, SyntaxError> {
    if cursor.eat(b'/') {
        return Ok(None);
    }
    let rest = cursor.rest();
    let n_stars = rest.bytes().take(2).take_while(|byte| *byte == b'*').count();
    let stars = cursor.take(n_stars);
    cursor.skip_blank();
    let Some(name) = cursor.identifier() else {
        return if stars.is_empty() { Err(cursor.unexpected("a parameter")) } else { Ok(None) };
    };
    let mut parameter = PyParameter { name: name.to_owned(), ..PyParameter::default() };
    annotations::typed(cursor, &mut parameter, b",)=")?;
    Ok(Some((parameter, stars)))
}

/// Reads the docstring and skips the rest of the body, which ends at a line not deeper than the `def`.
fn body(cursor: &mut Cursor<'_>, indent: usize) -> Result<Option<String>, SyntaxError> {
    cursor.skip_spaces();
    if !matches!(cursor.peek(), None | Some(b'\n' | b'\r' | b'#')) {
        let docstring = docstring(cursor)?;
        skip_logical_line(cursor);
        return Ok(docstring);
    }
    let mut read = None;
    let mut is_first = true;
    loop {
        let line = cursor.offset();
        match start_of_line(cursor) {
            Some(depth) if depth > indent => {}
            _ => {
                cursor.go_back(line);
                return Ok(read);
            }
        }
        if std::mem::take(&mut is_first) {
            read = docstring(cursor)?;
        }
        skip_statement(cursor, indent);
    }
}

/// Skips a statement. If one of its brackets or strings is never closed, it ends at the next definition.
fn skip_statement(cursor: &mut Cursor<'_>, indent: usize) {
    let (start, text) = (cursor.offset(), cursor.rest());
    if !skip_logical_line(cursor)
        && let Some(n_bytes) = next_definition(text, indent)
    {
        cursor.go_back(start);
        cursor.take(n_bytes);
    }
}

/// Reads a string that is a separate statement, as a docstring is.
pub(super) fn docstring(cursor: &mut Cursor<'_>) -> Result<Option<String>, SyntaxError> {
    let is_plain = cursor.rest().starts_with(['"', '\'', 'r', 'R', 'u', 'U']);
    if !is_plain || !strings::starts_here(cursor) {
        return Ok(None);
    }
    let start = cursor.offset();
    let text = strings::strings(cursor)?;
    cursor.skip_spaces();
    if matches!(cursor.peek(), None | Some(b'\n' | b'\r' | b'#' | b';')) {
        return Ok(Some(text));
    }
    cursor.go_back(start);
    Ok(None)
}
