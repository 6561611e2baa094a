//! The grammar of `def`: names, parameters, annotations and the docstring; bodies are stepped over.
//!
//! A default must be a literal. `Field(...)`, a name or a sum is refused, since what it
//! means (required? which value?) cannot be told from the text. What stands between
//! definitions may be imports, decorators and comments; a class or a statement is refused.

use super::cursor::{Cursor, error_at};
use super::{PyDef, PyParameter, SyntaxError, strings, values};

/// Columns that a tab moves on.
const TAB: usize = 8;

/// Reads definitions up to the text's end; all stand at the same depth.
pub(super) fn definitions(cursor: &mut Cursor<'_>) -> Result<Vec<PyDef>, SyntaxError> {
    let mut defs = Vec::new();
    let mut depth = None;
    while let Some(indent) = start_of_line(cursor) {
        if *depth.get_or_insert(indent) != indent {
            return Err(cursor.error("a line stands at another depth than the definitions"));
        }
        let start = cursor.offset();
        if cursor.eat(b'@') {
            skip_logical_line(cursor);
            continue;
        }
        let mut word = cursor.identifier();
        if word == Some("async") {
            cursor.skip_spaces();
            word = cursor.identifier();
        }
        match word {
            Some("def") => defs.push(definition(cursor, indent)?),
            Some("import" | "from") => skip_logical_line(cursor),
            _ => return Err(error_at(start, "only function definitions are read")),
        }
    }
    if defs.is_empty() { Err(cursor.unexpected("`def`")) } else { Ok(defs) }
}

/// Goes to the first character of the next line that says something, and tells its indentation.
fn start_of_line(cursor: &mut Cursor<'_>) -> Option<usize> {
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
            b'#' => skip_logical_line(cursor),
            _ => return Some(indent),
        }
    }
}

fn definition(cursor: &mut Cursor<'_>, indent: usize) -> Result<PyDef, SyntaxError> {
    cursor.skip_spaces();
    let name = cursor.identifier().ok_or_else(|| cursor.unexpected("a function's name"))?.to_owned();
    cursor.skip_spaces();
    cursor.expect(b'(')?;
    let mut parameters: Vec<PyParameter> = Vec::new();
    let mut has_self = false;
    cursor.separated(b')', |cursor| {
        let start = cursor.offset();
        let Some(parameter) = parameter(cursor)? else { return Ok(()) };
        if parameters.iter().any(|other| other.name == parameter.name) {
            return Err(error_at(start, format!("a second parameter `{}`", parameter.name)));
        }
        let is_self = ["self", "cls"].contains(&parameter.name.as_str());
        if is_self && parameters.is_empty() && !has_self {
            has_self = true;
        } else {
            parameters.push(parameter);
        }
        Ok(())
    })?;
    cursor.skip_spaces();
    if cursor.rest().starts_with("->") {
        cursor.take(2);
        annotation(cursor, b":\n\r#");
    }
    let docstring = if cursor.eat(b':') { body(cursor, indent)? } else { end_of_signature(cursor)? };
    Ok(PyDef { name, parameters, docstring })
}

/// A definition without a colon is a signature and nothing else.
fn end_of_signature(cursor: &mut Cursor<'_>) -> Result<Option<String>, SyntaxError> {
    cursor.skip_spaces();
    match cursor.peek() {
        None | Some(b'\n' | b'\r' | b'#') => Ok(None),
        _ => Err(cursor.unexpected("`:`")),
    }
}

/// Reads one parameter; `*args`, `**kwargs` and the marks `*` and `/` are none.
fn parameter(cursor: &mut Cursor<'_>) -> Result<Option<PyParameter>, SyntaxError> {
    let is_mark = cursor.eat(b'/');
    let is_rest = cursor.eat(b'*');
    cursor.eat(b'*');
    if is_mark {
        return Ok(None);
    }
    cursor.skip_blank();
    let Some(name) = cursor.identifier() else {
        return if is_rest { Ok(None) } else { Err(cursor.unexpected("a parameter")) };
    };
    cursor.skip_blank();
    let annotation = if cursor.eat(b':') { annotation(cursor, b",)=") } else { None };
    let mut default = None;
    if cursor.eat(b'=') {
        cursor.skip_blank();
        default = Some(values::value(cursor)?);
    }
    Ok((!is_rest).then(|| PyParameter { name: name.to_owned(), annotation, default }))
}

/// Takes an annotation as it is written, up to one of `ends` outside brackets and strings; a quoted one is unquoted.
fn annotation(cursor: &mut Cursor<'_>, ends: &[u8]) -> Option<String> {
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
    let unquoted = match super::literal(&words) {
        Ok(serde_json::Value::String(inner)) => inner,
        _ => words,
    };
    (!unquoted.is_empty()).then_some(unquoted)
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
        skip_logical_line(cursor);
    }
}

/// Reads a string that is a statement of its own, which is what a docstring is.
fn docstring(cursor: &mut Cursor<'_>) -> Result<Option<String>, SyntaxError> {
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

/// Steps over a statement with all its brackets and strings, and over the line end behind it.
fn skip_logical_line(cursor: &mut Cursor<'_>) {
    let mut depth = 0_usize;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\'' | b'"' => {
                skip_string(cursor);
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
                return;
            }
            _ => {}
        }
        let width = cursor.rest().chars().next().map_or(0, char::len_utf8);
        cursor.take(width);
    }
}

/// Steps over a string of any kind, or to the text's end where it has none.
fn skip_string(cursor: &mut Cursor<'_>) {
    let rest = cursor.rest();
    let quote = &rest[..1];
    let triple = quote.repeat(3);
    let close = if rest.starts_with(&triple) { triple.as_str() } else { quote };
    cursor.take(close.len());
    loop {
        let rest = cursor.rest();
        let Some(next) = rest.find(['\\', '\n', '\'', '"']) else {
            cursor.take(rest.len());
            return;
        };
        cursor.take(next);
        let rest = cursor.rest();
        if rest.starts_with(close) {
            cursor.take(close.len());
            return;
        }
        if rest.starts_with('\n') && close.len() == 1 {
            return;
        }
        // A backslash goes with the character behind it.
        let escaped =
            rest.strip_prefix('\\').and_then(|after| after.chars().next()).map_or(0, char::len_utf8);
        cursor.take(1 + escaped);
    }
}
