//! The grammar of `class`: its docstring, its fields and the signatures of its methods.
//!
//! An unreadable field makes only the fields unreadable, as they are not used for a class with methods. Nested classes
//! are skipped.

use super::cursor::Cursor;
use super::defs::{definition, docstring, keyword, skip_type_parameters};
use super::lines::{MAX_UNREAD, logical_line, skip_logical_line, skip_unreadable, start_of_line};
use super::written::text;
use super::{PyClass, PyDef, PyParameter, SyntaxError, annotations};

/// Words that begin a statement that is not a field.
const NO_FIELD: [&str; 18] = [
    "class", "pass", "if", "else", "elif", "try", "except", "finally", "for", "while", "with", "import",
    "from", "return", "raise", "del", "global", "assert",
];

/// Reads the text after `class`, which begins at `offset` with these decorators, and the faults of its methods.
pub(super) fn class(
    cursor: &mut Cursor<'_>,
    indent: usize,
    mut marks: Vec<String>,
    offset: usize,
) -> Result<(PyClass, Vec<SyntaxError>), SyntaxError> {
    cursor.skip_spaces();
    let name = cursor.identifier().ok_or_else(|| cursor.unexpected("a class's name"))?.to_owned();
    skip_type_parameters(cursor);
    if cursor.eat(b'(') {
        cursor.separated(b')', |cursor| {
            marks.extend(text(cursor, b",)"));
            Ok(())
        })?;
    }
    cursor.skip_spaces();
    cursor.expect(b':')?;
    let mut class =
        PyClass { name, marks, docstring: None, fields: Ok(Vec::new()), methods: Vec::new(), offset };
    let mut faults = Vec::new();
    cursor.skip_spaces();
    if matches!(cursor.peek(), None | Some(b'\n' | b'\r' | b'#')) {
        body(cursor, indent, &mut class, &mut faults)?;
    } else {
        class.docstring = docstring(cursor)?;
        skip_logical_line(cursor);
    }
    Ok((class, faults))
}

fn body(
    cursor: &mut Cursor<'_>,
    indent: usize,
    class: &mut PyClass,
    faults: &mut Vec<SyntaxError>,
) -> Result<(), SyntaxError> {
    let mut depth = None;
    let mut decorators = Vec::new();
    loop {
        let line = cursor.offset();
        match start_of_line(cursor) {
            Some(found) if found > indent => {
                let is_inside = found > *depth.get_or_insert(found);
                if is_inside {
                    skip_logical_line(cursor);
                    continue;
                }
                let read = cursor.attempt(|cursor| statement(cursor, found, class, &mut decorators));
                if let Err(error) = read {
                    if faults.len() == MAX_UNREAD {
                        return Err(error);
                    }
                    faults.push(error);
                    decorators.clear();
                    skip_unreadable(cursor, found);
                }
            }
            _ => {
                cursor.go_back(line);
                return Ok(());
            }
        }
    }
}

fn statement(
    cursor: &mut Cursor<'_>,
    indent: usize,
    class: &mut PyClass,
    decorators: &mut Vec<String>,
) -> Result<(), SyntaxError> {
    let offset = cursor.offset();
    if cursor.eat(b'@') {
        let decorator = logical_line(cursor);
        decorators.push(format!("@{decorator}"));
        return Ok(());
    }
    if class.docstring.is_none()
        && let Some(text) = docstring(cursor)?
    {
        class.docstring = Some(text);
        return Ok(());
    }
    match keyword(cursor) {
        Some("def") => {
            let decorators = std::mem::take(decorators);
            let def = definition(cursor, indent)?;
            if !decorators.iter().any(|decorator| makes_property(decorator)) {
                class.methods.push(PyDef { decorators, offset, ..def });
            }
        }
        Some(word) if !NO_FIELD.contains(&word) => {
            if let Ok(fields) = &mut class.fields {
                match cursor.attempt(|cursor| field(cursor, word)) {
                    Ok(field) => fields.push(field),
                    Err(error) => class.fields = Err(error),
                }
            }
            skip_logical_line(cursor);
        }
        _ => {
            skip_logical_line(cursor);
        }
    }
    Ok(())
}

/// Reads a field after its name, up to the end of its line.
fn field(cursor: &mut Cursor<'_>, name: &str) -> Result<PyParameter, SyntaxError> {
    let mut field = PyParameter { name: name.to_owned(), ..PyParameter::default() };
    annotations::typed(cursor, &mut field, b"=\n\r#;")?;
    cursor.skip_spaces();
    match cursor.peek() {
        None | Some(b'\n' | b'\r' | b'#' | b';') => Ok(field),
        _ => Err(cursor.unexpected("the end of the field")),
    }
}

/// Returns true if a decorator turns a method into an attribute.
fn makes_property(decorator: &str) -> bool {
    decorator.contains("property")
        || [".setter", ".getter", ".deleter"].iter().any(|end| decorator.ends_with(end))
}
