//! The record of a personal value in a doc list, as stored in a cell.

use serde::{Deserialize, Serialize};

use super::PrivacyKind;
use super::apply::Replaced;

/// A value in the text of a doc list, and its replacement.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NotedSpan {
    /// The kind of value.
    #[serde(with = "kind_by_name")]
    pub kind: PrivacyKind,
    /// Its first byte in the text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The number of the value among those of its kind.
    pub number: u64,
    /// The replacement.
    pub placeholder: String,
}

/// Serialises a kind by its name, including `name`, which is not a value of the setting.
mod kind_by_name {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::PrivacyKind;

    #[allow(clippy::trivially_copy_pass_by_ref)] // Required by serde.
    pub(super) fn serialize<S: Serializer>(kind: &PrivacyKind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PrivacyKind, D::Error> {
        let name = String::deserialize(deserializer)?;
        PrivacyKind::from_name(&name).ok_or_else(|| D::Error::custom(format!("unknown kind {name:?}")))
    }
}

impl From<NotedSpan> for Replaced {
    fn from(noted: NotedSpan) -> Self {
        let NotedSpan { kind, start, end, number, placeholder } = noted;
        Self { kind, path: String::new(), start, end, placeholder, number, is_lost: false }
    }
}
