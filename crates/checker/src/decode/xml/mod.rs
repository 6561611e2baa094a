//! Calls in XML: `<functions><function name="f"><param name="x" …` (`xml_parser.py`).
//!
//! The verbose form has the values in attributes, the concise form as texts. Only what stands between the first
//! `<functions>` and the first `</functions>` is read.

mod names;
mod parse;

use super::{DecodeError, python};
use crate::convert::number;
use crate::value::{PyDict, PyValue};
use parse::{Event, XmlReader};

/// Where the value of a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// In the attribute `value`. Parameters may be in an element `params`.
    Attributes,
    /// In the text of the element.
    Texts,
}

/// A `function` element.
#[derive(Default)]
struct Function {
    attributes: Attributes,
    params: Vec<Param>,
    /// The parameters in the first `params` element.
    in_container: Option<Vec<Param>>,
}

/// A `param` element, with the text before its first child.
struct Param {
    attributes: Attributes,
    text: String,
}

type Attributes = Vec<(String, String)>;

fn attribute<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Decodes the calls of a text.
pub(super) fn decode(text: &str, values: Values) -> Result<PyValue, DecodeError> {
    const END: &str = "</functions>";
    let start = text.find("<functions>");
    let end = start.and_then(|start| text[start..].find(END).map(|length| start + length + END.len()));
    let (Some(start), Some(end)) = (start, end) else {
        return Err(DecodeError::new("ValueError", "the output has no <functions> and </functions>"));
    };
    let functions = functions(&text[start..end])?;
    functions.into_iter().map(|function| call(function, values)).collect::<Result<_, _>>().map(PyValue::List)
}

fn call(function: Function, values: Values) -> Result<PyValue, DecodeError> {
    let name = attribute(&function.attributes, "name");
    let name = name.ok_or_else(|| DecodeError::new("KeyError", "a function has no name"))?;
    let params = match (values, function.in_container) {
        (Values::Attributes, Some(params)) => params,
        _ => function.params,
    };
    let mut arguments = PyDict::with_capacity(params.len());
    for param in &params {
        let name = attribute(&param.attributes, "name");
        let declared = attribute(&param.attributes, "type").unwrap_or("string");
        let (name, text) = match (values, name) {
            (Values::Attributes, name) => (
                name.map_or(PyValue::None, PyValue::text),
                attribute(&param.attributes, "value").unwrap_or(""),
            ),
            (Values::Texts, Some(name)) => (PyValue::text(name), super::strip(&param.text)),
            (Values::Texts, None) => return Err(DecodeError::new("KeyError", "a parameter has no name")),
        };
        arguments.insert(name, value(text, declared)?);
    }
    Ok(PyValue::Dict([(PyValue::text(name), PyValue::Dict(arguments))].into_iter().collect()))
}

/// Converts a text to the type in the call. A type that the evaluator does not know is a text.
fn value(text: &str, declared: &str) -> Result<PyValue, DecodeError> {
    let no_number = || DecodeError::new("ValueError", format!("{text:?} is no {declared}"));
    match declared {
        "integer" => number::integer(text).ok().flatten().map(PyValue::Int).ok_or_else(no_number),
        "float" => number::float(text).map(PyValue::Float).ok_or_else(no_number),
        "boolean" => Ok(PyValue::Bool(text.to_lowercase() == "true")),
        "null" => Ok(PyValue::None),
        "array" | "tuple" | "object" | "dict" => python::literal(text),
        _ => Ok(PyValue::text(text)),
    }
}

