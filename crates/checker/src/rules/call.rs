//! Checks one call against one doc and one call of the ground truth (`simple_function_checker`).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::types::{self, Expected};
use super::values::{self, Alternatives};
use super::{Checker, Language, member, name_of, property, strict};
use crate::convert;
use crate::keys::ValueKey;
use crate::mode::Mode;
use crate::repr::LONG_INTEGER;
use crate::value::{PyDict, PyType, PyValue};
use crate::verdict::{ErrorType, EvaluatorException, Failure, Verdict};

/// Checks one call. The name in the ground truth is not compared: the doc's name counts.
pub(super) fn check(
    checker: Checker,
    language: Language,
    function: &Value,
    call: &PyValue,
    answer: &PyDict,
) -> Result<Verdict, EvaluatorException> {
    name_of(answer)?;
    let answer = answer.iter().next().and_then(|(_, parameters)| parameters.as_dict());
    let answer = answer.ok_or_else(|| {
        EvaluatorException::new("TypeError", "a call of the ground truth has no parameters")
    })?;
    let function = Function::of(function)?;
    let name = function.name(checker.underscore_to_dot);
    let given = call.as_dict().and_then(|call| call.get_str(&name)).and_then(PyValue::as_dict);
    let Some(given) = given else {
        return Ok(Verdict::invalid(
            ErrorType::WrongFunctionName,
            format!("Function name {} not found in model output.", PyValue::text(&name).repr()),
        ));
    };
    for required in function.required() {
        if given.get_str(required).is_none() {
            return Ok(Verdict::invalid(
                ErrorType::MissingRequired,
                format!("Missing required parameter: {}.", PyValue::text(required).repr()),
            ));
        }
    }
    for (name, value) in given.iter() {
        let schema = name.as_str().and_then(|name| property(function.properties, name));
        let (Some(schema), Some(alternatives)) = (schema, answer.get(name)) else {
            return Ok(Verdict::invalid(
                ErrorType::UnexpectedParam,
                format!("Unexpected parameter: {}.", name.repr()),
            ));
        };
        let name = name.as_str().unwrap_or_default();
        let checked = match (checker.mode, language) {
            (Mode::Strict, Language::Python) => {
                strict::check(name, schema, value, &Alternatives::of(alternatives)?.items)
            }
            _ => parameter(language, name, schema, value, alternatives)?,
        };
        if let Err(failure) = checked {
            // The official messages have the value, and Python refuses to write it.
            let is_written =
                || failure.errors.iter().filter_map(Value::as_str).any(|text| text.contains(LONG_INTEGER));
            if checker.mode == Mode::Official && value.has_long_integer() && is_written() {
                return Err(EvaluatorException::new("ValueError", "an integer has more than 4300 digits"));
            }
            return Ok(Verdict::Invalid(*failure));
        }
    }
    for (name, alternatives) in answer.iter() {
        if given.get(name).is_none() && !Alternatives::of(alternatives)?.allow_omission() {
            return Ok(Verdict::invalid(
                ErrorType::MissingOptional,
                format!("Optional parameter {} not provided and not marked as optional.", name.repr()),
            ));
        }
    }
    Ok(Verdict::Valid)
}

/// Returns the arguments that a call must have to match, with the keys of the values that they may have. `None` if the evaluator may
/// stop at a call with other values, so that each call must be checked: only plain types and lists of them never stop it.
pub(super) fn required_values<'v>(
    language: Language,
    function: &Value,
    answer: &'v PyDict,
) -> Option<Vec<(&'v str, Vec<ValueKey>)>> {
    let function = Function::of(function).ok()?;
    let parameters = answer.iter().next().and_then(|(_, parameters)| parameters.as_dict())?;
    let of_type = |schema: &Value| {
        let declared = member(schema, "type").and_then(Value::as_str)?;
        let is_plain = |declared: &str| ["string", "any", "integer", "float", "boolean"].contains(&declared);
        let is_list = matches!(declared, "array" | "tuple")
            && element_type(language, declared, schema, "").ok().flatten().is_some_and(is_plain);
        (is_plain(declared) || is_list).then_some(is_list)
    };
    if language != Language::Python {
        return None;
    }
    let mut required = Vec::new();
    for (name, alternatives) in parameters.iter() {
        let (name, alternatives) = (name.as_str()?, alternatives.as_list()?);
        // A parameter that the doc lacks fails before its value is read.
        if let Some(schema) = property(function.properties, name) {
            let is_list = of_type(schema)?;
            let is_read = |one: &PyValue| matches!(one, PyValue::List(_) | PyValue::Str(_));
            if is_list && !alternatives.iter().all(is_read) {
                return None;
            }
        }
        if !alternatives.iter().any(PyValue::is_omitted_marker) {
            required.push((name, alternatives.iter().flat_map(ValueKey::of_alternative).collect()));
        }
    }
    Some(required)
}

/// The parts of a doc that the evaluator reads.
struct Function<'v> {
    name: &'v str,
    properties: &'v Map<String, Value>,
    required: &'v [Value],
}

impl<'v> Function<'v> {
    fn of(function: &'v Value) -> Result<Self, EvaluatorException> {
        let name = member(function, "name").and_then(Value::as_str);
        let name =
            name.ok_or_else(|| EvaluatorException::new("KeyError", "a function of the entry has no name"))?;
        let part = |key: &str| {
            let part = member(function, "parameters").and_then(|parameters| member(parameters, key));
            part.ok_or_else(|| {
                EvaluatorException::new("KeyError", format!("function {name:?} has no parameters.{key}"))
            })
        };
        let properties = part("properties")?.as_object().ok_or_else(|| {
            EvaluatorException::new(
                "TypeError",
                format!("parameters.properties of function {name:?} is no object"),
            )
        })?;
        let required = part("required")?.as_array().ok_or_else(|| {
            EvaluatorException::new(
                "TypeError",
                format!("parameters.required of function {name:?} is no list"),
            )
        })?;
        Ok(Self { name, properties, required })
    }

