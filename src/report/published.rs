//! The figures that BFCL published.

use serde::{Deserialize, Serialize};

/// What a published figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Doc–query pairs: requests here.
    Requests,
    /// Distinct docs: doc lists here.
    DocLists,
    /// Entries of the dataset.
    Entries,
}

/// A figure that BFCL published for its own log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// How many.
    pub count: u64,
    /// Of what.
    pub unit: Unit,
}
