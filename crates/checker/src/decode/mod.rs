//! Decodes the output of a model into calls: a list of dicts, each with the name of a function and its arguments.
//!
//! A prompted model writes calls as text, in the syntax of the entry's language or in a format that the prompt asks for;
//! a model with function calling returns names and JSON arguments. No text is executed.

mod calls;
mod java;
mod javascript;
mod json;
mod python;
mod syntax;
mod xml;

use super::mode::Mode;
use super::value::PyValue;

pub use calls::decode_calls;
pub(crate) use python::{literal, statements};

/// The syntax of calls in a text (`ReturnFormat` of the evaluator).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFormat {
    /// Python: `[f(x=1), g(y="a")]`.
    #[default]
    Python,
    /// Java.
    Java,
    /// JavaScript.
    JavaScript,
    /// JSON: `[{"function": "f", "parameters": {…}}]`. Only in format sensitivity.
    Json,
    /// XML with attributes `name`, `value` and `type`. Only in format sensitivity.
    VerboseXml,
    /// XML with the values as texts. Only in format sensitivity.
    ConciseXml,
}

/// An output that is not decoded: the exception that the official decoder raises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{exception}: {detail}")]
pub struct DecodeError {
    /// The class of the exception in Python, such as `SyntaxError`.
    pub exception: &'static str,
    /// What is wrong with the output.
    pub detail: String,
}

impl DecodeError {
    /// Returns an error.
    pub fn new(exception: &'static str, detail: impl Into<String>) -> Self {
        Self { exception, detail: detail.into() }
    }
}

/// Decodes the text of a prompted model (`default_decode_ast_prompting`).
///
/// Only backticks, spaces and line feeds around the calls are removed, and missing brackets added. `has_tag` means that
/// the calls are between `<TOOLCALL>` and `</TOOLCALL>`.
///
/// # Errors
/// If the official decoder raises an exception.
pub fn decode_text(text: &str, format: OutputFormat, has_tag: bool) -> Result<PyValue, DecodeError> {
    decode_in(Mode::Official, text, format, has_tag)
}

/// Decodes the text of a prompted model in strict mode: a sign does what Python says, where the official decoder negates
/// the constant behind any sign.
///
/// # Errors
/// If the text is not in the syntax of calls.
pub fn decode_text_strict(text: &str, format: OutputFormat, has_tag: bool) -> Result<PyValue, DecodeError> {
    decode_in(Mode::Strict, text, format, has_tag)
}

pub(crate) fn decode_in(
    mode: Mode,
    text: &str,
    format: OutputFormat,
    has_tag: bool,
) -> Result<PyValue, DecodeError> {
    let text = text.trim_matches(['`', '\n', ' ']);
    let mut bracketed = String::with_capacity(text.len() + 2);
    if !text.starts_with('[') {
        bracketed.push('[');
    }
    bracketed.push_str(text);
    if !bracketed.ends_with(']') {
        bracketed.push(']');
    }
    parse_calls(mode, &bracketed, format, has_tag)
}

/// Decodes calls in brackets (`ast_parse`).
pub(crate) fn parse_calls(
    mode: Mode,
    bracketed: &str,
    format: OutputFormat,
    has_tag: bool,
) -> Result<PyValue, DecodeError> {
    let calls = if has_tag { tagged(bracketed)? } else { bracketed };
    match format {
        OutputFormat::Python => python::decode(calls, mode),
        OutputFormat::Java => java::decode(without_ends(calls)),
        OutputFormat::JavaScript => javascript::decode(without_ends(calls)),
        OutputFormat::Json => json::decode(calls),
        OutputFormat::VerboseXml => xml::decode(calls, xml::Values::Attributes),
        OutputFormat::ConciseXml => xml::decode(calls, xml::Values::Texts),
    }
}

/// Returns a text without its first and last character.
fn without_ends(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

/// Returns a text without spaces at both ends, as Python's `str.strip`.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(|char: char| char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char))
}

/// Returns the text between the first pair of tags.
fn tagged(text: &str) -> Result<&str, DecodeError> {
    let inner = text.split_once("<TOOLCALL>").and_then(|(_, rest)| rest.split_once("</TOOLCALL>"));
    let (inner, _) = inner.ok_or_else(|| {
        DecodeError::new("ValueError", "the output has no <TOOLCALL> and </TOOLCALL> around the calls")
    })?;
    Ok(strip(inner))
}

/// Reads a JSON text as Python's `json.loads` does; half of a surrogate pair becomes U+FFFD.
///
/// # Errors
/// If the text is no JSON, nests too deeply, or has an integer with too many digits.
pub fn python_json(text: &str) -> Result<PyValue, DecodeError> {
    json::loads(text)
}

/// Returns whether a decoded output is a list of calls: of dicts with one key, whose value is a dict
/// (`is_function_calling_format_output`). The empty list is one.
pub fn is_list_of_calls(decoded: &PyValue) -> bool {
    decoded.as_list().is_some_and(|calls| {
        calls.iter().all(|call| {
            let members = call.as_dict();
            members.is_some_and(|members| {
                members.len() == 1 && members.iter().all(|(_, v)| v.as_dict().is_some())
            })
        })
    })
}

/// Returns whether a decoded output has no call (`is_empty_output`).
pub fn is_empty_output(decoded: &PyValue) -> bool {
    !is_list_of_calls(decoded) || decoded.as_list().is_none_or(<[PyValue]>::is_empty)
}
