//! The type and the default after the name of a parameter or a field.
//!
//! A type is kept as written, except that the texts of `Annotated[type, "text"]` are extracted. Other metadata inside
//! `Annotated` is refused, since it may mean that the caller does not set the parameter.

use serde_json::{Map, Value};

use super::cursor::Cursor;
use super::written::{default, text};
use super::{PyParameter, SyntaxError, fields, strings};

const ANNOTATED: [&str; 4] =
    ["Annotated[", "typing.Annotated[", "t.Annotated[", "typing_extensions.Annotated["];

/// Reads `: type = default`, of which either may be missing; the type ends at one of `ends`.
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
    // A second `=` after `=` is a comparison.
    let ends: Vec<u8> = ends.iter().copied().filter(|end| *end != b'=').collect();
    parameter.default = if fields::starts_here(cursor) {
        fields::field(cursor, &mut parameter.schema_keys)?
    } else {
        Some(default(cursor, &ends)?)
    };
    Ok(())
}

/// Reads the inside of `Annotated[…]`, and `| None` after it.
fn annotated(cursor: &mut Cursor<'_>, parameter: &mut PyParameter, ends: &[u8]) -> Result<(), SyntaxError> {
    let mut is_first = true;
    let mut kind = None;
    cursor.separated(b']', |cursor| {
        if std::mem::take(&mut is_first) {
            kind = text(cursor, b",]");
            Ok(())
        } else {
            metadata(cursor, &mut parameter.schema_keys)
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

fn metadata(cursor: &mut Cursor<'_>, schema_keys: &mut Map<String, Value>) -> Result<(), SyntaxError> {
    if strings::starts_here(cursor) {
        let text = strings::strings(cursor)?;
        schema_keys.entry("description").or_insert(Value::String(text));
        return Ok(());
    }
    if fields::starts_here(cursor) {
        fields::field(cursor, schema_keys)?;
        return Ok(());
    }
    Err(cursor.unexpected("a text about the parameter"))
}
