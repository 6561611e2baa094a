//! Compares a value with its alternatives (`string_checker`, `list_checker`, `dict_checker`, `list_dict_checker`).

use std::borrow::Cow;

use super::types::Expected;
use crate::value::{PyDict, PyType, PyValue};
use crate::verdict::{ErrorType, EvaluatorException, Failure};

/// The characters that do not count in a comparison of texts.
const IGNORED: [char; 8] = [' ', ',', '.', '/', '-', '_', '*', '^'];

/// Returns a text as the evaluator compares it: without spaces and `,./-_*^`, in lower case, with `"` for `'`.
pub fn standardized(text: &str) -> String {
    if text.is_ascii() {
        return standardized_ascii(text).map(char::from).collect();
    }
    text.replace(IGNORED, "").to_lowercase().replace('\'', "\"")
}

fn standardized_ascii(text: &str) -> impl Iterator<Item = u8> {
    let bytes =
        text.bytes().filter(|byte| !matches!(byte, b' ' | b',' | b'.' | b'/' | b'-' | b'_' | b'*' | b'^'));
    bytes.map(|byte| if byte == b'\'' { b'"' } else { byte.to_ascii_lowercase() })
}

/// Returns whether two texts are equal as the evaluator compares them.
fn are_same_text(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return standardized_ascii(a).eq(standardized_ascii(b));
    }
    standardized(a) == standardized(b)
}

/// The alternatives of a parameter. By the format a list; the evaluator reads a text as the list of its characters.
pub(super) struct Alternatives<'v> {
    written: &'v PyValue,
    pub(super) items: Cow<'v, [PyValue]>,
}

impl<'v> Alternatives<'v> {
    pub(super) fn of(written: &'v PyValue) -> Result<Self, EvaluatorException> {
        let items = match written {
            PyValue::List(items) => Cow::Borrowed(items.as_slice()),
            PyValue::Str(text) => {
                Cow::Owned(text.chars().map(|char| PyValue::Str(char.to_string())).collect())
            }
            PyValue::Dict(members) => Cow::Owned(members.iter().map(|(key, _)| key.clone()).collect()),
            other => return Err(not_iterable(other)),
        };
        Ok(Self { written, items })
    }

    /// Returns whether the parameter may be missing: `""` is an alternative. Every text contains `""`.
    pub(super) fn allow_omission(&self) -> bool {
        self.written.as_str().is_some() || self.items.iter().any(PyValue::is_omitted_marker)
    }

    /// Returns whether the value is an alternative; for a text, whether it contains the value.
    fn contain(&self, value: &PyValue) -> Result<bool, EvaluatorException> {
        match (self.written, value) {
            (PyValue::Str(text), PyValue::Str(value)) => Ok(text.contains(value.as_str())),
            (PyValue::Str(_), other) => Err(EvaluatorException::new(
                "TypeError",
                format!("the ground truth is a text, the value {}", other.repr()),
            )),
            (PyValue::Dict(_), value) if !value.is_hashable() => Err(EvaluatorException::new(
                "TypeError",
                format!("the ground truth is an object, and the value {} cannot be a key", value.repr()),
            )),
            _ => Ok(self.items.iter().any(|one| one.equals(value))),
        }
    }

    /// Returns the alternatives by index, which a dict does not have.
    fn by_index(&self) -> Result<&[PyValue], EvaluatorException> {
        match self.written {
            PyValue::Dict(members) if !members.is_empty() => {
                Err(EvaluatorException::new("KeyError", "the alternatives of the ground truth are an object"))
            }
            _ => Ok(&self.items),
        }
    }
}

fn not_iterable(value: &PyValue) -> EvaluatorException {
    EvaluatorException::new(
        "TypeError",
        format!("the ground truth has {} instead of a list of alternatives", value.repr()),
    )
}

/// The result of a comparison.
type Compared = Result<Result<(), Box<Failure>>, EvaluatorException>;

