//! Strings that contain an object or a list.

use serde_json::Value;

use callsieve_notation::allowance::Allowance;
use callsieve_notation::json::strict;
use callsieve_notation::python;
use callsieve_notation::repeated::Repeated;

/// The object or list in a string.
pub(super) struct Inner {
    pub(super) value: Value,
    /// Keys that occur twice in one object with different values.
    pub(super) repeated: Vec<Repeated>,
}

impl Inner {
    /// Reads JSON or a printed Python value.
    pub(super) fn read(text: &str, allowance: &Allowance) -> Option<Self> {
        if !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        if let Ok(strict) = strict::read_within(text, allowance) {
            return Some(Self { value: strict.value, repeated: strict.repeated });
        }
        let literal =
            python::read_within(text, allowance).ok().filter(|literal| literal.doubtful_joint.is_none())?;
        let is_built = literal.value.is_object() || literal.value.is_array();
        is_built.then_some(Self { value: literal.value, repeated: literal.repeated })
    }
}
