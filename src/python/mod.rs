//! Reads what people and models write as Python: literals, calls and the heads of functions and classes.
//!
//! Logs hold doc lists printed with `repr`, pasted dictionaries, and answers
//! such as `[get_weather(city='Oslo')]`. This room reads them into JSON values
//! without running anything: no arithmetic, no names, no attribute access. What
//! JSON cannot say (bytes, complex numbers, keys that are not strings, infinity)
//! is an error rather than a guess, with the byte where it stands. Time is
//! linear in the text. Looser text (missing quotes, cut ends) is for `docs`.

mod annotations;
mod calls;
mod classes;
mod cursor;
mod defs;
mod fields;
mod numbers;
pub(crate) mod repeated;
mod strings;
mod values;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::allowance::Allowance;
use cursor::Cursor;
use repeated::Repeated;

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

/// The head of one function: what its `def` line and its docstring say.
#[derive(Debug, Clone, PartialEq)]
pub struct PyDef {
    /// The function's name.
    pub name: String,
    /// Its named parameters in order, without `self` and `cls` in front, `*args` and `**kwargs`.
    pub parameters: Vec<PyParameter>,
    /// Whether it takes `*args` or `**kwargs` besides.
    pub has_rest: bool,
    /// The docstring as written, with its indentation.
    pub docstring: Option<String>,
}

/// One parameter of a [`PyDef`], or one field of a [`PyClass`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PyParameter {
    /// Its name.
    pub name: String,
    /// Its type as written, blanks folded.
    pub annotation: Option<String>,
    /// Its default; one that is no literal makes the definition unreadable.
    pub default: Option<Value>,
    /// What `Annotated[…]` or `Field(…)` says about it: JSON Schema's keys, `description` among them.
    pub said: Map<String, Value>,
}

/// A class, as far as it says what can be called or given.
#[derive(Debug, Clone, PartialEq)]
pub struct PyClass {
    /// The class's name.
    pub name: String,
    /// What it is derived from, and what decorates it, as written.
    pub marks: Vec<String>,
    /// The docstring as written.
    pub docstring: Option<String>,
    /// The annotated names and plain assignments of its body, or why one of them cannot be read.
    pub fields: Result<Vec<PyParameter>, SyntaxError>,
    /// Its methods, but for properties.
    pub methods: Vec<PyDef>,
}

/// The head of a function without `def`.
#[derive(Debug, Clone, PartialEq)]
pub struct PySignature {
    /// Name and parameters; dots in the name are kept.
    pub def: PyDef,
    /// Whether it says what comes back.
    pub has_result: bool,
}

/// What stands at the outermost level of a source.
#[derive(Debug, Clone, PartialEq)]
pub enum PyItem {
    /// A function.
    Def(PyDef),
    /// A class.
    Class(PyClass),
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
    read(text).map(|literal| literal.value)
}

/// A literal, and what is doubtful about it.
#[derive(Debug, PartialEq)]
pub(crate) struct Literal {
    pub(crate) value: Value,
    /// Keys that stand twice in one dict with different values.
    pub(crate) repeated: Vec<Repeated>,
    /// Where strings were joined though their writer may have forgotten a comma or a backslash.
    pub(crate) doubtful_joint: Option<usize>,
}

/// Reads one Python literal as [`literal`] does, and says what is doubtful about it.
///
/// Strings side by side in a list are one string in Python. On one line, or where nothing else shows
/// that the text is Python at all, a comma is as likely to be missing.
pub(crate) fn read(text: &str) -> Result<Literal, SyntaxError> {
    read_within(text, &Allowance::of(text))
}

/// Reads one Python literal as [`read`] does, as long as the allowance has room for it.
pub(crate) fn read_within(text: &str, allowance: &Allowance) -> Result<Literal, SyntaxError> {
    let mut cursor = Cursor::within(text, allowance);
    let value = allowance.attempt(|| {
        cursor.skip_blank();
        let value = values::value(&mut cursor)?;
        cursor.finish().map(|()| value)
    })?;
    let notes = cursor.notes;
    let in_list = notes.joined_on_line.or(notes.joined_in_list.filter(|_| !notes.is_python));
    Ok(Literal { value, repeated: notes.repeated, doubtful_joint: notes.touching.or(in_list) })
}

/// Reads calls separated by commas, in brackets or without: `[f(a=1), g.h(b='x')]`.
///
/// `[]` is no calls. Python's own keywords may name an argument (`from='Oslo'`), since the
/// functions called are seldom Python.
///
/// # Errors
/// When the text is anything but calls, an argument has no keyword, or a value is not a literal.
pub fn calls(text: &str) -> Result<Vec<PyCall>, SyntaxError> {
    let allowance = Allowance::of(text);
    let mut cursor = Cursor::within(text, &allowance);
    cursor.skip_blank();
    let calls = calls::calls(&mut cursor)?;
    cursor.finish()?;
    Ok(calls)
}

/// Reads definitions of functions and classes, one or several; bodies are stepped over, imports and decorators let by.
///
/// A definition may be a signature alone, without a colon.
///
/// ```
/// use toolsieve::python::{PyItem, definitions};
/// let items = definitions("def ring(bell: str, times: int = 1):\n    '''Rings.'''\n    pass").unwrap();
/// let [PyItem::Def(def)] = items.as_slice() else { panic!("one function") };
/// assert_eq!((def.name.as_str(), def.docstring.as_deref()), ("ring", Some("Rings.")));
/// assert_eq!(def.parameters[1].default, Some(1.into()));
/// ```
///
/// # Errors
/// When anything but functions and classes is defined, or a default is not a literal.
pub fn definitions(text: &str) -> Result<Vec<PyItem>, SyntaxError> {
    defs::definitions(&mut Cursor::within(text, &Allowance::of(text)))
}

/// Reads heads of functions without `def`, one a line or several lines each: `ring(bell: str) -> bool`.
///
/// # Errors
/// When anything else stands in the text.
pub fn signatures(text: &str) -> Result<Vec<PySignature>, SyntaxError> {
    defs::signatures(&mut Cursor::within(text, &Allowance::of(text)))
}

#[cfg(test)]
mod tests;
