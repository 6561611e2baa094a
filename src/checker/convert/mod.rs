//! Converts the text of a Java or JavaScript argument to a value (`java_type_converter`, `js_type_converter`).

use super::value::PyValue;
use super::verdict::Fault;

/// Converts the text of a Java argument to the declared type; the text itself if it has another form.
pub(super) fn java(_text: &str, declared: &str, _of_elements: Option<&str>) -> Result<PyValue, Fault> {
    Err(Fault::new("NotImplementedError", format!("Java type {declared}")))
}

/// Converts the text of a JavaScript argument to the declared type; the text itself if it has another form.
pub(super) fn javascript(_text: &str, declared: &str, _of_elements: Option<&str>) -> Result<PyValue, Fault> {
    Err(Fault::new("NotImplementedError", format!("JavaScript type {declared}")))
}
