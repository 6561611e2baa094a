//! The grammar of `def`: names, parameters and the docstring; bodies are stepped over.
//!
//! A default that is no literal (a name, a call, a sum) is kept as it is written: nothing is
//! run to find its value. What is between definitions is for `module`.

use std::collections::HashSet;

use super::cursor::{Cursor, error_at};
use super::lines::{next_definition, skip_logical_line, start_of_line};
use super::written::text;
use super::{PyDef, PyParameter, PySignature, SyntaxError, annotations, strings};

/// Reads heads without `def` up to the text's end.
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
            return Err(error_at(start, "expected a type and nothing behind it"));
        }
        while cursor.eat(b';') {}
        end_of_signature(cursor)?;
        signatures.push(PySignature { def, has_result: result.is_some() });
    }
    Ok(signatures)
}

/// The word that begins a statement, but for `async`.
pub(super) fn keyword<'t>(cursor: &mut Cursor<'t>) -> Option<&'t str> {
    let word = cursor.identifier();
    if word != Some("async") {
        return word;
    }
    cursor.skip_spaces();
    cursor.identifier()
}

/// Reads what stands behind `def`.
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

/// Steps over `[T: Bound]` behind a name.
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

/// Takes `-> type` and gives the type, if it is there.
fn result(cursor: &mut Cursor<'_>, ends: &[u8]) -> Option<String> {
    cursor.skip_spaces();
    if !cursor.rest().starts_with("->") {
        return None;
    }
    cursor.take(2);
    Some(text(cursor, ends).unwrap_or_default())
}

/// Whether a text is one type, or several with bars between, and no words behind it.
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

/// A definition without a colon is a signature and nothing else.
fn end_of_signature(cursor: &mut Cursor<'_>) -> Result<Option<String>, SyntaxError> {
    cursor.skip_spaces();
    match cursor.peek() {
        None | Some(b'\n' | b'\r' | b'#') => Ok(None),
        _ => Err(cursor.unexpected("`:`")),
    }
}

/// Reads one parameter and the stars in front of it; the marks `*` and `/` are none.
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

/// Reads the docstring and steps over the rest of the body, which ends where a line stands no deeper than the `def`.
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

/// Steps over a statement. Where a bracket or a string of it is never closed, it ends at the next definition.
fn skip_statement(cursor: &mut Cursor<'_>, indent: usize) {
    let (start, text) = (cursor.offset(), cursor.rest());
    if !skip_logical_line(cursor)
        && let Some(n_bytes) = next_definition(text, indent)
    {
        cursor.go_back(start);
        cursor.take(n_bytes);
    }
}

/// Reads a string that is a statement of its own, which is what a docstring is.
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
