//! Reads what people and models write as Python: literals and calls.
//!
//! Logs hold doc lists printed with `repr`, pasted dictionaries, and answers
//! such as `[get_weather(city='Oslo')]`. This room reads them into JSON values
//! without running anything: no arithmetic, no names, no attribute access. What
//! JSON cannot say (bytes, complex numbers, keys that are not strings, infinity)
//! is an error rather than a guess, with the byte where it stands. Time is
//! linear in the text. Looser text (missing quotes, cut ends) is for `docs`.

mod calls;
mod cursor;
mod numbers;
mod strings;
mod values;

use serde_json::{Map, Value};
use thiserror::Error;

use cursor::Cursor;

/// Why a text is not a Python literal or a list of calls.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message} at byte {offset}")]
pub struct SyntaxError {
    /// The byte of the text where reading stopped; always the start of a character, or the text's length.
    pub offset: usize,
    /// What was found or missing there.
    pub message: String,
}

/// One call with keyword arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct PyCall {
    /// The function's name with its dots: `weather.get`.
    pub name: String,
    /// The arguments in the order written; of a repeated one the last value counts.
    pub arguments: Map<String, Value>,
}

/// Reads one Python literal as JSON.
///
/// Lists, tuples and sets become arrays (a set keeps every element as written), `dict(a=1)` and
/// `list([…])` are read like the displays they stand for, and the JSON words `true`, `false` and
/// `null` count as literals too, because pasted texts mix them. Numbers keep every digit.
///
/// ```
/// # use serde_json::json;
/// let value = toolsieve::python::literal("{'name': 'f', 'tags': ('a', \"b\"), 'strict': True}");
/// assert_eq!(value, Ok(json!({"name": "f", "tags": ["a", "b"], "strict": true})));
/// ```
///
/// # Errors
/// When the text is not one literal, goes deeper than 128 brackets, or holds what JSON has no word for.
pub fn literal(text: &str) -> Result<Value, SyntaxError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blank();
    let value = values::value(&mut cursor)?;
    cursor.finish()?;
    Ok(value)
}

/// Reads calls separated by commas, in brackets or without: `[f(a=1), g.h(b='x')]`.
///
/// `[]` is no calls. Python's own keywords may name an argument (`from='Oslo'`), since the
/// functions called are seldom Python.
///
/// # Errors
/// When the text is anything but calls, an argument has no keyword, or a value is not a literal.
pub fn calls(text: &str) -> Result<Vec<PyCall>, SyntaxError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blank();
    let calls = calls::calls(&mut cursor)?;
    cursor.finish()?;
    Ok(calls)
}

#[cfg(test)]
mod tests;
