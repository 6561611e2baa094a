//! JSON as text: exactly as a table has it for people, and a value for programs.

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A JSON text as the run has it. It is serialised as the value that it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<Value>(&self.0) {
            Ok(value) => value.serialize(serializer),
            Err(_) => self.0.serialize(serializer),
        }
    }
}
