//! The note of a personal value in a doc list, as a cell keeps it.

use serde::{Deserialize, Serialize};

use super::Kind;

/// A value in the text of a doc list, and what replaces it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NotedSpan {
    /// What kind of value it is.
    #[serde(with = "kind_by_name")]
    pub kind: Kind,
    /// Its first byte in the text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The number of the value among those of its kind.
    pub number: u64,
    /// What replaces it.
    pub placeholder: String,
}

/// A kind by its name, also that of names, which no setting may ask for by a word.
mod kind_by_name {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::privacy::Kind;

    #[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
    pub(super) fn serialize<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        let name = String::deserialize(deserializer)?;
        Kind::from_name(&name).ok_or_else(|| D::Error::custom(format!("no kind is called {name}")))
    }
}
