//! Calls that stand in place of a default and say more than it: `Field(3, description="…", ge=1)`.
//!
//! Known are those of pydantic, dataclasses and `FastAPI`. Their keywords become JSON
//! Schema's; one that changes what is given (`alias`) or is not known is refused.

use serde_json::{Map, Value, json};

use super::cursor::{Cursor, error_at};
use super::written::{default, text};
use super::{PyDefault, SyntaxError, values};

const CALLS: [&str; 9] = ["Field", "field", "Query", "Path", "Body", "Header", "Form", "Doc", "doc"];

/// Keywords and what JSON Schema calls them.
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

/// Keywords that say nothing about what may be given.
const SILENT: [&str; 9] =
    ["repr", "compare", "hash", "kw_only", "frozen", "strict", "deprecated", "include_in_schema", "exclude"];

/// Whether such a call begins here.
pub(super) fn starts_here(cursor: &Cursor<'_>) -> bool {
    name(cursor.rest()).is_some()
}

/// The name of the call, without the module in front, and the bytes up to its bracket.
fn name(text: &str) -> Option<(&str, usize)> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))?;
    let name = text[..end].rsplit('.').next()?;
    (CALLS.contains(&name) && text[end..].starts_with('(')).then_some((name, end))
}

/// Reads the call: its default, if it has one; all else goes to `said`.
pub(super) fn field(
    cursor: &mut Cursor<'_>,
    said: &mut Map<String, Value>,
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
                said.insert("description".to_owned(), values::value(cursor)?);
            }
            None | Some("default") => default = default_value(cursor)?,
            Some("default_factory") => default = Some(made(cursor)),
            Some(word) => match KEYWORDS.iter().find(|(keyword, _)| *keyword == word) {
                Some((_, key)) => {
                    let value = values::value(cursor)?;
                    // `description=None` says nothing.
                    if !value.is_null() {
                        said.insert((*key).to_owned(), value);
                    }
                }
                None if SILENT.contains(&word) => {
                    values::value(cursor)?;
                }
                None => {
                    return Err(error_at(start, format!("what `{word}` says about a value is not known")));
                }
            },
        }
        Ok(())
    })?;
    Ok(default)
}

/// Takes `word =`, or nothing.
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

/// A default, where `...` stands for none.
fn default_value(cursor: &mut Cursor<'_>) -> Result<Option<PyDefault>, SyntaxError> {
    if cursor.rest().starts_with("...") {
        cursor.take(3);
        return Ok(None);
    }
    default(cursor, b",)").map(Some)
}

/// What a factory makes.
fn made(cursor: &mut Cursor<'_>) -> PyDefault {
    match text(cursor, b",)").unwrap_or_default().as_str() {
        "list" | "set" | "tuple" => PyDefault::Literal(json!([])),
        "dict" => PyDefault::Literal(json!({})),
        factory => PyDefault::Expression(format!("{factory}()")),
    }
}
