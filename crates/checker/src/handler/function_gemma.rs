//! The calls of `FunctionGemma`: `<start_function_call>call:name{key:<escape>text<escape>,other:5}<end_function_call>`.
//!
//! The handler reads values with a small state machine that accepts any text: brackets need not match, a key without a value
//! is dropped, a value without a key becomes the next key. This follows it step by step.

use super::decoder::{call, no_call, stripped};
use crate::convert::number;
use crate::decode::DecodeError;
use crate::value::{PyDict, PyValue};

/// Deeper values are not decoded; the handler decodes them at any depth.
const MAX_DEPTH: usize = 500;

/// Decodes each call between the tags; others are skipped.
pub(super) fn decode(text: &str) -> Result<PyValue, DecodeError> {
    let (mut calls, mut rest) = (Vec::new(), text);
    while let Some((_, behind)) = rest.split_once("<start_function_call>") {
        let Some((inner, behind)) = behind.split_once("<end_function_call>") else { break };
        rest = behind;
        let Some(inner) = stripped(inner).strip_prefix("call:") else { continue };
        let (name, arguments) = match inner.find('{') {
            Some(at) => (&inner[..at], Reader::default().read(&inner[at..])?),
            None => (inner, PyValue::Dict(PyDict::default())),
        };
        calls.push(call(PyValue::text(stripped(name)), arguments)?);
    }
    Ok(if calls.is_empty() { no_call() } else { PyValue::List(calls) })
}

/// A list or dict that is not complete.
enum Open {
    List(Vec<PyValue>),
    Dict(PyDict),
}

impl Open {
    fn closed(self) -> PyValue {
        match self {
            Self::List(elements) => PyValue::List(elements),
            Self::Dict(members) => PyValue::Dict(members),
        }
    }
}

/// Where a value goes when it is complete.
enum Place {
    Element,
    Member(String),
    Nowhere,
}

/// Reads the arguments of a call.
#[derive(Default)]
struct Reader {
    /// The open values, the innermost last; what is outside of all is a list.
    open: Vec<(Open, Place)>,
    outside: Vec<PyValue>,
    /// The key of each open brace that has no value yet. Brackets that do not match leave these of other braces.
    keys: Vec<Option<String>>,
    /// A value that may become a key.
    pending: Option<String>,
    buffer: String,
}

impl Reader {
    fn read(mut self, text: &str) -> Result<PyValue, DecodeError> {
        const ESCAPE: &str = "<escape>";
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            if let Some(behind) = rest.strip_prefix(ESCAPE) {
                let (value, behind) = behind.split_once(ESCAPE).unwrap_or((rest, ""));
                self.commit();
                self.add(PyValue::text(value));
                rest = behind;
                continue;
            }
            rest = &rest[next.len_utf8()..];
            if "{[:]},".contains(next) {
                self.commit();
                self.structure(next)?;
            } else {
                self.buffer.push(next);
            }
        }
        self.commit();
        while !self.open.is_empty() {
            self.close();
        }
        let first = self.outside.into_iter().next();
        Ok(first.filter(|first| first.as_dict().is_some()).unwrap_or(PyValue::Dict(PyDict::default())))
    }

    fn structure(&mut self, mark: char) -> Result<(), DecodeError> {
        match mark {
            '{' | '[' => {
                if self.open.len() >= MAX_DEPTH {
                    return Err(DecodeError::new("RecursionError", "the arguments nest too deeply"));
                }
                let place = self.place();
                let is_dict = mark == '{';
                let open = if is_dict { Open::Dict(PyDict::default()) } else { Open::List(Vec::new()) };
                self.open.push((open, place));
                if is_dict {
                    self.keys.push(None);
                }
                self.pending = None;
            }
            '}' => {
                if self.close() {
                    self.keys.pop();
                }
                self.pending = None;
            }
            ']' => {
                self.close();
                self.pending = None;
            }
            ':' => {
                let is_dict = matches!(self.open.last(), Some((Open::Dict(_), _)));
                if let Some(key) = self.pending.take()
                    && is_dict
                    && let Some(last) = self.keys.last_mut()
                {
                    *last = Some(key);
                }
            }
            _ => self.pending = None,
        }
        Ok(())
    }

    /// Takes the place of the next value.
    fn place(&mut self) -> Place {
        match self.open.last() {
            None | Some((Open::List(_), _)) => Place::Element,
            Some((Open::Dict(_), _)) => {
                self.keys.last_mut().and_then(Option::take).map_or(Place::Nowhere, Place::Member)
            }
        }
    }

    fn put(&mut self, value: PyValue, place: Place) {
        match (self.open.last_mut(), place) {
            (None, Place::Element) => self.outside.push(value),
            (Some((Open::List(elements), _)), Place::Element) => elements.push(value),
            (Some((Open::Dict(members), _)), Place::Member(key)) => members.insert(PyValue::Str(key), value),
            _ => {}
        }
    }

    /// Ends the innermost value; returns whether there was one.
    fn close(&mut self) -> bool {
        let Some((open, place)) = self.open.pop() else { return false };
        self.put(open.closed(), place);
        true
    }

    fn add(&mut self, value: PyValue) {
        match self.place() {
            Place::Nowhere => {
                self.pending = match value {
                    PyValue::Str(text) => Some(text),
                    PyValue::None => None,
                    other => Some(other.repr()),
                };
            }
            place => self.put(value, place),
        }
    }

    /// Adds the value that was read up to here.
    fn commit(&mut self) {
        let text = std::mem::take(&mut self.buffer);
        let text = stripped(&text);
        if !text.is_empty() {
            self.add(primitive(text));
        }
    }
}

