//! Calls that describe a field in place of a default: `Field(3, description="…", ge=1)`.
//!
//! Supported are those of pydantic, dataclasses and `FastAPI`. Their keywords become JSON Schema's; a keyword that
//! changes the name or form of the value (`alias`), or an unknown one, is refused.

use serde_json::{Map, Value, json};

use super::cursor::{Cursor, error_at};
use super::written::{default, text};
use super::{PyDefault, SyntaxError, values};

const CALLS: [&str; 9] = ["Field", "field", "Query", "Path", "Body", "Header", "Form", "Doc", "doc"];

/// Keywords and their names in JSON Schema.
const KEYWORDS: [(&str, &str); 13] = [
    ("description", "description"),
    ("title", "title"),
    ("ge", "minimum"),
    ("le", "maximum"),
    ("gt", "exclusiveMinimum"),
    ("lt", "exclusiveMaximum"),
    ("multiple_of", "multipleOf"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("pattern", "pattern"),
    ("regex", "pattern"),
    ("example", "example"),
    ("examples", "examples"),
];

/// Keywords that do not describe the value.
const SILENT: [&str; 9] =
    ["repr", "compare", "hash", "kw_only", "frozen", "strict", "deprecated", "include_in_schema", "exclude"];

/// Returns true if such a call begins here.
pub(super) fn starts_here(cursor: &Cursor<'_>) -> bool {
    name(cursor.rest()).is_some()
}

/// Returns the name of the call, without its module, and the number of bytes before its bracket.
fn name(text: &str) -> Option<(&str, usize)> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))?;
    let name = text[..end].rsplit('.').next()?;
    (CALLS.contains(&name) && text[end..].starts_with('(')).then_some((name, end))
}

/// Reads the call: returns its default, if any, and adds its other keywords to `schema_keys`.
pub(super) fn field(
    cursor: &mut Cursor<'_>,
    schema_keys: &mut Map<String, Value>,
) -> Result<Option<PyDefault>, SyntaxError> {
    let (name, end) = name(cursor.rest()).ok_or_else(|| cursor.unexpected("`Field`"))?;
    let is_doc = name.eq_ignore_ascii_case("doc");
    cursor.take(end);
    cursor.expect(b'(')?;
    let mut default = None;
    cursor.separated(b')', |cursor| {
        let start = cursor.offset();
        match keyword(cursor) {
            None if is_doc => {
                schema_keys.insert("description".to_owned(), values::value(cursor)?);
            }
            None | Some("default") => default = default_value(cursor)?,
            Some("default_factory") => default = Some(made(cursor)),
            Some(word) => match KEYWORDS.iter().find(|(keyword, _)| *keyword == word) {
                Some((_, key)) => {
                    let value = values::value(cursor)?;
                    // `description=None` has no information.
                    if !value.is_null() {
                        schema_keys.insert((*key).to_owned(), value);
                    }
                }
                None if SILENT.contains(&word) => {
                    values::value(cursor)?;
                }
                None => {
                    return Err(error_at(start, format!("the meaning of the keyword `{word}` is unknown")));
                }
            },
        }
        Ok(())
    })?;
    Ok(default)
}

/// Reads `word =`, if it follows.
fn keyword<'t>(cursor: &mut Cursor<'t>) -> Option<&'t str> {
    let start = cursor.offset();
    let word = cursor.identifier();
    cursor.skip_blank();
    if word.is_some() && cursor.eat(b'=') {
        cursor.skip_blank();
        return word;
    }
    cursor.go_back(start);
    None
}

/// Reads a default, where `...` means that there is none.
fn default_value(cursor: &mut Cursor<'_>) -> Result<Option<PyDefault>, SyntaxError> {
    if cursor.rest().starts_with("...") {
        cursor.take(3);
        return Ok(None);
    }
    default(cursor, b",)").map(Some)
}

/// Returns the default created by a factory.
fn made(cursor: &mut Cursor<'_>) -> PyDefault {
    match text(cursor, b",)").unwrap_or_default().as_str() {
        "list" | "set" | "tuple" => PyDefault::Literal(json!([])),
        "dict" => PyDefault::Literal(json!({})),
        factory => PyDefault::Expression(format!("{factory}()")),
    }
}
