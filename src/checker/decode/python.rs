//! Calls in the syntax of Python.

use super::DecodeError;
use crate::checker::value::PyValue;

pub(super) fn decode(_text: &str) -> Result<PyValue, DecodeError> {
    Err(DecodeError::new("NotImplementedError", "Python"))
}