/// Compares a value of a type that fits.
pub(super) fn check(
    name: &str,
    value: &PyValue,
    alternatives: &Alternatives<'_>,
    expected: Expected<'_>,
    is_variable: bool,
) -> Compared {
    if !is_variable {
        match (expected.of_value, value) {
            (PyType::Dict, PyValue::Dict(members)) => return dict(members, alternatives.by_index()?),
            (PyType::List, PyValue::List(elements)) => {
                return match expected.of_elements {
                    Some(PyType::Dict) => list_of_dicts(elements, alternatives.by_index()?),
                    _ => list(name, value, elements, alternatives),
                };
            }
            (PyType::Str, PyValue::Str(text)) => return string(name, text, alternatives),
            _ => {}
        }
    }
    if alternatives.contain(value)? {
        return Ok(Ok(()));
    }
    Ok(fail(
        ErrorType::ValueOthers,
        format!(
            "Invalid value for parameter {}: {}. Expected one of {}.",
            PyValue::text(name).repr(),
            value.repr(),
            str_of(alternatives.written)
        ),
    ))
}

/// Returns the text that Python's `str` gives.
fn str_of(value: &PyValue) -> String {
    value.as_str().map_or_else(|| value.repr(), str::to_owned)
}

fn fail(error_type: ErrorType, message: String) -> Result<(), Box<Failure>> {
    Err(Box::new(Failure { error_type, errors: vec![message.into()] }))
}

fn string(name: &str, text: &str, alternatives: &Alternatives<'_>) -> Compared {
    let is_same = |one: &PyValue| one.as_str().is_some_and(|one| are_same_text(one, text));
    if alternatives.by_index()?.iter().any(is_same) {
        return Ok(Ok(()));
    }
    Ok(fail(
        ErrorType::ValueString,
        format!(
            "Invalid value for parameter {}: {}. Expected one of {}. Case insensitive.",
            PyValue::text(name).repr(),
            PyValue::text(text).repr(),
            str_of(alternatives.written)
        ),
    ))
}

/// Returns a value with its text standardized; other values, nested texts too, stay as they are.
fn standardized_value(value: &PyValue) -> Cow<'_, PyValue> {
    match value {
        PyValue::Str(text) => Cow::Owned(PyValue::Str(standardized(text))),
        other => Cow::Borrowed(other),
    }
}

/// Returns the elements of an alternative, each standardized. A text has its characters as elements.
fn standardized_elements(alternative: &PyValue) -> Result<Vec<Cow<'_, PyValue>>, EvaluatorException> {
    match alternative {
        PyValue::List(elements) => Ok(elements.iter().map(standardized_value).collect()),
        PyValue::Str(text) => {
            Ok(text.chars().map(|char| Cow::Owned(PyValue::Str(standardized(&char.to_string())))).collect())
        }
        PyValue::Dict(members) if members.is_empty() => Ok(Vec::new()),
        PyValue::Dict(_) => Err(EvaluatorException::new(
            "KeyError",
            "an alternative of the ground truth is an object, not a list",
        )),
        other => Err(not_iterable(other)),
    }
}

fn list(name: &str, value: &PyValue, elements: &[PyValue], alternatives: &Alternatives<'_>) -> Compared {
    let elements: Vec<_> = elements.iter().map(standardized_value).collect();
    let mut is_found = false;
    // All alternatives are read before any is compared.
    for alternative in alternatives.by_index()? {
        let alternative = standardized_elements(alternative)?;
        let is_same = || alternative.iter().zip(&elements).all(|(a, b)| a.equals(b));
        is_found |= alternative.len() == elements.len() && is_same();
    }
    if is_found {
        return Ok(Ok(()));
    }
    Ok(fail(
        ErrorType::ValueList,
        format!(
            "Invalid value for parameter {}: {}. Expected one of {}.",
            PyValue::text(name).repr(),
            value.repr(),
            str_of(alternatives.written)
        ),
    ))
}

/// Compares a dict with each alternative; the failure is that of the last one.
fn dict(members: &PyDict, alternatives: &[PyValue]) -> Compared {
    let mut last = Failure { error_type: ErrorType::DictUnclear, errors: Vec::new() };
    for alternative in alternatives.iter().filter(|one| !one.is_omitted_marker()) {
        let Some(alternative) = alternative.as_dict() else {
            let exception = exception_of_no_dict(members, alternative);
            return Err(EvaluatorException::new(
                exception,
                format!("an alternative of the ground truth is {} instead of an object", alternative.repr()),
            ));
        };
        match one_dict(members, alternative)? {
            Ok(()) => return Ok(Ok(())),
            Err(failure) => last = *failure,
        }
    }
    Ok(Err(Box::new(last)))
}

