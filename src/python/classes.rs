//! The grammar of `class`: its docstring, its fields and the heads of its methods.
//!
//! A field that cannot be read spoils the fields alone, for of a class with methods
//! nobody asks for them. Classes inside of classes are stepped over.

use super::cursor::Cursor;
use super::defs::{definition, docstring, keyword, logical_line, skip_logical_line, start_of_line};
use super::{PyClass, PyDef, PyParameter, SyntaxError, annotations};

/// Words that begin a statement which is no field.
const NO_FIELD: [&str; 18] = [
    "class", "pass", "if", "else", "elif", "try", "except", "finally", "for", "while", "with", "import",
    "from", "return", "raise", "del", "global", "assert",
];

/// Reads what stands behind `class`; `decorators` stood in front.
pub(super) fn class(
    cursor: &mut Cursor<'_>,
    indent: usize,
    decorators: Vec<&str>,
) -> Result<PyClass, SyntaxError> {
    cursor.skip_spaces();
    let name = cursor.identifier().ok_or_else(|| cursor.unexpected("a class's name"))?.to_owned();
    let mut marks: Vec<String> = decorators.into_iter().map(str::to_owned).collect();
    cursor.skip_spaces();
    if cursor.eat(b'(') {
        cursor.separated(b')', |cursor| {
            marks.extend(annotations::text(cursor, b",)"));
            Ok(())
        })?;
    }
    cursor.skip_spaces();
    cursor.expect(b':')?;
    let mut class = PyClass { name, marks, docstring: None, fields: Ok(Vec::new()), methods: Vec::new() };
    cursor.skip_spaces();
    if matches!(cursor.peek(), None | Some(b'\n' | b'\r' | b'#')) {
        body(cursor, indent, &mut class)?;
    } else {
        class.docstring = docstring(cursor)?;
        skip_logical_line(cursor);
    }
    Ok(class)
}

fn body(cursor: &mut Cursor<'_>, indent: usize, class: &mut PyClass) -> Result<(), SyntaxError> {
    let mut depth = None;
    let mut is_property = false;
    loop {
        let line = cursor.offset();
        match start_of_line(cursor) {
            Some(found) if found > indent => {
                let is_inside = found > *depth.get_or_insert(found);
                if is_inside {
                    skip_logical_line(cursor);
                    continue;
                }
                statement(cursor, found, class, &mut is_property)?;
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
    is_property: &mut bool,
) -> Result<(), SyntaxError> {
    if cursor.eat(b'@') {
        let decorator = logical_line(cursor);
        *is_property |= decorator.contains("property") || decorator.ends_with(".setter");
        return Ok(());
    }
    if class.docstring.is_none()
        && let Some(text) = docstring(cursor)?
    {
        class.docstring = Some(text);
        return Ok(());
    }
    match keyword(cursor) {
        Some("def") => class.methods.extend(method(cursor, indent, std::mem::take(is_property))?),
        Some(word) if !NO_FIELD.contains(&word) => {
            if let Ok(fields) = &mut class.fields {
                match cursor.attempt(|cursor| field(cursor, word)) {
                    Ok(field) => fields.push(field),
                    Err(error) => class.fields = Err(error),
                }
            }
            skip_logical_line(cursor);
        }
        _ => skip_logical_line(cursor),
    }
    Ok(())
}

/// Reads a field behind its name, up to the end of its line.
fn field(cursor: &mut Cursor<'_>, name: &str) -> Result<PyParameter, SyntaxError> {
    let mut field = PyParameter { name: name.to_owned(), ..PyParameter::default() };
    annotations::typed(cursor, &mut field, b"=\n\r#")?;
    cursor.skip_spaces();
    match cursor.peek() {
        None | Some(b'\n' | b'\r' | b'#' | b';') => Ok(field),
        _ => Err(cursor.unexpected("the end of the field")),
    }
}

/// Reads one method; one that is a property is none.
fn method(cursor: &mut Cursor<'_>, indent: usize, is_property: bool) -> Result<Option<PyDef>, SyntaxError> {
    let def = definition(cursor, indent)?;
    Ok((!is_property).then_some(def))
}