/// Reads the functions of a document whose root is `functions`.
fn functions(text: &str) -> Result<Vec<Function>, DecodeError> {
    let mut functions: Vec<Function> = Vec::new();
    // Names of the open elements; only those of the first levels matter.
    let mut path: Vec<Option<&str>> = Vec::new();
    let mut reader = XmlReader::new(text);
    let mut collects_text = false;
    while let Some(event) = reader.next()? {
        match event {
            Event::Open { name, attributes } => {
                collects_text = false;
                let parent = functions.last_mut();
                match (path.get(1..).unwrap_or_default(), name, parent) {
                    ([], Some("function"), _) if path.len() == 1 => {
                        functions.push(Function { attributes, ..Function::default() });
                    }
                    ([Some("function")], Some("param"), Some(parent)) => {
                        parent.params.push(Param { attributes, text: String::new() });
                        collects_text = true;
                    }
                    ([Some("function")], Some("params"), Some(parent)) if parent.in_container.is_none() => {
                        parent.in_container = Some(Vec::new());
                        path.push(Some(FIRST_CONTAINER));
                        continue;
                    }
                    ([Some("function"), Some(FIRST_CONTAINER)], Some("param"), Some(parent)) => {
                        parent
                            .in_container
                            .get_or_insert_default()
                            .push(Param { attributes, text: String::new() });
                    }
                    _ => {}
                }
                path.push(name);
            }
            Event::Close => {
                path.pop();
                collects_text = false;
            }
            Event::Text(text) => {
                if let (true, Some(param)) =
                    (collects_text, functions.last_mut().and_then(|f| f.params.last_mut()))
                {
                    param.text.push_str(&text);
                }
            }
        }
    }
    Ok(functions)
}

/// The name of the only `params` element that counts, which no element can have.
const FIRST_CONTAINER: &str = "<params>";

#[cfg(test)]
mod tests {
    use crate::decode::{OutputFormat, decode_text};

    fn decoded(text: &str, format: OutputFormat) -> String {
        match decode_text(text, format, false) {
            Ok(value) => value.repr(),
            Err(error) => error.exception.to_owned(),
        }
    }

    #[test]
    fn values_have_the_type_in_the_call() {
        for (value, declared, expected) in [
            ("5", "string", "'5'"),
            (" 5 ", "integer", "5"),
            ("5.0", "integer", "ValueError"),
            ("5", "float", "5.0"),
            ("TRUE", "boolean", "True"),
            ("1", "boolean", "False"),
            ("x", "null", "None"),
            ("[1, ('a',)]", "array", "[1, ('a',)]"),
            ("{&quot;a&quot;: true}", "dict", "ValueError"),
            ("{'a': True}", "object", "{'a': True}"),
            ("5", "number", "'5'"),
        ] {
            let verbose = format!(
                "<functions><function name=\"f\"><params><param name=\"x\" value=\"{value}\" type=\"{declared}\"/></params></function></functions>"
            );
            let concise = format!(
                "<functions><function name='f'><param name='x' type='{declared}'>{value}</param></function></functions>"
            );
            let call = if expected.ends_with("Error") {
                expected.to_owned()
            } else {
                format!("[{{'f': {{'x': {expected}}}}}]")
            };
            assert_eq!(decoded(&verbose, OutputFormat::VerboseXml), call, "{value} {declared}");
            assert_eq!(decoded(&concise, OutputFormat::ConciseXml), call, "{value} {declared}");
        }
    }

    #[test]
    fn only_the_first_container_counts() {
        let params =
            |inner: &str| format!("Here: <functions><function name='f'>{inner}</function></functions>.");
        for (inner, verbose, concise) in [
            ("<param name='x' value='1'>2</param>", "[{'f': {'x': '1'}}]", "[{'f': {'x': '2'}}]"),
            (
                "<param name='x'/><params><param name='y'/></params>",
                "[{'f': {'y': ''}}]",
                "[{'f': {'x': ''}}]",
            ),
            ("<params/><params><param name='y'/></params>", "[{'f': {}}]", "[{'f': {}}]"),
            ("<param value='1'>2</param>", "[{'f': {None: '1'}}]", "KeyError"),
            ("<param name='x'> 2<!-- c -->3 <b>4</b>5</param>", "[{'f': {'x': ''}}]", "[{'f': {'x': '23'}}]"),
            ("<param xmlns='u' name='x'>2</param>", "[{'f': {}}]", "[{'f': {}}]"),
            ("<param name='x'>2</params>", "ParseError", "ParseError"),
        ] {
            assert_eq!(decoded(&params(inner), OutputFormat::VerboseXml), verbose, "{inner}");
            assert_eq!(decoded(&params(inner), OutputFormat::ConciseXml), concise, "{inner}");
        }
        assert_eq!(decoded("<functions></functions>", OutputFormat::ConciseXml), "[]");
        assert_eq!(decoded("f(x=1)", OutputFormat::ConciseXml), "ValueError");
        assert_eq!(decoded("<functions><function/></functions>", OutputFormat::VerboseXml), "KeyError");
    }
}