/// Returns the exception for an alternative that is no dict. The first key is searched in it and used as an index, before
/// its members are read.
fn exception_of_no_dict(members: &PyDict, alternative: &PyValue) -> &'static str {
    let first = members.iter().next().map(|(key, _)| key);
    let is_index = match (alternative, first) {
        (_, None) => false,
        (PyValue::List(items), Some(key)) => items.iter().any(|item| item.equals(key)),
        (PyValue::Str(text), Some(PyValue::Str(key))) => text.contains(key.as_str()),
        _ => true,
    };
    if is_index { "TypeError" } else { "AttributeError" }
}

/// Compares a dict with one alternative: first its members, then the members that it does not have. Both are always
/// reported.
fn one_dict(members: &PyDict, alternative: &PyDict) -> Compared {
    let mut failure = Failure { error_type: ErrorType::DictUnclear, errors: Vec::new() };
    let mut add = |error_type, message: String| {
        failure.error_type = error_type;
        failure.errors.push(message.into());
    };
    for (key, value) in members.iter() {
        let Some(accepted) = alternative.get(key) else {
            add(ErrorType::ValueDictKey, format!("Unexpected dict key parameter: '{}'.", str_of(key)));
            break;
        };
        let value_as_compared = standardized_value(value);
        let accepted = standardized_elements(accepted)?;
        if !accepted.iter().any(|one| one.equals(&value_as_compared)) {
            let accepted = PyValue::List(accepted.into_iter().map(Cow::into_owned).collect());
            let message = format!(
                "Invalid value for parameter {}: {}. Expected one of {}.",
                key.repr(),
                value.repr(),
                accepted.repr()
            );
            add(ErrorType::ValueDictValue, message);
            break;
        }
    }
    for (key, accepted) in alternative.iter() {
        if members.get(key).is_none() && !Alternatives::of(accepted)?.allow_omission() {
            add(ErrorType::ValueDictKey, format!("Missing dict key parameter: '{}'.", str_of(key)));
            break;
        }
    }
    Ok(if failure.errors.is_empty() { Ok(()) } else { Err(Box::new(failure)) })
}

/// Compares a list of dicts with each alternative, dict by dict in order.
fn list_of_dicts(elements: &[PyValue], alternatives: &[PyValue]) -> Compared {
    let mut last = Failure { error_type: ErrorType::ListDictUnclear, errors: Vec::new() };
    for alternative in alternatives {
        let wanted = match alternative {
            PyValue::Dict(members) if !members.is_empty() && members.len() == elements.len() => {
                return Err(EvaluatorException::new(
                    "KeyError",
                    "an alternative of the ground truth is an object, not a list",
                ));
            }
            PyValue::Dict(members) if members.len() != elements.len() => None,
            written => {
                let items = Alternatives::of(written)?.items;
                (items.len() == elements.len()).then_some(items)
            }
        };
        let Some(wanted) = wanted else {
            last = Failure {
                error_type: ErrorType::ValueListDictCount,
                errors: vec!["Wrong number of dictionaries in the list.".into()],
            };
            continue;
        };
        match dicts_in_order(elements, &wanted)? {
            Ok(()) => return Ok(Ok(())),
            Err(failure) => last = *failure,
        }
    }
    Ok(Err(Box::new(last)))
}

fn dicts_in_order(elements: &[PyValue], wanted: &[PyValue]) -> Compared {
    for (element, wanted) in elements.iter().zip(wanted) {
        let compared = match element.as_dict() {
            Some(members) => dict(members, std::slice::from_ref(wanted))?,
            None if wanted.is_omitted_marker() => dict(&PyDict::default(), std::slice::from_ref(wanted))?,
            None => {
                return Err(EvaluatorException::new(
                    "AttributeError",
                    format!("an element of the list is {} instead of a dict", element.repr()),
                ));
            }
        };
        if compared.is_err() {
            return Ok(compared);
        }
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{IGNORED, are_same_text, standardized};

    proptest! {
        /// The short way for texts of ASCII gives what the rule says.
        #[test]
        fn texts_are_standardized_as_the_rule_says(a in "[a-cA-C ,./*^_'\"éßİK-]{0,12}", b in "[aA '\"-]{0,3}") {
            let by_rule = |text: &str| text.replace(IGNORED, "").to_lowercase().replace('\'', "\"");
            prop_assert_eq!(standardized(&a), by_rule(&a));
            prop_assert_eq!(are_same_text(&a, &b), by_rule(&a) == by_rule(&b));
            prop_assert!(are_same_text(&a, &a.to_uppercase()) == (by_rule(&a) == by_rule(&a.to_uppercase())));
        }
    }
}