/// Returns the value of a text without quotes.
fn primitive(text: &str) -> PyValue {
    match text {
        "null" => return PyValue::None,
        "true" => return PyValue::Bool(true),
        "false" => return PyValue::Bool(false),
        _ => {}
    }
    if let Ok(Some(integer)) = number::integer(text) {
        return PyValue::Int(integer);
    }
    number::float(text).map_or_else(|| PyValue::text(text), PyValue::Float)
}

#[cfg(test)]
mod tests {
    use super::super::decoder::{Decoder, decoded};

    #[test]
    fn calls_are_read_like_the_handler_reads_them() {
        for (arguments, expected) in [
            ("{a:<escape>x, {y}<escape>,b:5}", "{'a': 'x, {y}', 'b': 5}"),
            (
                "{a:1.50,b:true,c:null,d:word,e:1e3,f:-7}",
                "{'a': 1.5, 'b': True, 'c': None, 'd': 'word', 'e': 1000.0, 'f': -7}",
            ),
            ("{a:[1,2,{b:3}],c:{d:{}}}", "{'a': [1, 2, {'b': 3}], 'c': {'d': {}}}"),
            ("{<escape>a<escape>:1, 05:2, 1.0:3, true:4, null:5}", "{'a': 1, '5': 2, '1.0': 3, 'True': 4}"),
            ("{a:1", "{'a': 1}"),
            ("{a:[1}", "{'a': [1]}"),
            ("{a,b:1}", "{'b': 1}"),
            ("{{a:1}:2}", "{}"),
            ("{a:<escape>1}", "{'a': '<escape>1}'}"),
            ("{a:1}{b:2}", "{'a': 1}"),
            ("{a:1, a:2}", "{'a': 2}"),
            ("{[a}:1}", "{}"),
        ] {
            let text = format!("<start_function_call> call: ring {arguments}<end_function_call>");
            assert_eq!(
                decoded(Decoder::StartFunctionCall, &text),
                format!("[{{'ring': {expected}}}]"),
                "{text}"
            );
        }
        let deep = format!("<start_function_call>call:ring{}<end_function_call>", "{a:".repeat(100_000));
        for (text, expected) in [
            ("<start_function_call>call:ring<end_function_call>", "[{'ring': {}}]"),
            ("<start_function_call>ring{}<end_function_call>", "[]"),
            ("<start_function_call>call:ring{}", "[]"),
            ("call:ring{}", "[]"),
            (deep.as_str(), "RecursionError"),
        ] {
            assert_eq!(decoded(Decoder::StartFunctionCall, text), expected, "{text}");
        }
    }
}
