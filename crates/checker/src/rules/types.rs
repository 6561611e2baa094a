//! The type of a value, against the declared type and the alternatives (`type_checker`).

use crate::value::{PyType, PyValue};
use crate::verdict::{ErrorType, Failure};

/// A declared type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'v> {
    /// The type in the doc.
    pub(super) declared: &'v str,
    /// The type in Python.
    pub(super) of_value: PyType,
    /// The type of the elements in Python, where they are checked.
    pub(super) of_elements: Option<PyType>,
}

/// Returns the type of the first alternative that is not `""`.
fn first_type(alternatives: &[PyValue]) -> Option<PyType> {
    alternatives.iter().find(|one| !one.is_omitted_marker()).map(PyValue::type_of)
}

/// Checks the type of a value. `Ok(true)`: the value has the type of an alternative instead of the declared one, and is
/// compared exactly ("variable" in the official code).
pub(super) fn check(
    name: &str,
    value: &PyValue,
    alternatives: &[PyValue],
    expected: Expected<'_>,
) -> Result<bool, Box<Failure>> {
    let first = first_type(alternatives);
    let is_variable = first.is_some_and(|first| first != expected.of_value);
    let mut errors = Vec::new();
    if value.type_of() == expected.of_value {
        let Some(of_elements) = expected.of_elements else { return Ok(is_variable) };
        if alternatives.iter().any(|alternative| elements_fit(value, alternative, of_elements)) {
            return Ok(is_variable);
        }
        errors.push(
            format!(
                "Nested type checking failed for parameter {}. Expected outer type {} with inner type <class '{}'>. \
                 Parameter value: {}.",
                PyValue::text(name).repr(),
                expected.declared,
                of_elements.name(),
                value.repr()
            )
            .into(),
        );
        if first == Some(value.type_of()) {
            return Err(Box::new(Failure { error_type: ErrorType::TypeNested, errors }));
        }
    } else if first == Some(value.type_of()) {
        return Ok(true);
    }
    errors.push(
        format!(
            "Incorrect type for parameter {}. Expected type {}, got {}. Parameter value: {}.",
            PyValue::text(name).repr(),
            expected.declared,
            value.type_of().name(),
            value.repr()
        )
        .into(),
    );
    Err(Box::new(Failure { error_type: ErrorType::TypeSimple, errors }))
}

/// Returns whether all elements of a value have the declared type, or the type of the alternative's first element.
/// Without an alternative that is a list there is nothing to compare with: the elements fit.
fn elements_fit(value: &PyValue, alternative: &PyValue, of_elements: PyType) -> bool {
    let (Some(elements), Some(alternatives)) = (value.as_list(), alternative.as_list()) else { return true };
    let first = first_type(alternatives);
    elements.iter().all(|element| {
        let found = element.type_of();
        found == of_elements || first == Some(found)
    })
}
