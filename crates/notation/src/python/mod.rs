//! Reads text that people and models write as Python: literals, calls and signatures of functions and classes.
//!
//! Logs contain doc lists printed with `repr`, pasted dictionaries, and answers such as `[get_weather(city='Oslo')]`.
//! This module converts them to JSON values without executing anything: no arithmetic, no attribute access. Values
//! without an equivalent in JSON (bytes, complex numbers, keys that are not strings, infinity) are an error with its
//! byte, not a guess. Time is linear in the text. Text with errors (missing quotes, truncated ends) is handled by
//! `docs`.

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
use crate::repeated::Repeated;
use cursor::Cursor;

/// The reason for which a text is not a Python literal or a list of calls.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message} at byte {offset}")]
pub struct SyntaxError {
    /// The byte at which reading stopped; always the start of a character, or the text's length.
    pub offset: usize,
    /// The unexpected or missing text.
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

/// The signature of one function, with its docstring.
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
    /// The byte of the source at which the definition begins.
    pub offset: usize,
}

/// One parameter of a [`PyDef`], or one field of a [`PyClass`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PyParameter {
    /// Its name.
    pub name: String,
    /// Its type as written, with whitespace collapsed.
    pub annotation: Option<String>,
    /// Its default; a parameter without one is required.
    pub default: Option<PyDefault>,
    /// The description in `Annotated[…]` or `Field(…)`, with JSON Schema's keys such as `description`.
    pub schema_keys: Map<String, Value>,
}

/// The default of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum PyDefault {
    /// A literal.
    Literal(Value),
    /// Any other expression, as written with whitespace collapsed: a name, a call, a sum.
    Expression(String),
}

impl PyDefault {
    /// Returns the value, if it is a literal.
    pub fn literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            Self::Expression(_) => None,
        }
    }
}

/// A class, reduced to its fields and methods.
#[derive(Debug, Clone, PartialEq)]
pub struct PyClass {
    /// The class's name.
    pub name: String,
    /// Its base classes and decorators, as written.
    pub marks: Vec<String>,
    /// The docstring as written.
    pub docstring: Option<String>,
    /// The annotated names and plain assignments of its body, or the error in one of them.
    pub fields: Result<Vec<PyParameter>, SyntaxError>,
    /// Its methods, except properties.
    pub methods: Vec<PyDef>,
    /// The byte of the source at which the class begins.
    pub offset: usize,
}

/// The signature of a function without `def`.
#[derive(Debug, Clone, PartialEq)]
pub struct PySignature {
    /// Name and parameters; dots in the name are kept.
    pub def: PyDef,
    /// Whether it has a result type.
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

/// The definitions of a source.
#[derive(Debug, Default, PartialEq)]
pub struct PyModule {
    /// Its functions and classes in the order of the source.
    pub items: Vec<PyItem>,
    /// Names at the outermost level that are assigned once, with a literal.
    pub constants: BTreeMap<String, Value>,
    /// Unreadable definitions, and lines that are not Python.
    pub faults: Vec<SyntaxError>,
    /// Whether it has a docstring or other statements, as a program has and pasted definitions do not.
    pub is_program: bool,
}

/// Reads one Python literal as JSON.
///
/// Lists, tuples and sets become arrays (a set keeps every element as written), `dict(a=1)` and `list([…])` are read
/// like the equivalent literals, and the JSON words `true`, `false` and `null` count as literals too, because pasted
/// texts mix them. Numbers keep every digit.
///
/// ```
/// # use serde_json::json;
/// let value = callsieve_notation::python::literal("{'name': 'f', 'tags': ('a', \"b\"), 'strict': True}");
/// assert_eq!(value, Ok(json!({"name": "f", "tags": ["a", "b"], "strict": true})));
/// ```
///
/// # Errors
/// If the text is not one literal, has more than 128 nested brackets, or has a value without an equivalent in JSON.
pub fn literal(text: &str) -> Result<Value, SyntaxError> {
    read(text).map(|literal| literal.value)
}

/// A literal, with its doubtful parts.
#[derive(Debug, PartialEq)]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// Keys that occur twice in one dict with different values.
    pub repeated: Vec<Repeated>,
    /// The place of joined strings between which a comma or a backslash may be missing.
    pub doubtful_joint: Option<usize>,
}

/// Reads one Python literal like [`literal`], and reports its doubtful parts.
///
/// Adjacent strings in a list are one string in Python. On one line, or if nothing else shows that the text is Python,
/// a missing comma is equally likely.
///
/// # Errors
/// The text is no literal of Python.
pub fn read(text: &str) -> Result<Literal, SyntaxError> {
    read_within(text, &Allowance::of(text))
}

/// Reads one Python literal like [`read`], within an allowance.
///
/// # Errors
/// The text is no literal of Python, or too large for the allowance.
pub fn read_within(text: &str, allowance: &Allowance) -> Result<Literal, SyntaxError> {
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
/// `[]` is an empty list of calls. Python's keywords may be argument names (`from='Oslo'`), as the called functions are
/// rarely Python.
///
/// # Errors
/// If the text is anything except calls, an argument has no keyword, or a value is not a literal.
pub fn calls(text: &str) -> Result<Vec<PyCall>, SyntaxError> {
    calls_with_repeated(text).map(|(calls, _)| calls)
}

/// Reads [`calls`], and returns the arguments that a call has twice with different values as well.
///
/// # Errors
/// As [`calls`].
pub fn calls_with_repeated(text: &str) -> Result<(Vec<PyCall>, Vec<Repeated>), SyntaxError> {
    let allowance = Allowance::of(text);
    let mut cursor = Cursor::within(text, &allowance);
    cursor.skip_blank();
    let calls = calls::calls(&mut cursor)?;
    cursor.finish()?;
    Ok((calls, std::mem::take(&mut cursor.notes.repeated)))
}

/// Reads the definitions of a source: functions, classes with their methods, and constants.
///
/// Bodies and statements are skipped. A definition may be only a signature, without a colon. An unreadable definition
/// is a fault, and the others are read.
///
/// ```
/// use callsieve_notation::python::{PyDefault, PyItem, module};
/// let module = module("import os\n\ndef ring(bell: str, times: int = 1):\n    '''Rings.'''\n    pass");
/// let [PyItem::Def(def)] = module.items.as_slice() else { panic!("one function") };
/// assert_eq!((def.name.as_str(), def.docstring.as_deref()), ("ring", Some("Rings.")));
/// assert_eq!(def.parameters[1].default, Some(PyDefault::Literal(1.into())));
/// ```
pub fn module(text: &str) -> PyModule {
    module::module(&mut Cursor::within(text, &Allowance::of(text)))
}

/// Reads signatures of functions without `def`, each on one line or several: `ring(bell: str) -> bool`.
///
/// # Errors
/// If the text contains anything else.
pub fn signatures(text: &str) -> Result<Vec<PySignature>, SyntaxError> {
    defs::signatures(&mut Cursor::within(text, &Allowance::of(text)))
}

#[cfg(test)]
mod tests;
