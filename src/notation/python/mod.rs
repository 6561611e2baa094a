//! Reads what people and models write as Python: literals, calls and the heads of functions and classes.
//!
//! Logs hold doc lists printed with `repr`, pasted dictionaries, and answers
//! such as `[get_weather(city='Oslo')]`. This module reads them into JSON values
//! without running anything: no arithmetic, no attribute access. What
//! JSON cannot say (bytes, complex numbers, keys that are not strings, infinity)
//! is an error rather than a guess, with the byte where it stands. Time is
//! linear in the text. Looser text (missing quotes, cut ends) is for `docs`.

mod annotations;
mod calls;
mod classes;
mod cursor;
mod defs;
mod fields;
mod lines;
mod module;
mod numbers;
mod strings;
mod values;
mod written;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::allowance::Allowance;
use crate::notation::repeated::Repeated;
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

/// The head of one function: what its `def` line and its docstring say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PyDef {
    /// The function's name.
    pub name: String,
    /// Its named parameters in order, without the receiver, `*args` and `**kwargs`.
    pub parameters: Vec<PyParameter>,
    /// The first parameter, if it is called `self` or `cls`.
    pub receiver: Option<PyParameter>,
    /// `*args` and `**kwargs` as written, stars included.
    pub rest: Vec<String>,
    /// The docstring as written, with its indentation.
    pub docstring: Option<String>,
    /// The decorators as written, each with its `@`.
    pub decorators: Vec<String>,
    /// Whether it is defined inside `if`, `try` or another block.
    pub is_conditional: bool,
    /// The byte of the source where the definition begins.
    pub offset: usize,
}

/// One parameter of a [`PyDef`], or one field of a [`PyClass`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PyParameter {
    /// Its name.
    pub name: String,
    /// Its type as written, blanks folded.
    pub annotation: Option<String>,
    /// Its default; without one it is required.
    pub default: Option<PyDefault>,
    /// What `Annotated[…]` or `Field(…)` says about it: JSON Schema's keys, `description` among them.
    pub said: Map<String, Value>,
}

/// The default of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum PyDefault {
    /// A literal.
    Literal(Value),
    /// Anything else, as written with blanks folded: a name, a call, a sum.
    Expression(String),
}

impl PyDefault {
    /// The value, if it is a literal.
    pub fn literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            Self::Expression(_) => None,
        }
    }
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
    /// Its methods, except properties.
    pub methods: Vec<PyDef>,
    /// The byte of the source where the class begins.
    pub offset: usize,
}

/// The head of a function without `def`.
#[derive(Debug, Clone, PartialEq)]
pub struct PySignature {
    /// Name and parameters; dots in the name are kept.
    pub def: PyDef,
    /// Whether it says what comes back.
    pub has_result: bool,
}

/// A definition at the outermost level of a source.
#[derive(Debug, Clone, PartialEq)]
pub enum PyItem {
    /// A function.
    Def(PyDef),
    /// A class.
    Class(PyClass),
}

/// What a source defines.
#[derive(Debug, Default, PartialEq)]
pub struct PyModule {
    /// Its functions and classes in the order of the source.
    pub items: Vec<PyItem>,
    /// Names of the outermost level that are bound once, to a literal.
    pub constants: BTreeMap<String, Value>,
    /// Definitions that cannot be read, and lines that are not Python.
    pub faults: Vec<SyntaxError>,
    /// Whether it has a docstring or statements of its own, as a file that runs does and pasted definitions do not.
    pub is_program: bool,
}

/// Reads one Python literal as JSON.
///
/// Lists, tuples and sets become arrays (a set keeps every element as written), `dict(a=1)` and
/// `list([…])` are read like the displays they stand for, and the JSON words `true`, `false` and
/// `null` count as literals too, because pasted texts mix them. Numbers keep every digit.
///
/// ```
/// # use serde_json::json;
/// let value = toolsieve::notation::python::literal("{'name': 'f', 'tags': ('a', \"b\"), 'strict': True}");
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

/// Reads the definitions of a source: functions, classes with their methods, and constants.
///
/// Bodies and statements are stepped over. A definition may be a signature alone, without a colon. One that cannot be
/// read is a fault, and the others are read.
///
/// ```
/// use toolsieve::notation::python::{PyDefault, PyItem, module};
/// let module = module("import os\n\ndef ring(bell: str, times: int = 1):\n    '''Rings.'''\n    pass");
/// let [PyItem::Def(def)] = module.items.as_slice() else { panic!("one function") };
/// assert_eq!((def.name.as_str(), def.docstring.as_deref()), ("ring", Some("Rings.")));
/// assert_eq!(def.parameters[1].default, Some(PyDefault::Literal(1.into())));
/// ```
pub fn module(text: &str) -> PyModule {
    module::module(&mut Cursor::within(text, &Allowance::of(text)))
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