    /// Returns the name that a model writes.
    fn name(&self, underscore_to_dot: bool) -> Cow<'v, str> {
        if underscore_to_dot { self.name.replace('.', "_").into() } else { self.name.into() }
    }

    fn required(&self) -> impl Iterator<Item = &'v str> {
        self.required.iter().filter_map(Value::as_str)
    }
}

/// Checks the type, then the value of a parameter.
fn parameter(
    language: Language,
    name: &str,
    schema: &Value,
    value: &PyValue,
    alternatives: &PyValue,
) -> Result<Result<(), Box<Failure>>, EvaluatorException> {
    let declared = member(schema, "type").and_then(Value::as_str);
    let declared = declared
        .ok_or_else(|| EvaluatorException::new("KeyError", format!("parameter {name:?} has no type")))?;
    let expected = Expected {
        declared,
        of_value: python_type(language, declared, name)?,
        of_elements: match element_type(language, declared, schema, name)? {
            Some(of_elements) => Some(python_type(language, of_elements, name)?),
            None => None,
        },
    };
    let converted;
    let value = match language {
        Language::Python => {
            converted = widened(declared, value, name)?;
            converted.as_ref().unwrap_or(value)
        }
        Language::Java | Language::JavaScript => {
            let Some(text) = value.as_str() else {
                return Ok(Err(Box::new(no_text(language, name, value))));
            };
            let of_elements = element_type(language, declared, schema, name)?;
            converted = Some(match language {
                Language::Java => convert::java(text, declared, of_elements)?,
                _ => convert::javascript(text, declared, of_elements)?,
            });
            converted.as_ref().unwrap_or(value)
        }
    };
    let alternatives = Alternatives::of(alternatives)?;
    let is_variable = match types::check(name, value, &alternatives.items, expected) {
        Ok(is_variable) => is_variable,
        Err(failure) => return Ok(Err(failure)),
    };
    values::check(name, value, &alternatives, expected, is_variable)
}

/// Returns the value that a declared type turns a Python value into: a list for a tuple, a float for an integer.
fn widened(declared: &str, value: &PyValue, name: &str) -> Result<Option<PyValue>, EvaluatorException> {
    use num_traits::ToPrimitive as _;
    match (declared, value) {
        ("tuple", PyValue::Tuple(elements)) => Ok(Some(PyValue::List(elements.clone()))),
        ("float", PyValue::Int(whole)) => match whole.to_f64().filter(|value| value.is_finite()) {
            Some(value) => Ok(Some(PyValue::Float(value))),
            None => Err(EvaluatorException::new(
                "OverflowError",
                format!("the integer for parameter {name:?} is too large for a float"),
            )),
        },
        _ => Ok(None),
    }
}

/// Returns the declared type of the elements, for the types whose elements are checked.
fn element_type<'v>(
    language: Language,
    declared: &str,
    schema: &'v Value,
    name: &str,
) -> Result<Option<&'v str>, EvaluatorException> {
    let is_nested = match language {
        Language::Python => matches!(declared, "array" | "tuple"),
        Language::Java | Language::JavaScript => matches!(declared, "Array" | "ArrayList" | "array"),
    };
    if !is_nested {
        return Ok(None);
    }
    let of_elements = member(schema, "items").and_then(|items| member(items, "type")).and_then(Value::as_str);
    of_elements.map(Some).ok_or_else(|| {
        EvaluatorException::new(
            "KeyError",
            format!("parameter {name:?} of type {declared} has no items.type"),
        )
    })
}

/// Returns the type in Python of a declared type.
fn python_type(language: Language, declared: &str, name: &str) -> Result<PyType, EvaluatorException> {
    let found = match language {
        Language::Python => match declared {
            "string" | "any" => Some(PyType::Str),
            "integer" => Some(PyType::Int),
            "float" => Some(PyType::Float),
            "boolean" => Some(PyType::Bool),
            "array" | "tuple" => Some(PyType::List),
            "dict" => Some(PyType::Dict),
            _ => None,
        },
        Language::Java => match declared {
            "byte" | "short" | "integer" | "long" => Some(PyType::Int),
            "float" | "double" => Some(PyType::Float),
            "boolean" => Some(PyType::Bool),
            "char" | "String" | "any" => Some(PyType::Str),
            "Array" | "ArrayList" | "Queue" | "Stack" => Some(PyType::List),
            "Set" => Some(PyType::Set),
            "HashMap" | "Hashtable" => Some(PyType::Dict),
            _ => None,
        },
        Language::JavaScript => match declared {
            "String" | "any" => Some(PyType::Str),
            "integer" | "Bigint" => Some(PyType::Int),
            "float" => Some(PyType::Float),
            "Boolean" => Some(PyType::Bool),
            "dict" => Some(PyType::Dict),
            "array" => Some(PyType::List),
            _ => None,
        },
    };
    found.ok_or_else(|| {
        EvaluatorException::new(
            "KeyError",
            format!("parameter {name:?} has the type {declared:?}, which the evaluator does not know"),
        )
    })
}

fn no_text(language: Language, name: &str, value: &PyValue) -> Failure {
    let error_type = if language == Language::Java { ErrorType::TypeJava } else { ErrorType::TypeJs };
    let message = format!(
        "Incorrect type for parameter {}. Expected type String, got {}. Parameter value: {}.",
        PyValue::text(name).repr(),
        value.type_of().name(),
        value.repr()
    );
    Failure { error_type, errors: vec![message.into()] }
}
